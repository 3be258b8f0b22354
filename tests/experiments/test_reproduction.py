"""The paper as a user reproduces it: whole, in parts, killed, continued, with more runs."""

import csv
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from inputs import heed_interrupts
from paretopick.experiments import CATALOGUE, reproduce
from paretopick.experiments.catalogue import MAIN, MORE
from paretopick.experiments.contestants import CONTESTANTS

TIMES = ("runtime-2d", "runtime-20d")
"""Entries about how long things take, which no two runs agree on."""


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def data(folder: Path) -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in sorted((folder / "figures").glob("*.csv")) if path.stem not in TIMES}


def test_the_whole_catalogue_writes_every_file_and_a_page_about_all_of_it(tmp_path, snw_path):
    result = reproduce(out=tmp_path, runs=1, data=snw_path)
    assert result.skipped == ()
    expected = {tmp_path / "reproduction.md"}
    for name, entry in CATALOGUE.items():
        expected |= {tmp_path / "figures" / f"{name}.{kind}" for kind in (["csv", "png", "pdf"] if entry.draws else ["csv"])}
    assert set(result.files) == expected
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == expected | {tmp_path / "results.db"}
    _check_pictures(tmp_path / "figures")
    _check_curves(tmp_path / "figures")
    _check_page(tmp_path, result)
    _check_times(result)


def _check_pictures(folder):
    pictures = sorted(folder.glob("*.png"))
    assert len(pictures) == 23
    for path in pictures:
        with Image.open(path) as picture:
            assert picture.width > 400, path
            assert len(picture.convert("RGB").getcolors(1 << 20)) > 10, path
        assert path.with_suffix(".pdf").read_bytes().startswith(b"%PDF-"), path
        assert path.stat().st_size < 100_000, path


def _check_curves(folder):
    """Every contestant is in every error curve, up to the last budget."""
    for name in (*MAIN, *MORE):
        table = rows(folder / f"{name}.csv")
        assert {row["contestant"] for row in table} == set(CONTESTANTS)
        last = max(int(row["budget"]) for row in table)
        assert {row["contestant"] for row in table if int(row["budget"]) == last} == set(CONTESTANTS)
        assert {row["runs"] for row in table} == {"1"}
        for row in table:
            assert float(row["low"]) <= float(row["rate"]) <= float(row["high"])
            assert (row["upper_limit"] == "") == (row["errors"] != "0") == (row["log10_rate"] != "")


def _check_page(folder, result):
    page = (folder / "reproduction.md").read_text()
    assert [claim.number for claim in result.claims] == list(range(1, 10))
    for claim in result.claims:
        statement = claim.statement.replace("|", "\\|")
        assert f"| {claim.number} | {statement} | **{claim.verdict}** |" in page
        assert all(finding.text in page for part in claim.parts for finding in part.findings)
    for entry in CATALOGUE.values():
        assert entry.title in page
        assert all(guess in page for guess in entry.guesses)
    links = set(re.findall(r"\((figures/[^)]*)\)", page))
    assert all((folder / link).is_file() for link in links)
    assert len([link for link in links if link.endswith(".png")]) == 23
    assert str(folder) not in page
    assert "figures/arms-snw-paper.csv" not in page, "the sorting networks may not be passed on"


def _check_times(result):
    """Every entry that runs anything is in the table of where the time went."""
    assert {row["entry"] for row in result.spent} > {"cov-boost", "geometric", "bounds", *TIMES}
    for row in result.spent:
        assert row["total"] == pytest.approx(sum(seconds for name, seconds in row.items() if name not in ("entry", "total")))


PART = ["unique-dominator", "lower-bound", "hypervolume-convex-front", "best-arm", "gaps"]


def test_the_same_seed_gives_the_same_bytes_and_more_runs_add_up(tmp_path):
    reproduce(PART, out=tmp_path / "a", runs=12)
    reproduce(PART, out=tmp_path / "b", runs=5, workers=1)
    assert data(tmp_path / "a") != data(tmp_path / "b")
    reproduce(PART, out=tmp_path / "b", runs=12, workers=2)
    assert sorted(data(tmp_path / "a")) == sorted(PART)
    assert data(tmp_path / "a") == data(tmp_path / "b")
    reproduce(PART[:1], out=tmp_path / "c", runs=12, seed=1)
    assert data(tmp_path / "a")[PART[0]] != data(tmp_path / "c")[PART[0]]


def test_killed_again_and_again_it_ends_with_the_same_results(tmp_path):
    names, options = ["unique-dominator", "equal-gaps", "two-clusters"], ["--runs", "60"]
    command = [sys.executable, "-m", "paretopick", "paper", *names, *options, "--out", str(tmp_path / "killed")]
    kills, patience = 0, 1.5
    while True:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            process.wait(patience)
            break
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            kills, patience = kills + 1, patience + 1.0
    assert process.returncode == 0, process.stderr.read()
    process.stderr.close()
    assert kills >= 2
    reproduce(names, out=tmp_path / "whole", runs=60)
    assert data(tmp_path / "killed") == data(tmp_path / "whole")
    assert not [path for path in (tmp_path / "killed" / "figures").iterdir() if path.name.startswith(".")]


def test_ctrl_c_says_how_to_go_on_and_loses_nothing(tmp_path):
    command = [sys.executable, "-m", "paretopick", "paper", "unit-circle", "--runs", "4000", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts)
    database = tmp_path / "results.db"
    for line in process.stderr:  # the round-based policies are done when this one starts
        if "ape-fb" in line:
            break
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err.endswith(f"interrupted; what is finished is kept in {database}: the same command goes on from there.\n")
    with sqlite3.connect(database) as counts:
        kept = dict(counts.execute("SELECT policy, min(last_run) FROM pieces GROUP BY policy"))
    assert kept["ege-sr"] == kept["uniform"] == 4000
    assert 0 < kept["ape-fb"] < 4000


def test_without_the_sorting_networks_the_rest_is_there_and_it_says_so(tmp_path, monkeypatch):
    monkeypatch.delenv("PARETOPICK_SNW", raising=False)
    command = [sys.executable, "-m", "paretopick", "paper", "snw-paper", "--out", str(tmp_path)]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "the sorting networks are not shipped with the package" in refused.stderr
    assert not (tmp_path / "reproduction.md").exists()
    reproduce(["instances", "bounds"], out=tmp_path, runs=1)
    assert "snw-paper" not in (tmp_path / "figures" / "bounds.csv").read_text()
    assert len(rows(tmp_path / "figures" / "instances.csv")) == 10


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"names": ["covboost"]}, "no figure or table named 'covboost'; did you mean 'cov-boost'?"),
        ({"runs": 0}, "runs=0"),
        ({"seed": -1}, "seed=-1"),
        ({"workers": 0}, "workers=0"),
        ({"out": "/proc/nothing"}, "is no folder that can be written to"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        reproduce(**{"out": tmp_path, **arguments})
    assert list(tmp_path.rglob("*.csv")) == []
