"""A soak: workers, servers and the network fail for many minutes, and then every promise is compared with the database.

    python -m soak --seconds 900 --seed 1

Prints what was done and found, and ends with code 1 if any promise was broken. The seed decides what is done to workers and
databases and what each worker chooses; who is interrupted where also depends on the speed of the machine. So the same seed
gives the same kind of trouble again, not the same run; what a fault is about can be seen in the ledger, which is kept then.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from soak.calls import BACKUP
from soak.checker import check_calls
from soak.ledger import read_ledger
from soak.logs import check_backups, read_logs
from soak.summary import Longest, counted, longest_calls, too_long
from soak.trial import Plan, Trial

BACKUPS = 50
"""As many are looked at in the end."""

DATABASES = ("sqlite", "postgresql")


@dataclass
class Outcome:
    """What a soak of one database came to."""

    database: str
    seconds: float
    """How long workers were disturbed."""
    faults: list[str] = field(default_factory=list)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    """Disturbances, calls, studies and what became of uncertain calls."""
    longest: dict[str, Longest] = field(default_factory=dict)
    """By kind of call."""


def soak(plan: Plan, databases: tuple[str, ...], folder: Path, say: Callable[[str], None]) -> list[Outcome]:
    """Returns what came out of a soak of each database, side by side; Ctrl-C ends it sooner."""
    trials: list[Trial] = []
    try:
        for kind in databases:
            trials.append(Trial(kind, folder, plan))
        seconds = _disturb(plan, trials, say)
        say("everything works again; workers give back what they have")
        for trial in trials:
            trial.calm()
        killed = [trial.finish() for trial in trials]
        return [_outcome(trial, names, plan, seconds) for trial, names in zip(trials, killed, strict=True)]
    finally:
        for trial in trials:
            trial.close()


def _disturb(plan: Plan, trials: list[Trial], say: Callable[[str], None]) -> float:
    """Returns how long it took."""
    start = time.monotonic()
    shown, passed = 0, 0.0
    interrupted = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: interrupted.set())  # and not in the middle of a kill
    try:
        while passed < plan.seconds and not interrupted.is_set():
            for trial in trials:
                trial.tick()
            time.sleep(0.02)
            passed = time.monotonic() - start
            if passed // 10 > shown:
                shown = int(passed // 10)
                say(f"{passed:5.0f} s  " + "   ".join(_progress(trial) for trial in trials))
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted.is_set():
        say("interrupted: what happened so far is looked at")
    return passed


def _progress(trial: Trial) -> str:
    """One glance; lines of the ledger are calls, twice."""
    calls = sum(max(file.read_bytes().count(b"\n") - 1, 0) for file in trial.ledger.glob("*.jsonl")) // 2
    done = ", ".join(f"{count} {what}" for what, count in sorted(trial.counts.items()))
    faults = f"; {len(trial.faults)} FAULTS" if trial.faults else ""
    return f"{trial.kind}: {calls:,} calls; {done or 'nothing disturbed'}{faults}"


def _outcome(trial: Trial, killed: set[str], plan: Plan, seconds: float) -> Outcome:
    """Everything is looked at: what happened to workers, what the database holds, and what the calls say about it."""
    calls = read_ledger(trial.ledger)
    logs, damages = read_logs(trial.url)
    faults = [*trial.faults, *damages]
    faults += check_backups(sorted(trial.ledger.glob(f"{BACKUP}*.db"))[:BACKUPS], logs)
    faults += check_calls(calls, logs, killed)
    faults += too_long(calls, trial.stops, plan.patience + plan.margin)
    counts = {"disturbances": dict(trial.counts), **counted(calls, logs)}
    return Outcome(trial.kind, seconds, faults, counts, longest_calls(calls, trial.stops))


def report(outcomes: list[Outcome]) -> str:
    """Returns the counts as tables in Markdown, and all faults."""
    lines = []
    for title in ("disturbances", "calls by kind", "calls by outcome", "calls failed because", "studies", "uncertain calls"):
        tables = [outcome.counts.get(title, {}) for outcome in outcomes]
        lines += ["", f"| {title} | " + " | ".join(outcome.database for outcome in outcomes) + " |"]
        lines += ["| --- |" + " ---: |" * len(outcomes)]
        for name in dict.fromkeys(name for table in tables for name in table):
            lines.append(f"| {name} | " + " | ".join(f"{table.get(name, 0):,}" for table in tables) + " |")
    lines += ["", "| longest call, seconds | " + " | ".join(outcome.database for outcome in outcomes) + " |"]
    lines += ["| --- |" + " ---: |" * len(outcomes)]
    for kind in dict.fromkeys(kind for outcome in outcomes for kind in sorted(outcome.longest)):
        found = [outcome.longest.get(kind) for outcome in outcomes]
        lines.append(
            f"| {kind} | " + " | ".join("" if one is None else f"{one.seconds:.1f} ({one.outcome})" for one in found) + " |"
        )
    return "\n".join(lines)
