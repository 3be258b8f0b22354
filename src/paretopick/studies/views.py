"""A study as rows and records for people and programs to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paretopick._arrays import check_choice
from paretopick._frames import pandas_frame
from paretopick._words import probability, text_of
from paretopick.events import Event, Lease
from paretopick.policies.anytime import Anytime
from paretopick.studies import pages
from paretopick.studies.answer import quick_guess, result_of
from paretopick.studies.budgets import Spent
from paretopick.studies.definition import Definition
from paretopick.studies.repeats import repeat_of
from paretopick.studies.result import ParetoResult
from paretopick.studies.state import State
from paretopick.studies.stopping import Looks

if TYPE_CHECKING:
    import pandas as pd

NEXT = 3
"""Measurements that would be handed out next, of which a status tells."""

SMALL_DOUBT = 0.05
"""An option whose place is no more in doubt than this is measured for the sake of others."""


class StudyProgress(NamedTuple):
    """How far a study is."""

    used: int
    """Measurements that count."""
    planned: int
    """Measurements that will count in the end, as far as is known now."""
    budget: int
    round: int
    rounds: int | None
    """How many there are; None if that is not planned ahead."""
    active: int
    """Options that are still measured."""
    due: int
    """Measurements that the open round still needs."""
    out: int
    """Measurements that are being made."""
    done: bool
    best_guess: tuple[str, ...] | None
    """The options that look Pareto-optimal; None if nobody asked."""
    roundless: bool
    """Whether there are no rounds at all: what is measured next follows from all data so far."""
    spent: Spent | None = None
    """How much of the budget is spent, where that is in a unit; then planned and budget are estimates."""


def progress(state: State, leases: Iterable[Lease], *, guess: bool, is_sure: bool = False) -> StudyProgress:
    """Returns how far a study is, and what its answer looks like if that is wanted; ``is_sure`` if its aim is reached."""
    policy, names = state.policy, state.definition.options
    moment = policy.snapshot()
    return StudyProgress(
        used=state.used,
        planned=state.planned,
        budget=state.budget,
        round=state.round,
        rounds=policy.n_rounds,
        active=len(moment.active),
        due=state.wanted,
        out=sum(not lease.withdrawn for lease in leases),
        done=state.done or is_sure,
        best_guess=tuple(names[arm] for arm in quick_guess(state)) if guess else None,
        roundless=state.definition.choice.roundless,
        spent=state.spent,
    )


def status(study: str, state: State, leases: Iterable[Lease], now: float, looks: Looks) -> dict[str, Any]:
    """Returns where a study stands, as JSON values; ``looks`` are those whether its aim is reached."""
    definition, policy = state.definition, state.policy
    moment, result = policy.snapshot(), result_of(study, state, looks=looks, sure=False)
    names, waited_for = definition.options, [lease for lease in leases if not lease.withdrawn]
    out: dict[int, int] = {}
    for lease in waited_for:
        out[lease.arm] = out.get(lease.arm, 0) + 1
    reasons = Reasons(state, result)
    return {
        "policy": definition.policy,
        "policy_options": dict(definition.policy_options),
        "metrics": dict(definition.goals),
        "details": {metric.name: metric.details for metric in definition.metrics if metric.details},
        "exact": list(definition.exact),
        "options": len(names),
        "done": result.done,
        "stopped": result.stopped,
        "how_sure": pages.how_sure(result),
        "probability": result.probability,
        "resolution": None if result.resolution is None else asdict(result.resolution),
        "aim": state.aim.to_dict(),
        "pairing": definition.pairing,
        "baseline": definition.baseline,
        "roundless": definition.choice.roundless,
        "round": state.round,
        "rounds": policy.n_rounds,
        "used": state.used,
        "planned": state.planned,
        "budget": state.budget,
        "spent": None if state.spent is None else state.spent.to_dict(),
        "due": state.wanted,
        "failed": state.failed,
        "active": [names[arm] for arm in moment.active],
        "accepted": [names[arm] for arm in moment.accepted],
        "rejected": [names[arm] for arm in moment.rejected],
        "retired": {names[arm]: why for arm, why in state.retired.items()},
        "pareto": list(result.answer),
        "sought": pages.sought(result),
        "notes": list(result.notes),
        "out": [
            {
                "number": lease.number,
                "option": names[lease.arm],
                "repeat": lease.repeat,
                "worker": lease.worker,
                "seconds_left": None if lease.expires is None else round(lease.expires - now, 3),
                "why": reasons.of(lease.arm),
            }
            for lease in waited_for
        ],
        "next": [{"option": names[arm], "why": reasons.of(arm)} for arm in (() if result.done else state.proposals(NEXT, out))],
        "doubt": reasons.by_option(),
    }


class Reasons:
    """Why options are measured.

    Args:
        state: of the study.
        result: what it says about its options.
    """

    def __init__(self, state: State, result: ParetoResult) -> None:
        known = [np.nan if row.doubt is None or not state.definition.choice.roundless else row.doubt for row in result.options]
        self._state, self._doubt = state, np.array(known)
        self._initial = state.policy.initial if isinstance(state.policy, Anytime) else 0

    def by_option(self) -> dict[str, float] | None:
        """Returns how likely the place of each option is wrong, in the answer or out of it; None if nobody can say."""
        known = [arm for arm in self._state.present if not np.isnan(self._doubt[arm])]
        return {self._state.definition.options[arm]: float(self._doubt[arm]) for arm in known} or None

    def of(self, arm: int) -> str | None:
        """Returns why an option is measured next, in words; None where rounds are planned, or the policy does not say."""
        if self._state.counts[arm] < self._initial:
            return "first measurements"
        doubt = self._doubt[arm]
        if np.isnan(doubt):
            return None
        most = max(self._state.present, key=lambda other: float(np.nan_to_num(self._doubt[other])))
        if doubt > SMALL_DOUBT or most == arm:
            return f"its place is {probability(doubt)} likely wrong"
        name = self._state.definition.options[most]
        return f"others are compared with it; most in doubt is {name!r}, {probability(float(self._doubt[most]))} likely wrong"


def measurements(definition: Definition, events: Iterable[Event]) -> list[dict[str, Any]]:
    """Returns a row for every measurement that was told or failed, in the order in which that happened."""
    rows: dict[int | None, dict[str, Any]] = {}
    extras: dict[str, None] = {}
    for event in events:
        details = event.details or {}
        if event.kind in ("told", "failed"):
            extra = details.get("extra", {})
            extras |= dict.fromkeys(extra)
            rows[event.number] = {
                "number": event.number,
                "option": definition.options[event.arm or 0],
                **definition.settings[event.arm or 0],
                "round": event.round,
                **({"repeat": repeat_of(event)} if definition.counts_repeats else {}),
                **_named(definition, event),
                "status": event.kind,
                "why": None,
                "worker": event.worker,
                "at": details.get("at", event.at),
                **extra,
            }
        if event.kind == "corrected":
            rows[event.number] |= _named(definition, event) | {"why": f"corrected: {details['why']}"}
        if event.kind in ("failed", "voided"):
            rows[event.number] |= {"status": event.kind, "why": details["why"]}
    return [row | {name: row.get(name) for name in extras} for row in rows.values()]


def known_row(definition: Definition, history: Sequence[Event], lease: Lease | None) -> dict[str, Any] | None:
    """Returns the row of one measurement, which may be out with a worker; None if there is no such measurement."""
    if lease is not None:
        row = {"number": lease.number, "option": definition.options[lease.arm], "status": "out", "worker": lease.worker}
        row |= {"repeat": lease.repeat} if definition.counts_repeats else {}
        return row | dict.fromkeys(definition.goals) | {"before": [], "request": None}
    for row in measurements(definition, history):
        before = [list((event.details or {})["before"]) for event in history if event.kind == "corrected"]
        return row | {"before": before, "request": history[-1].request}
    return None


def exact_values(state: State) -> dict[str, dict[str, float]]:
    """Returns what the exact metrics of each option are, as far as they were told."""
    found: dict[str, dict[str, float]] = {}
    for arm, option in enumerate(state.definition.options):
        for at, metric in enumerate(state.definition.metrics):
            if metric.exact and (value := state.exact_value(arm, at)) is not None:
                found.setdefault(option, {})[metric.name] = value
    return found


def matching(rows: Sequence[Mapping[str, Any]], where: Mapping[str, Any], columns: Iterable[str]) -> list[Mapping[str, Any]]:
    """Returns the rows of ``measurements`` that have some values in some columns; numbers are equal to their texts.

    Args:
        rows: all of them.
        where: column to value.
        columns: that rows have, whether or not there are some.
    """
    known = dict.fromkeys([*columns, *(name for row in rows[:1] for name in row)])
    for name in where:
        check_choice(name, known, "column of the measurements")
    return [row for row in rows if all(_same(row.get(name), value) for name, value in where.items())]


def columns_of(definition: Definition, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the columns of tables of measurements: what was told beside the metrics is last."""
    repeat = ["repeat"] if definition.counts_repeats else []
    usual = ["number", "option", *definition.settings[0], "round", *repeat, *definition.goals, "status", "why", "worker", "at"]
    return [*usual, *(name for row in rows[:1] for name in row if name not in usual)]


def measured_frame(definition: Definition, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Returns rows of ``measurements`` as a data frame of pandas: whole numbers stay such where some are missing."""
    repeats = {"repeat": "Int64"} if definition.counts_repeats else {}
    kinds = {"number": "int64", "round": "Int64", **repeats, **dict.fromkeys(definition.goals, "float64")}
    return pandas_frame(rows, columns).astype(kinds)


def _same(value: Any, wanted: Any) -> bool:
    """Whether a value is what somebody looks for: numbers may be written as texts."""
    if value is None or str(value) == text_of(wanted):
        return value is not None
    number = _as_number(value)
    return number is not None and number == _as_number(wanted)


def _as_number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _named(definition: Definition, event: Event) -> dict[str, float | None]:
    values: Sequence[float | None] = event.measured or [None] * len(definition.metrics)
    return dict(zip(definition.goals, values, strict=True))
