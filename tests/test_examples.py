"""What ``make run`` does: a study that needs Python and nothing else, and a report of it."""

import bz2
import lzma
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import paretopick as pp
from paretopick.studies.files import read_study_file
from support.terminals import call, stdout_of

ROOT = Path(__file__).parents[1]
DECOMPRESS = {"zlib": zlib.decompress, "bz2": bz2.decompress, "lzma": lzma.decompress}


@pytest.fixture
def example(tmp_path):
    """The folder of the example, with a text that is short."""
    folder = shutil.copytree(ROOT / "examples" / "compressors", tmp_path / "compressors", ignore=shutil.ignore_patterns("*.txt"))
    script = (folder / "compress.py").read_text()
    assert "\nSIZE = 2_000_000\n" in script
    (folder / "compress.py").write_text(script.replace("\nSIZE = 2_000_000\n", "\nSIZE = 50_000\n"))
    return folder


def test_every_option_compresses_the_same_text_which_is_real(example):
    study = read_study_file(example / "study.toml").definition
    assert [metric.text for metric in study.metrics] == ["wall_seconds:min~10%", "output_bytes:min~2%"]
    assert all(metric.log for metric in study.metrics)
    for settings in study.settings[::4]:
        words = [word.format(**settings) for word in study.command]
        compressed = subprocess.run([sys.executable, *words[1:]], cwd=example, stdout=subprocess.PIPE, check=True).stdout
        assert DECOMPRESS[settings["codec"]](compressed) == (example / "corpus.txt").read_bytes()
    assert (example / "corpus.txt").stat().st_size == 50_000
    assert b"import " in (example / "corpus.txt").read_bytes()


@pytest.mark.slow
def test_the_study_ends_in_a_report_and_a_second_run_says_that_it_shows_the_first(example, tmp_path):
    file = example / "study.toml"
    file.write_text(
        re.sub(r"^(\"\w+ [23578]\" = .*\n|budget = .*)", "", file.read_text(), flags=re.MULTILINE).replace(
            "name =", "budget = 60\nname ="
        )
    )
    shown = stdout_of("run", str(file), cwd=tmp_path, PATH=f"{Path(sys.executable).parent}:/usr/bin:/bin")
    assert re.search(r"^Worth keeping: .* The set is right within the margins with probability", shown, re.MULTILINE)
    assert "Wrote the report to r.html" in stdout_of("report", "compressors", "--out", "r.html", cwd=tmp_path)
    used = pp.Study.open("compressors", storage=tmp_path / "paretopick.db").used
    again = call("run", str(file), cwd=tmp_path)
    assert "Nothing was measured now: this is the study 'compressors' as it was finished before." in again.stdout
    assert f"To measure anew: another name in {file}, or paretopick delete compressors --yes." in again.stderr
    assert pp.Study.open("compressors", storage=tmp_path / "paretopick.db").used == used


def test_make_run_runs_the_example_and_writes_the_report():
    made = re.search(r"^run: .*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    assert "paretopick run examples/compressors/study.toml" in made
    assert "paretopick report compressors" in made
