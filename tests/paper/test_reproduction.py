"""The paper as a user reproduces it: whole, in parts, killed, continued, with more runs."""

import contextlib
import csv
import itertools
import os
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from paretopick import plots
from paretopick.paper import CATALOGUE, reproduce
from paretopick.paper.catalogue import MAIN, MORE
from paretopick.paper.contestants import CONTESTANTS
from paretopick.paper.evidence import Evidence
from paretopick.paper.ledger import Ledger
from support.inputs import heed_interrupts

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
    _check_titles(tmp_path, snw_path)


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
        verdict = f"**{claim.verdict}**" if claim.run else "not run"
        assert f"| {claim.number} | {statement} | {verdict} |" in page
        assert all(finding.text in page for part in claim.parts for finding in part.findings)
    for entry in CATALOGUE.values():
        assert entry.title in page
        assert all(guess in page for guess in entry.guesses)
    links = set(re.findall(r"\((figures/[^)]*)\)", page))
    assert all((folder / link).is_file() for link in links)
    assert len([link for link in links if link.endswith(".png")]) == 23
    assert str(folder) not in page
    assert "figures/arms-snw-paper.csv" not in page, "the sorting networks may not be passed on"


def _check_titles(folder, snw_path):
    """No title is cut off at the edge of its figure."""
    evidence = Evidence(Ledger(folder / "results.db", 0), snw_path)
    for entry in CATALOGUE.values():
        with plots.look():
            figure = entry.draw(evidence)
            if figure is None:
                continue
            figure.draw_without_rendering()
            titles = [text for text in (figure._suptitle, *(axes.title for axes in figure.axes)) if text and text.get_text()]
            for title in titles:
                extent = title.get_window_extent()
                assert extent.x0 >= 0, entry.name
                assert extent.x1 <= figure.bbox.width, entry.name


def _check_times(result):
    """Every entry that runs anything is in the table of where the time went."""
    assert {row["entry"] for row in result.spent} > {"cov-boost", "geometric", "bounds", *TIMES}
    for row in result.spent:
        assert row["total"] == pytest.approx(sum(seconds for name, seconds in row.items() if name not in ("entry", "total")))


PART = ["unique-dominator", "lower-bound", "hypervolume-convex-front", "best-arm", "gaps"]


def pieces(folder: Path) -> set[tuple[str | int, ...]]:
    """What the results database holds, with the time each piece took: nobody takes the same nanoseconds twice."""
    with contextlib.closing(sqlite3.connect(folder / "results.db")) as database:
        return set(database.execute("SELECT key, budget, first_run, last_run, errors, nanoseconds FROM pieces"))


def test_the_same_seed_gives_the_same_bytes_and_more_runs_add_up(tmp_path):
    reproduce(PART, out=tmp_path / "a", runs=12)
    reproduce(PART, out=tmp_path / "b", runs=5, workers=1)
    assert data(tmp_path / "a") != data(tmp_path / "b")
    before = pieces(tmp_path / "b")
    reproduce(PART, out=tmp_path / "b", runs=12, workers=2)
    assert sorted(data(tmp_path / "a")) == sorted(PART)
    assert data(tmp_path / "a") == data(tmp_path / "b")
    added = pieces(tmp_path / "b") - before
    assert before < pieces(tmp_path / "b")
    assert min(first for _, _, first, *_ in added) == 5  # best-arm takes 25 times the runs and starts at 125
    reproduce(PART[:1], out=tmp_path / "c", runs=12, seed=1)
    assert data(tmp_path / "a")[PART[0]] != data(tmp_path / "c")[PART[0]]


def test_killed_again_and_again_it_goes_on_and_ends_with_the_same_results(tmp_path):
    names, runs = ["unique-dominator", "equal-gaps"], 300
    command = [sys.executable, "-m", "paretopick", "paper", *names, "--runs", str(runs), "--out", str(tmp_path / "killed")]
    patience, kept = 3.0, []
    while True:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            _, err = process.communicate(timeout=patience)
            break
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            patience += 2.0
            if (tmp_path / "killed" / "results.db").exists():
                kept.append(pieces(tmp_path / "killed"))
    assert process.returncode == 0, err
    assert len(kept) >= 2
    assert kept[0]
    for earlier, later in itertools.pairwise([*kept, pieces(tmp_path / "killed")]):
        assert earlier <= later
    reproduce(names, out=tmp_path / "whole", runs=runs)
    assert data(tmp_path / "killed") == data(tmp_path / "whole")


def test_two_at_once_in_one_folder_count_every_run_once(tmp_path):
    command = [
        sys.executable,
        "-m",
        "paretopick",
        "paper",
        "unique-dominator",
        "--runs",
        "400",
        "--out",
        str(tmp_path / "shared"),
    ]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(timeout=100) for process in processes] == [0, 0]
    reproduce(["unique-dominator"], out=tmp_path / "alone", runs=400)
    assert data(tmp_path / "shared") == data(tmp_path / "alone")


def test_what_shares_runs_with_a_larger_entry_is_written_again(tmp_path):
    reproduce(["hypervolume-convex-front"], out=tmp_path, runs=3)
    few = data(tmp_path)["hypervolume-convex-front"]
    result = reproduce(["relaxed-convex-front"], out=tmp_path, runs=9)
    assert tmp_path / "figures" / "hypervolume-convex-front.png" in result.files
    table = rows(tmp_path / "figures" / "hypervolume-convex-front.csv")
    assert data(tmp_path)["hypervolume-convex-front"] != few
    assert {row["k"]: row["runs"] for row in table} == {
        str(k): "9" if k in CATALOGUE["relaxed-convex-front"].sizes else "3" for k in range(1, 14)
    }


def test_the_page_shows_what_was_written_and_nothing_else(tmp_path):
    reproduce(["gaps"], out=tmp_path, runs=3, seed=7)
    reproduce(["best-arm"], out=tmp_path, runs=3, seed=7)
    page = (tmp_path / "reproduction.md").read_text()
    links = set(re.findall(r"\((figures/[^)]*)\)", page))
    assert links == {f"figures/{name}.{kind}" for name in ("gaps", "best-arm") for kind in ("png", "csv")}
    assert all((tmp_path / link).is_file() for link in links)
    assert "`paretopick paper best-arm --runs 3 --seed 7`" in page


def test_runs_of_another_seed_in_the_folder_are_mentioned(tmp_path, caplog):
    reproduce(["best-arm"], out=tmp_path, runs=1, seed=1)
    assert caplog.text == ""
    reproduce(["gaps"], out=tmp_path, runs=1, seed=2)
    assert "holds runs of seed 1 too, which are not on the page of seed 2" in caplog.text


def test_ctrl_c_says_how_to_go_on_and_loses_nothing(tmp_path):
    command = [sys.executable, "-m", "paretopick", "paper", "equal-gaps", "--runs", "2000", "--out", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts)
    database = tmp_path / "results.db"
    for line in process.stderr:
        if "c=1.0" in line:  # the second of the series of APE-FB starts
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert err.endswith(f"interrupted; what is finished is kept in {database}: the same command goes on from there.\n")
    with contextlib.closing(sqlite3.connect(database)) as counts:
        kept = dict(counts.execute("SELECT policy, max(last_run) FROM pieces GROUP BY policy"))
    assert kept == {"uniform": 2000, "ege-sr": 2000, "ege-sh": 2000, "ege-gg": 2000, "ape-fb": 2000}


def test_without_the_sorting_networks_the_rest_is_there_and_it_says_so(tmp_path, monkeypatch):
    monkeypatch.delenv("PARETOPICK_SNW", raising=False)
    command = [sys.executable, "-m", "paretopick", "paper", "snw-paper", "--out", str(tmp_path)]
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "the sorting networks are not shipped with the package" in refused.stderr
    assert not (tmp_path / "reproduction.md").exists()
    result = reproduce(["instances", "bounds"], out=tmp_path, runs=1)
    assert result.skipped == ()
    assert "snw-paper" not in (tmp_path / "figures" / "bounds.csv").read_text()
    assert len(rows(tmp_path / "figures" / "instances.csv")) == 10


def test_a_page_that_loses_the_sorting_networks_says_so(tmp_path, snw_path, monkeypatch):
    monkeypatch.delenv("PARETOPICK_SNW", raising=False)
    reproduce(["hypervolume-snw-paper"], out=tmp_path, runs=3, data=snw_path)
    result = reproduce(["gaps"], out=tmp_path, runs=3)
    assert "hypervolume-snw-paper" in result.skipped
    page = (tmp_path / "reproduction.md").read_text()
    assert "snw-paper, EGE-SR-k: its data file is not at hand" in page
    assert "figures/hypervolume-snw-paper.png" not in page


def test_a_data_file_that_is_not_there_or_is_something_else_is_known_at_once(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        reproduce(["gaps"], out=tmp_path, data=tmp_path / "typo.csv")
    (tmp_path / "letter.csv").write_text("dear sir,\nor madam,\n")
    with pytest.raises(ValueError, match=r"letter\.csv"):
        reproduce(out=tmp_path, data=tmp_path / "letter.csv")
    assert not (tmp_path / "results.db").exists()


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"names": ["covboost"]}, "no figure or table named 'covboost'; did you mean 'cov-boost'?"),
        ({"runs": 0}, "runs=0"),
        ({"seed": -1}, "seed=-1"),
        ({"workers": 0}, "workers=0"),
        ({"out": "/proc/nothing"}, "is no folder that can be written to"),
        ({"runs": 10**20}, "runs=100000000000000000000"),
    ],
)
def test_bad_input_is_refused_before_anything_runs(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        reproduce(**{"out": tmp_path, **arguments})
    assert list(tmp_path.rglob("*.csv")) == []
