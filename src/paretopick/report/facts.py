"""How a study was measured, what went wrong, and how to do it again."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from paretopick._words import some
from paretopick.events import Event
from paretopick.metrics import Metric
from paretopick.studies import ParetoResult
from paretopick.studies.aims import check_aim
from paretopick.studies.budgets import Budget
from paretopick.studies.definition import Definition
from paretopick.studies.files import StudyFile, study_file_text
from paretopick.studies.times import time_text


def facts_of(
    definition: Definition, result: ParetoResult, state: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> Iterable[tuple[str, str]]:
    """Yields what is to be known, a name and a text each."""
    for metric in definition.metrics:
        yield f"metric {metric.name}", about(metric)
    yield "options", f"{len(definition.options):,}"
    yield "measurements", result.used_text
    aim = check_aim(state["aim"].get("confidence"), state["aim"].get("resolution"), definition.metrics)
    if aim.is_set:
        yield "stops when", f"{aim.text}: {'reached' if result.stopped is not None else 'not reached'}"
    options = "".join(f", {key}={json.dumps(value)}" for key, value in definition.policy_options.items())
    yield "policy", f"{definition.policy}{options}"
    if state["rounds"]:
        yield "rounds", f"{state['rounds']:,}" if result.done else f"in round {state['round']:,} of {state['rounds']:,}"
    yield "metrics compared", _scale(definition)
    if definition.pairing is not None:
        known = "too few to know what they share" if result.sharing is None else result.sharing.sentence
        yield "paired by", f"{definition.pairing}. {known}"
    if definition.command:
        yield "measured by", shlex.join(definition.command) if len(definition.command) > 1 else definition.command[0]
    if rows:
        yield "first and last", f"{_time(min(row['at'] for row in rows))} to {_time(max(row['at'] for row in rows))}"
        workers = sorted({row["worker"] for row in rows if row["worker"]})
        yield "workers", some(workers, most=4) or "none (measured beforehand)"
    counts = {status: sum(row["status"] == status for row in rows) for status in ("failed", "voided")}
    yield "failed, voided", f"{counts['failed']:,}, {counts['voided']:,}"
    yield "database", str(state["storage"])


def about(metric: Metric) -> str:
    """Returns what a metric is, on one line.

    >>> about(Metric("time", "min", margin="2%", at_most=50, unit="s"))
    'in s, small is good, at most 50 s, differences below 2% do not matter, compared as ratios'
    """
    parts = (
        f"in {metric.unit}" if metric.unit is not None else "",
        metric.direction,
        metric.limit_text if metric.compared else "",
        f"differences below {metric.margin_text} do not matter" if metric.margin_text else "",
        "compared as ratios" if metric.log else "",
        "exact" if metric.exact else "",
    )
    return ", ".join(filter(None, parts))


def _scale(definition: Definition) -> str:
    if isinstance(definition.scale, Mapping):
        return ", ".join(f"{name} divided by {width:g}" for name, width in definition.scale.items())
    return "in units of their noise, from repeats" if definition.scale == "noise" else "as they are"


def incidents_of(definition: Definition, rows: Sequence[Mapping[str, Any]], events: Iterable[Event]) -> Iterable[tuple[str, ...]]:
    """Yields a header and a row for everything that went wrong, when it was said to have; nothing at all if nothing did."""
    told = {row["number"]: row for row in rows}
    bad = [
        event for event in events if event.kind in ("failed", "voided", "corrected", "retired", "reinstated") or _is_repair(event)
    ]

    def in_round(cell: str) -> tuple[str, ...]:
        return () if definition.choice.roundless else (cell,)

    if bad:
        yield ("what", "option", *in_round("round"), *definition.goals, "why", "worker", "when")
    for event in bad:
        repaired = _is_repair(event)
        option = "" if repaired else definition.options[event.arm or 0]
        details = event.details or {}
        why = f"from now on: {shlex.join(details['command'])}" if repaired else str(details.get("why", ""))
        if repaired or event.kind in ("retired", "reinstated"):
            yield (
                "command changed" if repaired else f"option {event.kind}",
                option,
                *in_round(""),
                *[""] * len(definition.metrics),
                why,
                event.worker or "",
                _time(event.at),
            )
            continue
        row = told[event.number]
        values = _corrected(event) if event.kind == "corrected" else [_value(row[name]) for name in definition.goals]
        place = "" if row["round"] is None else str(row["round"])
        what = f"measurement {event.number} {event.kind}"
        yield (what, option, *in_round(place), *values, why, event.worker or row["worker"] or "", _time(event.at))


def _is_repair(event: Event) -> bool:
    """Whether the study was measured with another command from there on."""
    return event.kind == "described" and "command" in (event.details or {})


def _value(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _corrected(event: Event) -> list[str]:
    """The values after a correction, with those before where they differ."""
    after, before = event.measured or (), (event.details or {}).get("before", ())
    pairs = zip(map(_value, after), map(_value, before), strict=True)
    return [new if new == old else f"{new} (was {old or 'missing'})" for new, old in pairs]


def repeat(name: str, definition: Definition, budget: Budget) -> str:
    """Returns what to do to make the same study again: the file of a study, and what to type."""
    text = study_file_text(StudyFile(name, replace(definition, budget=budget)))
    verb = "run" if definition.command else "create"
    return f"{text}\n# saved as study.toml:\n# paretopick {verb} study.toml"


def _time(at: float) -> str:
    return f"{time_text(at)[:19].replace('T', ' ')} UTC"
