"""What disturbs times is said once, with numbers: other programs, other runs, several measurements at once."""

import os
import socket
import sys
import tempfile
import time

import pytest

import paretopick as pp
from paretopick.studies import company
from paretopick.studies.company import OtherPrograms, timing
from paretopick.studies.time_metrics import times_among
from support.terminals import call

GIVEN = ("--options", "1,2", "--budget", "8", "--name", "s")
PROCESSORS = os.cpu_count() or 1


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """No run of somebody else is heard of, and no program of somebody else is seen."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    load(monkeypatch, others=0.0)


def load(monkeypatch, others: float, ours: float = 0.3) -> None:
    """From now on others use so much of all processors, and we so much of one of them."""
    start = time.monotonic()

    def processors():
        now = time.monotonic()
        capacity = (now - start) * PROCESSORS
        busy = others * capacity + ours * (now - start)
        return now, busy, capacity - busy, ours * (now - start)

    monkeypatch.setattr(company, "_processors", processors)


@pytest.mark.parametrize("name", ["wall_seconds", "time", "p95_ms", "Latency", "build time (s)", "runtime", "cpu_seconds"])
def test_times_are_known_by_their_names(name):
    assert times_among([pp.Metric(name, "min")]) == [name]


@pytest.mark.parametrize("name", ["output_bytes", "items", "sometimes2", "loss", "estimates", "max_memory_mb", "secret"])
def test_other_metrics_are_not_taken_for_times(name):
    assert times_among([pp.Metric(name, "min")]) == []
    assert times_among([pp.Metric(name, "min", unit="ms")]) == [name]


def test_what_others_use_is_what_is_not_ours(monkeypatch):
    load(monkeypatch, others=0.4)
    others = OtherPrograms()
    assert others.share() is None  # it is too early to tell
    time.sleep(0.05)
    assert others.share(0.05) == pytest.approx(0.4)
    assert others.share_before() == pytest.approx(0.4)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_the_processors_of_this_machine_are_seen(monkeypatch):
    monkeypatch.undo()
    start, before = time.monotonic(), company._processors()
    while time.monotonic() - start < 0.5:
        pass
    seconds, busy, idle, ours = (after - first for after, first in zip(company._processors(), before, strict=True))
    assert busy + idle == pytest.approx(seconds * PROCESSORS, rel=0.3, abs=0.1)
    assert 0 < ours <= busy + 0.1


def test_a_run_that_times_things_is_seen_by_others_until_it_ends(tmp_path):
    with timing("the study 'a'") as first, timing("the study 'b'") as second:
        assert first is None
        assert second == f"the study 'a' (process {os.getpid()})"
    with timing("the study 'b'") as third:
        assert third is None
    (place,) = tmp_path.glob("paretopick-times-*")
    place.unlink()
    (tmp_path / "precious").write_text("as it was")
    place.symlink_to(tmp_path / "precious")
    with timing("the study 'a'") as first:
        assert first is None
    assert (tmp_path / "precious").read_text() == "as it was"


def said(tmp_path, *more: str, metrics: str = "wall_seconds:min", command=("sleep", "0.{option}")) -> str:
    result = call("run", *GIVEN, "--metrics", metrics, *more, "--", *command, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    return result.stderr


@pytest.mark.slow
def test_a_quiet_machine_needs_no_words(tmp_path):
    assert "note:" not in said(tmp_path)


@pytest.mark.slow
def test_other_programs_are_named_once_before_or_during_a_run(tmp_path, monkeypatch):
    load(monkeypatch, others=0.45)
    busy = f"note: other programs use {0.45 * PROCESSORS:.1f} of {PROCESSORS} processors now: times come out longer and vary more"
    shown = said(tmp_path)
    assert busy.replace("0.5 of 1 processors", "45% of this machine") in shown
    assert shown.count("other programs") == 1
    assert "note:" not in said(tmp_path, "--name", "t", metrics="output_bytes:min", command=("seq", "{option}"))


@pytest.mark.slow
def test_other_programs_that_begin_later_are_named_too(tmp_path, monkeypatch):
    monkeypatch.setattr(OtherPrograms, "share_before", lambda self: 0.0)
    load(monkeypatch, others=0.9)
    assert said(tmp_path, "--budget", "16").count("note: other programs use") == 1


@pytest.mark.slow
def test_another_run_and_several_measurements_at_once_are_named(tmp_path):
    with timing("the study 'x'"):
        shown = said(tmp_path)
        assert f"note: another run on this machine times the study 'x' (process {os.getpid()}) now, or did a moment ago" in shown
        assert "note:" not in said(tmp_path, "--name", "t", metrics="output_bytes:min", command=("seq", "{option}"))
    shown = said(tmp_path, "--name", "u", "--workers", "2")
    assert (
        "note: 2 measurements at a time disturb each other where times are measured (wall_seconds); leave --workers out" in shown
    )


@pytest.mark.slow
def test_another_run_of_the_same_study_on_this_machine_is_named(tmp_path):
    study = pp.Study.create(
        "s", options=["1", "2"], metrics={"wall_seconds": "min"}, budget=8, storage=tmp_path / "paretopick.db"
    )
    study.ask(worker=f"{socket.gethostname()}:1:x", lease=0.01)
    assert "note: another run on this machine times the study 's' now, or did a moment ago" in said(tmp_path)
