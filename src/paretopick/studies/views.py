"""A study as rows and records for people and programs to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from paretopick.events import Event, Lease
from paretopick.studies.answer import result_of
from paretopick.studies.definition import Definition
from paretopick.studies.state import State


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


def progress(state: State, leases: Iterable[Lease], *, guess: bool) -> StudyProgress:
    """Returns how far a study is, and what its answer looks like if that is wanted."""
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
        done=state.done,
        best_guess=tuple(names[arm] for arm in state.front()) if guess else None,
    )


def status(study: str, state: State, leases: Iterable[Lease], now: float) -> dict[str, Any]:
    """Returns where a study stands, as JSON values."""
    definition, policy = state.definition, state.policy
    moment, result = policy.snapshot(), result_of(study, state, sure=False)
    names = definition.options
    return {
        "policy": definition.policy,
        "policy_options": dict(definition.policy_options),
        "metrics": dict(definition.goals),
        "exact": list(definition.exact),
        "options": len(names),
        "done": state.done,
        "round": state.round,
        "rounds": policy.n_rounds,
        "used": state.used,
        "planned": state.planned,
        "budget": state.budget,
        "due": state.wanted,
        "failed": state.failed,
        "active": [names[arm] for arm in moment.active],
        "accepted": [names[arm] for arm in moment.accepted],
        "rejected": [names[arm] for arm in moment.rejected],
        "retired": {names[arm]: why for arm, why in state.retired.items()},
        "pareto": list(result.pareto),
        "notes": list(result.notes),
        "out": [
            {
                "number": lease.number,
                "option": names[lease.arm],
                "worker": lease.worker,
                "seconds_left": None if lease.expires is None else round(lease.expires - now, 3),
            }
            for lease in leases
            if not lease.withdrawn
        ],
    }


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
                "round": event.round,
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


def _named(definition: Definition, event: Event) -> dict[str, float | None]:
    values: Sequence[float | None] = event.measured or [None] * len(definition.metrics)
    return dict(zip(definition.goals, values, strict=True))
