"""The answer of a study: from its state to what it says about its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from paretopick._arrays import BoolArray, FloatArray
from paretopick._words import capital, counted
from paretopick.errors import NotReady
from paretopick.estimates import Estimates
from paretopick.policies.base import Snapshot
from paretopick.studies.certainty import Certainty, Rehearsal, rehearse, resample
from paretopick.studies.definition import Definition
from paretopick.studies.result import OptionResult, ParetoResult
from paretopick.studies.state import State
from paretopick.theory.dominance import weakly_dominates

NOT_ASKED = Certainty(None, None, 0, "It was not asked for.")


def result_of(study: str, state: State, *, sure: bool = True, rehearsals: int = 0) -> ParetoResult:
    """Returns what a state says about the options now.

    Args:
        study: its name.
        state: of the study.
        sure: whether to say how sure that is, which takes a moment.
        rehearsals: how often to simulate the same study at the means as measured.
    """
    definition, now = state.definition, state.policy.snapshot()
    front = set(state.front())
    status = _statuses(state, now, front)
    means = state.means()
    signed = means * definition.signs
    dominators = _dominators(signed, front, status)
    unbeaten = [arm for arm, by in dominators.items() if not by]
    status |= dict.fromkeys(unbeaten, "undecided")
    chances, certainty, rehearsal, estimates = _how_sure(state, front, rehearsals) if sure else ({}, NOT_ASKED, None, None)
    intervals = {} if estimates is None else dict(zip(state.present, estimates.intervals().tolist(), strict=True))
    counts = state.counts
    errors = np.sqrt(state.variances() / np.maximum(counts, 1)[:, None])
    errors[:, definition.is_exact] = 0.0
    return ParetoResult(
        study=study,
        done=state.done,
        pareto=tuple(definition.options[arm] for arm in sorted(front)),
        options=tuple(
            OptionResult(
                option=name,
                status=status[arm],
                dominated_by=tuple(definition.options[other] for other in dominators.get(arm, ())),
                probability=chances.get(arm),
                measurements=int(counts[arm]),
                means=_by_metric(definition.goals, means[arm]),
                standard_errors=_by_metric(definition.goals, np.where(counts[arm], errors[arm], np.nan)),
                intervals=dict(zip(definition.goals, map(tuple, intervals[arm]), strict=True))
                if arm in intervals
                else dict.fromkeys(definition.goals),
                left_in_round=None if definition.choice.roundless else int(now.left_in[arm]) or None,
            )
            for arm, name in enumerate(definition.options)
        ),
        certainty=certainty,
        rehearsal=rehearsal,
        metric_records=definition.metrics,
        correlation=None if estimates is None else tuple(map(tuple, estimates.correlation.tolist())),
        policy=definition.policy,
        budget=state.budget,
        used=state.used,
        round=state.round,
        notes=(*_notes(state), *_surprises(definition, signed, front, unbeaten)),
        is_part=definition.choice.max_arms is not None,
    )


def _statuses(state: State, now: Snapshot, front: set[int]) -> dict[int, str]:
    """What the policy decided."""
    status = dict.fromkeys(range(len(state.definition.options)), "dominated")
    status |= dict.fromkeys(now.active, "undecided")
    if state.done and not state.policy.stopped:  # if it stopped early, nobody knows about the others
        status |= dict.fromkeys(now.active, "dominated")
        status |= dict.fromkeys(front, "pareto")
    status |= dict.fromkeys(now.accepted, "pareto")
    status |= dict.fromkeys(now.retired, "retired")
    return status


def _dominators(means: FloatArray, front: set[int], status: Mapping[int, str]) -> dict[int, list[int]]:
    """For every dominated option those of the answer that dominate it as measured by now; maybe none."""
    rejected, answer = [arm for arm in status if status[arm] == "dominated"], sorted(front)
    return {
        arm: [answer[i] for i in np.flatnonzero(beats)]
        for arm, beats in zip(rejected, _beats(means[answer], means[rejected]).T, strict=True)
    }


def _beats(some: FloatArray, others: FloatArray) -> BoolArray:
    """``[i, j]``: whether the first i dominates the other j; what was not measured (NaN) neither dominates nor is dominated."""
    with np.errstate(invalid="ignore"):
        as_good, not_worse = weakly_dominates(some, others), weakly_dominates(others, some).T
    return np.asarray(as_good & ~not_worse)


def _how_sure(
    state: State, front: set[int], rehearsals: int
) -> tuple[dict[int, float], Certainty, Rehearsal | None, Estimates | None]:
    """The probability of each option, that of the answer, the rehearsal, and what they come from."""
    definition = state.definition
    present = state.present
    if not present:
        return {}, Certainty(None, None, 0, "No option is left."), None, None
    if len(present) == 1:
        right = float(front == set(present))
        alone = Certainty(right, (right, right), 0, "A single option is Pareto-optimal without any measurement.")
        return {present[0]: 1.0}, alone, None, None
    try:
        estimates = state.estimates(present)
    except NotReady as reason:
        return {}, Certainty(None, None, 0, capital(str(reason))), None, None
    answer = np.array([arm in front for arm in present])
    shares, certainty = resample(estimates, answer, max_arms=definition.choice.max_arms)
    rehearsal = rehearse(definition, estimates, state.budget, rehearsals, scale=state.widths()) if rehearsals else None
    return dict(zip(present, shares.tolist(), strict=True)), certainty, rehearsal, estimates


def _by_metric(metrics: Iterable[str], values: Any) -> dict[str, float | None]:
    return {name: None if np.isnan(value) else float(value) for name, value in zip(metrics, values, strict=True)}


def _notes(state: State) -> Iterable[str]:
    for arm, why in state.retired.items():
        yield f"{state.definition.options[arm]!r} was retired: {why}"
    if voided := getattr(state, "voided", ()):
        numbers = ", ".join(map(str, voided))
        plural = "measurements" if len(voided) > 1 else "measurement"
        yield f"{plural} {numbers} left the means after the round was closed; what was decided with them stands."
    if len(state.definition.options) == 1:
        yield "a single option is Pareto-optimal without any measurement."
    elif state.done:
        for name, count in zip(state.definition.options, state.counts, strict=True):
            if count == 0 and state.definition.options.index(name) not in state.retired:
                yield f"{name!r} has no measurement left; what was decided about it stands."
    if state.kept:
        plural = "measurements" if state.kept > 1 else "measurement"
        yield f"{state.kept} {plural} more than asked for: kept, and counted if their options become due."
    if state.failed:
        yield f"{counted(state.failed, 'attempt')} to measure failed."
    noise = state.noise()
    for metric, width in zip(state.definition.metrics, noise, strict=True):
        if width == 0 and not metric.exact:
            yield f"{metric.name!r} never varied between repeats; if it cannot, declare it exact, and the others decide sooner."


def _surprises(definition: Definition, means: FloatArray, front: set[int], unbeaten: Iterable[int]) -> Iterable[str]:
    """Where means as they are by now contradict what was decided: who dominated was retired, or means have moved since.

    Policies that decide nothing beforehand answer by chances, and not by the means alone.
    """
    decided = not definition.choice.extendable
    for arm in unbeaten:
        if not np.isnan(means[arm]).any():
            name = definition.options[arm]
            if decided:
                yield f"{name!r} was found to be dominated, and as measured by now no option of the answer dominates it."
            else:
                yield f"{name!r} is left out: as measured no option is ahead of it in every metric, but most likely one is."
    answer = sorted(front)
    for arm, beats in zip(answer, _beats(means[answer], means[answer]).T, strict=True):
        if beats.any():
            name, other = definition.options[arm], definition.options[answer[int(np.argmax(beats))]]
            if decided:
                yield f"{name!r} was found to be Pareto-optimal, and as measured by now {other!r} dominates it."
            else:
                yield f"{name!r} stays in: {other!r} is ahead of it as measured, but not surely enough to leave it out."
