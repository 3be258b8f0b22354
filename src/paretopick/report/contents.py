"""What a report says, put together once as a ``Report``: what was found, how sure that is, what next, how to do it again."""

from __future__ import annotations

import json
import platform
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from paretopick._arrays import check_choice
from paretopick._words import joined, listed, percent, probability, some
from paretopick.errors import InvalidInput, NotReady
from paretopick.events import Event
from paretopick.studies import ParetoResult, Study
from paretopick.studies.beating import compared
from paretopick.studies.certainty import judge
from paretopick.studies.definition import Definition
from paretopick.studies.files import StudyFile, study_file_text
from paretopick.studies.pages import group_lines, how_sure, mean_and_interval
from paretopick.studies.result import OptionResult
from paretopick.studies.tables import time_text

WHICH = (
    "Each of these is the right choice for somebody: whatever else one takes is worse in at least one metric. Which one, depends "
    "on what a metric is worth to you."
)

TABLE_LEGEND = (
    "P(optimal) is the probability that an option is Pareto-optimal; measured, how often it was. A true mean is within its 95% "
    "interval with a probability of 95%. Beaten by: the option of the answer that is most likely ahead in every metric, and by "
    "how much, with 95% intervals in brackets."
)

REHEARSALS = 500
"""How often a study is simulated at the means as measured, unless told otherwise."""


@dataclass(frozen=True)
class Report:
    """Everything that a report says, as texts."""

    study: str
    answer: str
    how_sure: str
    next_step: str | None
    """What to do next, if that can be said."""
    result: ParetoResult
    choices: tuple[tuple[str, ...], ...]
    """The options of the answer with what speaks for each: a header, and a row for each; nothing if there is no answer."""
    groups: tuple[str, ...]
    """Who is surely in, open, surely out, and nearly equal: a line each."""
    baseline: str | None
    """The option that the others are compared with."""
    comparisons: tuple[tuple[str, str], ...]
    """Options of the answer, and how each differs from the baseline."""
    certainty: tuple[str, ...]
    """How sure, in sentences."""
    facts: tuple[tuple[str, str], ...]
    """How it was measured."""
    incidents: tuple[tuple[str, ...], ...]
    """Measurements that failed or were voided, and options that were retired: a header, and a row for each."""
    repeat: str
    """What to type to do it again."""
    versions: str
    written: str


def make_report(study: Study, *, rehearsals: int | None = None, baseline: str | None = None) -> Report:
    """Returns what a report says about a study, at any time.

    Args:
        study: done, or in progress.
        rehearsals: how often to simulate it at the means as measured; by default 500 times.
        baseline: an option that those of the answer are compared with, what is used today for instance.
    """
    if baseline is not None:
        check_choice(baseline, study.options, "option")
    result = study.result(rehearsals=REHEARSALS if rehearsals is None else rehearsals)
    state, rows = study.status(), study.measurements()
    return Report(
        study=study.name,
        answer=result.sentence,
        how_sure=how_sure(result),
        next_step=result.next_step,
        result=result,
        choices=tuple(_choices(result)),
        groups=tuple(group_lines(result)),
        baseline=baseline,
        comparisons=() if baseline is None else _comparisons(study, result, baseline),
        certainty=tuple(_certainty(result)),
        facts=tuple(_facts(study.definition, result, state, rows)),
        incidents=tuple(_incidents(study.definition, rows, study.events())),
        repeat=repeat(study.name, study.definition, result.budget),
        versions=f"paretopick {version('paretopick')}, Python {platform.python_version()}, NumPy {version('numpy')}, "
        f"{platform.system()} {platform.machine()}",
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def _choices(result: ParetoResult) -> Iterable[tuple[str, ...]]:
    """The options of the answer along the first metric, with their means and what speaks for each."""
    first = result.metric_records[0]
    members = sorted(
        (row for row in result.options if row.in_answer), key=lambda row: -first.sign * (row.means[first.name] or 0.0)
    )
    if members:
        yield ("option", *result.metrics, "what speaks for it")
    for row in members:
        means = (mean_and_interval(row.means[name], row.intervals[name])[0] for name in result.metrics)
        yield (row.option, *means, joined([_how_likely(row), *_best_in(row, result), *_alike(row, result)]))


def _how_likely(row: OptionResult) -> str:
    if row.probability is None:
        return "as measured so far"
    return "surely Pareto-optimal" if row.status == "pareto" else f"Pareto-optimal with {probability(row.probability)}"


def _best_in(row: OptionResult, result: ParetoResult) -> Iterable[str]:
    """The metrics in which no option that is still there has a better mean."""
    for metric in result.metric_records:
        means = [
            metric.sign * mean
            for other in result.options
            if (mean := other.means[metric.name]) is not None and other.status != "retired"
        ]
        own = row.means[metric.name]
        if own is not None and metric.sign * own >= max(means):
            yield f"the {'smallest' if metric.goal == 'min' else 'largest'} {metric.name}"


def _alike(row: OptionResult, result: ParetoResult) -> Iterable[str]:
    for group in result.near_equals:
        if row.option in group:
            yield f"nearly equal to {listed(name for name in group if name != row.option)}"


def _comparisons(study: Study, result: ParetoResult, baseline: str) -> tuple[tuple[str, str], ...]:
    """How the options of the answer differ from the baseline."""
    try:
        estimates, names, _ = study.estimates()
    except NotReady as reason:
        raise InvalidInput(f"options cannot be compared with {baseline!r} yet: {reason}") from None
    if baseline not in names:
        raise InvalidInput(f"{baseline!r} is retired, and nothing is compared with it; choose another baseline.")
    members = [row.option for row in result.ranked() if row.in_answer and row.option != baseline]
    found = compared(judge(estimates), members, baseline, names, study.definition.metrics)
    return tuple((name, joined([str(difference) for difference in by])) for name, by in zip(members, found, strict=True))


def _certainty(result: ParetoResult) -> Iterable[str]:
    yield result.certainty.how
    if result.certainty.interval is not None and result.certainty.draws:
        low, high = map(probability, result.certainty.interval)
        yield (
            f"That is {probability(result.certainty.probability)}, with a 95% interval from {low} to {high} that comes from the "
            "number of draws alone."
        )
        yield (
            "P(optimal) in the table is the share of these draws in which an option is Pareto-optimal. How well such numbers are "
            "borne out, in thousands of simulated studies whose truth was known, is in docs/calibration.md of paretopick."
        )
    if result.rehearsal is not None:
        low, high = map(percent, result.rehearsal.interval)
        yield (
            f"{result.rehearsal.how} That is {percent(result.rehearsal.rate)} ({low} to {high}). It says how reliable a study of "
            "this size, started anew, is for a problem that looks like this one; not how likely this answer is to be right."
        )


def _facts(
    definition: Definition, result: ParetoResult, state: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> Iterable[tuple[str, str]]:
    for metric in definition.metrics:
        yield f"metric {metric.name}", metric.direction + (", exact" if metric.exact else "")
    yield "options", f"{len(definition.options):,}"
    yield "measurements", f"{result.used:,} of a budget of {result.budget:,}"
    options = "".join(f", {key}={json.dumps(value)}" for key, value in definition.policy_options.items())
    yield "policy", f"{definition.policy}{options}"
    if state["rounds"]:
        yield "rounds", f"{state['rounds']:,}" if result.done else f"in round {state['round']:,} of {state['rounds']:,}"
    yield "metrics compared", _scale(definition)
    if definition.command:
        yield "measured by", shlex.join(definition.command) if len(definition.command) > 1 else definition.command[0]
    if rows:
        yield "first and last", f"{_time(min(row['at'] for row in rows))} to {_time(max(row['at'] for row in rows))}"
        workers = sorted({row["worker"] for row in rows if row["worker"]})
        yield "workers", some(workers, most=4) or "none (measured beforehand)"
    counts = {status: sum(row["status"] == status for row in rows) for status in ("failed", "voided")}
    yield "failed, voided", f"{counts['failed']:,}, {counts['voided']:,}"
    yield "database", str(state["storage"])


def _scale(definition: Definition) -> str:
    if isinstance(definition.scale, Mapping):
        return ", ".join(f"{name} divided by {width:g}" for name, width in definition.scale.items())
    return "in units of their noise, from repeats" if definition.scale == "noise" else "as they are"


def _incidents(definition: Definition, rows: Sequence[Mapping[str, Any]], events: Iterable[Event]) -> Iterable[tuple[str, ...]]:
    """A header and a row for everything that went wrong, when it was said to have; nothing at all if nothing did."""
    told = {row["number"]: row for row in rows}
    bad = [event for event in events if event.kind in ("failed", "voided", "corrected", "retired", "reinstated")]

    def in_round(cell: str) -> tuple[str, ...]:
        return () if definition.choice.roundless else (cell,)

    if bad:
        yield ("what", "option", *in_round("round"), *definition.goals, "why", "worker", "when")
    for event in bad:
        option = definition.options[event.arm or 0]
        why = str((event.details or {}).get("why", ""))
        if event.kind in ("retired", "reinstated"):
            yield (
                f"option {event.kind}",
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


def _value(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def _corrected(event: Event) -> list[str]:
    """The values after a correction, with those before where they differ."""
    after, before = event.measured or (), (event.details or {}).get("before", ())
    pairs = zip(map(_value, after), map(_value, before), strict=True)
    return [new if new == old else f"{new} (was {old or 'missing'})" for new, old in pairs]


def repeat(name: str, definition: Definition, budget: int) -> str:
    """Returns what to do to make the same study again: the file of a study, and what to type."""
    text = study_file_text(StudyFile(name, replace(definition, budget=budget)))
    verb = "run" if definition.command else "create"
    return f"{text}\n# saved as study.toml:\n# paretopick {verb} study.toml"


def _time(at: float) -> str:
    return f"{time_text(at)[:19].replace('T', ' ')} UTC"
