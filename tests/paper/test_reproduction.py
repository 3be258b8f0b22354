"""The paper as a user reproduces it: whole, in parts, killed, continued, with more runs."""

import contextlib
import csv
import itertools
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PIL import Image

from paretopick import plots
from paretopick.errors import MissingFile
from paretopick.paper import CATALOGUE, entries, reproduce
from paretopick.paper.catalogue import MAIN, MORE
from paretopick.paper.entries import Results
from paretopick.paper.series import ALGORITHMS, Algorithm
from paretopick.policies import POLICIES
from paretopick.policies.ege import EGE, uniform
from support.inputs import heed_interrupts
from support.paper_results import a_database, counted

pytestmark = pytest.mark.slow

TIMES = ("runtime-2d", "runtime-20d")
"""Entries about how long things take, which no two runs agree on."""

ALL_BUDGETS = entries.GRID

PART = ["unique-dominator", "best-arm", "instances"]


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def data(folder: Path) -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in sorted((folder / "figures").glob("*.csv")) if path.stem not in TIMES}


def pieces(folder: Path) -> set[tuple[str | int, ...]]:
    """What the results database holds, with the time each piece took: nobody takes the same nanoseconds twice."""
    with contextlib.closing(sqlite3.connect(folder / "results.db")) as database:
        return set(database.execute("SELECT key, budget, first_run, last_run, errors, nanoseconds FROM pieces"))


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "paretopick", "paper", *map(str, arguments)]


@pytest.fixture(scope="module", autouse=True)
def two_budgets():
    """Fewer points, the paper's among them; other processes have all of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entries, "GRID", (0.3, 1.0))
        yield


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A folder in which some figures were made, and what was returned then."""
    folder = tmp_path_factory.mktemp("finished")
    return folder, reproduce(PART, out=folder, runs=6)


def test_the_whole_catalogue_writes_every_file_and_a_page_about_all_of_it(tmp_path, snw_path, monkeypatch):
    drawn, save = {}, plots.save
    monkeypatch.setattr(plots, "save", lambda figure, folder, name: save(drawn.setdefault(name, figure), folder, name))
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
    _check_titles(drawn)


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
    """Every algorithm is in every error curve, up to the last budget."""
    for name in (*MAIN, *MORE):
        table = rows(folder / f"{name}.csv")
        assert {row["algorithm"] for row in table} == set(ALGORITHMS)
        last = max(int(row["budget"]) for row in table)
        assert {row["algorithm"] for row in table if int(row["budget"]) == last} == set(ALGORITHMS)
        assert {row["runs"] for row in table} == {"1"}
        for row in table:
            assert float(row["low"]) <= float(row["rate"]) <= float(row["high"])
            assert (row["upper_limit"] == "") == (row["errors"] != "0") == (row["log10_rate"] != "")


def _check_page(folder, result):
    page = (folder / "reproduction.md").read_text()
    assert [claim.number for claim in result.claims] == list(range(1, 10))
    for claim in result.claims:
        quote = claim.quote.replace("|", "\\|")
        assert f"| {claim.number} | {quote} | **{claim.summary}** |" in page
        assert f"> {claim.quote} ({claim.place})" in page
        assert claim.left_out == ()
        assert all(finding.text in page for part in claim.parts for finding in part.findings)
    for entry in CATALOGUE.values():
        assert entry.title in page
        assert all(guess in page for guess in entry.guesses)
    links = set(re.findall(r"\((figures/[^)]*)\)", page))
    assert all((folder / link).is_file() for link in links)
    assert len([link for link in links if link.endswith(".png")]) == 23
    assert str(folder) not in page
    assert "ot looked at" not in page
    assert "figures/arms-snw-paper.csv" not in page, "the sorting networks may not be passed on"


def _check_titles(drawn):
    """No title is cut off at the edge of its figure, as it was last laid out."""
    assert len(drawn) == 23
    for name, figure in drawn.items():
        titles = [text for text in (figure._suptitle, *(axes.title for axes in figure.axes)) if text and text.get_text()]
        for title in titles:
            extent = title.get_window_extent()
            assert extent.x0 >= 0, name
            assert extent.x1 <= figure.bbox.width, name


def _check_times(result):
    """Every entry that runs anything is in the table of where the time went."""
    assert {row["entry"] for row in result.spent} > {"cov-boost", "geometric", "bounds", *TIMES}
    for row in result.spent:
        assert list(row) == ["entry", "rounds", "ape-fb", "ape-fb-adapt", "apt", "total"]
        assert row["total"] == pytest.approx(sum(seconds for name, seconds in row.items() if name not in ("entry", "total")))


def test_the_same_seed_gives_the_same_bytes_and_more_runs_add_up(tmp_path, finished):
    folder, _ = finished
    reproduce(PART, out=tmp_path / "b", runs=2, workers=1)
    assert data(folder) != data(tmp_path / "b")
    before = pieces(tmp_path / "b")
    reproduce(PART, out=tmp_path / "b", runs=6, workers=2)
    assert sorted(data(folder)) == sorted(PART)
    assert data(folder) == data(tmp_path / "b")
    added = pieces(tmp_path / "b") - before
    assert before < pieces(tmp_path / "b")
    assert min(first for _, _, first, *_ in added) == 2  # best-arm takes 25 times the runs and starts at 50


def test_another_seed_gives_other_runs_and_those_in_the_folder_are_mentioned(tmp_path, finished, caplog):
    folder, _ = finished
    reproduce(["best-arm"], out=tmp_path, runs=6, seed=1)
    assert caplog.text == ""
    assert data(tmp_path)["best-arm"] != data(folder)["best-arm"]
    reproduce(["instances"], out=tmp_path, runs=1, seed=2)
    assert "holds runs of seed 1 too, which are not on the page of seed 2" in caplog.text


@pytest.mark.parametrize("kernel", [True, False])
def test_a_new_policy_joins_the_error_curves_with_its_name_alone(tmp_path, monkeypatch, caplog, kernel):
    class Slow(EGE):
        """Another class than those that have a kernel."""

    def fresh(*, n_arms, n_objectives, budget):
        made = uniform(n_arms=n_arms, n_objectives=n_objectives, budget=budget)
        made.__class__ = EGE if kernel else Slow
        return made

    monkeypatch.setitem(POLICIES, "fresh", fresh)
    monkeypatch.setitem(ALGORITHMS, "fresh", Algorithm("fresh"))
    result = reproduce(["unique-dominator"], out=tmp_path, runs=3)
    table = [row for row in rows(tmp_path / "figures" / "unique-dominator.csv") if row["algorithm"] == "fresh"]
    assert [row["runs"] for row in table] == ["3"] * 2
    assert {row["engine"] for row in table} == {"compiled" if kernel else "reference"}
    assert result.spent[0]["rounds"] > 0
    looks = [one.drawn_as for one in ALGORITHMS.values() if one.scales == ("text", "drawn")]
    assert len(set(looks)) == len(looks)
    assert caplog.text == ""


def test_a_new_policy_that_pulls_one_by_one_has_its_own_column_of_times(tmp_path, monkeypatch):
    monkeypatch.setitem(POLICIES, "fresh", POLICIES["apt"])
    monkeypatch.setitem(ALGORITHMS, "fresh", Algorithm("fresh"))
    result = reproduce(["unique-dominator"], out=tmp_path, runs=3)
    assert result.spent[0]["fresh"] > 0
    assert "| fresh |" in (tmp_path / "reproduction.md").read_text()


def test_two_at_once_are_killed_and_a_third_goes_on_and_ends_with_the_same_results(tmp_path, monkeypatch):
    folder, runs, kept = tmp_path / "killed", 150, []
    arguments = command("unique-dominator", "--runs", runs, "--out", folder)
    processes = [subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process, enough in zip(processes, (2, 24), strict=True):
        while len(_pieces_if_any(folder)) < enough:
            time.sleep(0.005)
        process.kill()
        kept.append(pieces(folder))
    assert [process.communicate() and process.returncode for process in processes] == [-signal.SIGKILL] * 2
    subprocess.run(arguments, check=True, capture_output=True)
    for earlier, later in itertools.pairwise([*kept, pieces(folder)]):
        assert earlier < later
    monkeypatch.setattr(entries, "GRID", ALL_BUDGETS)
    reproduce(["unique-dominator"], out=tmp_path / "alone", runs=runs)
    assert data(folder) == data(tmp_path / "alone")


def _pieces_if_any(folder):
    try:
        return pieces(folder) if (folder / "results.db").exists() else set()
    except sqlite3.OperationalError:  # the file is there, and its table is not yet
        return set()


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


def test_the_page_shows_what_was_written_and_looks_at_the_claims_that_rest_on_it(tmp_path):
    reproduce(["gaps"], out=tmp_path, runs=3, seed=7)
    page = (tmp_path / "reproduction.md").read_text()
    assert page.count("| not looked at |") == 9
    result = reproduce(["best-arm"], out=tmp_path, runs=3, seed=7)
    page = (tmp_path / "reproduction.md").read_text()
    links = set(re.findall(r"\((figures/[^)]*)\)", page))
    assert links == {f"figures/{name}.{kind}" for name in ("gaps", "best-arm") for kind in ("png", "csv")}
    assert all((tmp_path / link).is_file() for link in links)
    assert "`paretopick paper best-arm --runs 3 --seed 7`" in page
    assert page.count("| not looked at |") == 8
    assert "- claim 4: `paretopick paper equal-gaps`" in page
    assert [claim.number for claim in result.claims if claim.looked_at] == [9]


def test_what_was_asked_for_is_assessed_and_the_page_keeps_what_was_there(finished):
    folder, before = finished
    result = reproduce(["gaps"], out=folder, runs=6)
    assert [claim.number for claim in before.claims if claim.looked_at] == [1, 2, 3, 8, 9]
    assert not any(claim.looked_at for claim in result.claims)
    assert (folder / "reproduction.md").read_text().count("| not looked at |") == 4


@pytest.mark.long
def test_ctrl_c_says_how_to_go_on_and_loses_nothing(tmp_path):
    arguments = command("equal-gaps", "--runs", 1000, "--out", tmp_path)
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts)
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
    assert kept == {"uniform": 1000, "ege-sr": 1000, "ege-sh": 1000, "ege-gg": 1000, "ape-fb": 1000}


def test_without_the_sorting_networks_the_rest_is_there_and_it_says_so(tmp_path, monkeypatch):
    monkeypatch.delenv("PARETOPICK_SNW", raising=False)
    with pytest.raises(MissingFile, match="the sorting networks are not shipped with the package"):
        reproduce(["snw-paper"], out=tmp_path)
    assert not (tmp_path / "reproduction.md").exists()
    result = reproduce(["instances"], out=tmp_path, runs=1)
    assert result.skipped == ()
    assert len(rows(tmp_path / "figures" / "instances.csv")) == 10
    assert result.claims[7].result == "cannot be decided"
    assert "- snw-paper: its data file is not at hand" in (tmp_path / "reproduction.md").read_text()


def test_the_bounds_leave_the_sorting_networks_out_if_they_are_not_at_hand(tmp_path, monkeypatch):
    monkeypatch.delenv("PARETOPICK_SNW", raising=False)
    database = a_database(tmp_path)
    for series in CATALOGUE["bounds"].series(Results(database)):
        database.add(series, counted(series, last=1, pulls=1), 1)
    reproduce(["bounds"], out=tmp_path, runs=1)
    assert {row["instance"] for row in rows(tmp_path / "figures" / "bounds.csv")} == {*MAIN, *MORE} - {"snw-paper"}


def test_a_page_that_loses_the_sorting_networks_says_so(tmp_path, snw_path, monkeypatch):
    monkeypatch.delenv("PARETOPICK_SNW", raising=False)
    reproduce(["hypervolume-snw-paper"], out=tmp_path, runs=3, data=snw_path)
    result = reproduce(["instances"], out=tmp_path, runs=3)
    assert "hypervolume-snw-paper" in result.skipped
    page = (tmp_path / "reproduction.md").read_text()
    assert "figures/hypervolume-snw-paper.png" not in page
    assert "snw-paper, EGE-SR-k: its data file is not at hand" in page


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
