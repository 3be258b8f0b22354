"""Kernels on disk: compiled once, said so, and compiled anew when any of their sources changes."""

import importlib
import inspect
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core.dispatcher import Dispatcher

import paretopick as pp
from paretopick.simulation import kernels
from paretopick.simulation.compiled import say_if_compiling
from support.kernels import RUNS, compile_for

PROBE = """
from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.draws.counters import run_key
from paretopick.simulation.kernels.compiling import kernel

@kernel
def first_key(seed, run, sources=SOURCES):
    return run_key(seed, run).start
"""
"""A kernel that is compiled in no time, and whose result depends on a file it imports."""

USE_PROBE = """
import numpy as np
from paretopick.simulation.kernels.draws.counters import Key
from paretopick.simulation.kernels.probe import first_key
print(first_key(Key(np.uint64(1), np.uint64(2)), 3))
print(sum(first_key.stats.cache_hits.values()), sum(first_key.stats.cache_misses.values()))
"""


@pytest.fixture
def package(tmp_path) -> Path:
    """A copy of the package with the probe in it, as the folder to import it from."""
    copy = tmp_path / "src" / "paretopick"
    shutil.copytree(Path(pp.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "simulation" / "kernels" / "probe.py").write_text(PROBE)
    return copy.parent


def run(script: str, **environment: str) -> tuple[list[str], str]:
    """The lines that a script prints in a process of its own, and what was said."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.splitlines(), done.stderr


@pytest.mark.slow
def test_kernels_are_compiled_once_and_anew_when_a_file_they_import_changes(package, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    (first, cached), _ = run(USE_PROBE, **environment)
    assert cached == "0 1"
    assert run(USE_PROBE, **environment) == ([first, "1 0"], "")

    # Another constant in a file that the kernel imports: other random numbers, so the old kernel would be found out. And another
    # name for a record that it takes, as a newer version may have: what is on disk can then not even be read.
    counters = package / "paretopick" / "simulation" / "kernels" / "draws" / "counters.py"
    text = counters.read_text()
    assert "0x9E3779B97F4A7C15" in text
    counters.write_text(re.sub(r"\bKey\b", "OtherKey", text.replace("0x9E3779B97F4A7C15", "0xD1B54A32D192ED03")))
    (changed, cached), _ = run(re.sub(r"\bKey\b", "OtherKey", USE_PROBE), **environment)
    assert cached == "0 1"
    assert changed != first


@pytest.mark.slow
def test_without_a_folder_for_kernels_they_are_compiled_and_not_kept(package):
    """The sources may not be written to, and there is no home: said once, and everything works."""
    (package / "paretopick" / "simulation" / "kernels" / "__pycache__").write_text("a file where the folder should be")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("NUMBA", "XDG"))}
    environment |= {"PYTHONPATH": str(package), "HOME": "/dev/null", "PYTHONDONTWRITEBYTECODE": "1"}
    (number, _), said = run(USE_PROBE, **environment)
    assert said.count("compiled kernels cannot be kept") == 1
    assert number.isdigit()


SIMULATE = """
import sys
import paretopick as pp
assert "numba" not in sys.modules
bandit = pp.Bandit([[0.9, 0.1], [0.1, 0.9], [0.2, 0.2]], pp.Bernoulli())
print(pp.simulate(bandit, "apt", budgets=[9, 30], runs=500, rng=1).tallies.tolist())
"""


@pytest.mark.slow
def test_a_kernel_that_was_kept_is_read_by_another_process_which_says_nothing():
    bandit = pp.Bandit([[0.9, 0.1], [0.1, 0.9], [0.2, 0.2]], pp.Bernoulli())
    curve = pp.simulate(bandit, "apt", budgets=[9, 30], runs=500, rng=1)
    assert run(SIMULATE, **os.environ) == ([str(curve.tallies.tolist())], "")


def every_kernel() -> set[Dispatcher]:
    modules = [importlib.import_module(found.name) for found in pkgutil.walk_packages(kernels.__path__, kernels.__name__ + ".")]
    everything = (each for module in modules for each in vars(module).values())
    return {each for each in everything if isinstance(each, Dispatcher) and each.targetoptions.get("nogil")}


@pytest.mark.slow
def test_all_kernels_are_compiled_before_the_tests_start():
    for policy, n_arms in RUNS:
        compile_for(policy, n_arms)
    assert {each.__name__ for each in every_kernel() if not each.signatures} == set()


def test_every_kernel_notices_when_a_source_changes():
    assert len(every_kernel()) >= 7
    for each in every_kernel():
        assert inspect.signature(each.py_func).parameters["sources"].default == kernels.SOURCES, each


def test_compiling_is_said_once(caplog):
    with say_if_compiling():
        pass
    assert caplog.messages == []
    with say_if_compiling():
        numba.njit(lambda x: x + 1)(1)
        numba.njit(lambda x: x + 2)(1)
    assert caplog.messages == ["compiling a simulation kernel, which takes up to half a minute; it is then kept on disk"]
