"""Kernels on disk: compiled once, said so, and compiled anew when any of their sources changes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import paretopick

SCRIPT = """
import logging, sys
import paretopick as pp
assert "numba" not in sys.modules
bandit = pp.Bandit([[0.9, 0.1], [0.1, 0.9], [0.2, 0.2]], pp.Bernoulli())
print(pp.simulate(bandit, "apt", budgets=[9, 30], runs=500, rng=1).tallies.tolist())
from paretopick.simulation.kernels.stepwise.apt_eight_runs import run_apt_eight as kernel
print(sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values()))
"""


def run(package: Path, cache: Path) -> tuple[str, tuple[int, int], str]:
    """The result, the hits and misses of the cache, and what was said, in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=environment)
    result, cached = done.stdout.splitlines()
    hits, misses = map(int, cached.split())
    return result, (hits, misses), done.stderr


def test_kernels_are_compiled_once_and_anew_when_a_file_they_import_changes(tmp_path):
    package, cache = tmp_path / "src", tmp_path / "cache"
    shutil.copytree(Path(paretopick.__file__).parent, package / "paretopick", ignore=shutil.ignore_patterns("__pycache__"))

    first, cached, said = run(package, cache)
    assert cached == (0, 1)
    assert said.count("compiling a simulation kernel") == 1

    again, cached, said = run(package, cache)
    assert cached == (1, 0)
    assert again == first
    assert said == ""

    # Another constant in a file that the kernel imports: other random numbers, so the old kernel would be found out.
    counters = package / "paretopick" / "simulation" / "kernels" / "draws" / "counters.py"
    text = counters.read_text()
    assert "0x9E3779B97F4A7C15" in text
    counters.write_text(text.replace("0x9E3779B97F4A7C15", "0xD1B54A32D192ED03"))
    changed, cached, _ = run(package, cache)
    assert cached == (0, 1)
    assert changed != first


def test_without_a_folder_for_kernels_they_are_compiled_and_not_kept(tmp_path):
    """The sources may not be written to, and there is no home: said once, and everything works."""
    package = tmp_path / "src"
    shutil.copytree(Path(paretopick.__file__).parent, package / "paretopick", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "paretopick" / "simulation" / "kernels" / "stepwise" / "__pycache__").write_text(
        "a file where the folder should be"
    )
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA", "XDG"))}
    environment |= {"PYTHONPATH": str(package), "HOME": "/dev/null", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=environment)
    assert done.stderr.count("compiled kernels cannot be kept") == 1
    assert done.stdout.startswith("[[")
