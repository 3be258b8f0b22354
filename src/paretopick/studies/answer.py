"""The answer of a study: from its state to what it says about its options."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from paretopick._arrays import BoolArray, FloatArray
from paretopick._words import capital, counted, listed, quoted
from paretopick.errors import NotReady
from paretopick.studies.baselines import ComparedWithBaseline, compare_with
from paretopick.studies.beating import beaten
from paretopick.studies.certainty import Certainty, Judgement, Rehearsal, judge, rehearse
from paretopick.studies.coins import taken_for_coins
from paretopick.studies.data import StudyData, data_of
from paretopick.studies.definition import Definition
from paretopick.studies.differences import Beaten
from paretopick.studies.pages import may_be_shorter
from paretopick.studies.resolution import Resolution
from paretopick.studies.result import OptionResult, ParetoResult, Status
from paretopick.studies.sharing import shared_noise
from paretopick.studies.state import State
from paretopick.studies.stopping import Looks, nothing_to_compare
from paretopick.theory.dominance import weakly_dominates

FEW_DRAWS = 400
"""Of the true means, for a guess."""

LEVEL = 0.95
"""What is at least so probable is called sure."""


def result_of(
    study: str,
    state: State,
    *,
    looks: Looks,
    sure: bool = True,
    rehearsals: int = 0,
    level: float = LEVEL,
    baseline: str | None = None,
) -> ParetoResult:
    """Returns what a state says about the options now.

    Args:
        study: its name.
        state: of the study.
        looks: of the study, whether its aim is reached.
        sure: whether to look at all that takes a moment: who beats whom, who is nearly equal, the next step.
        rehearsals: how often to simulate the same study at the means as measured.
        level: how probable a status must be to be called sure.
        baseline: the option to compare with, if it is another one than that of the study.
    """
    definition, said = state.definition, _said(state, level)
    means, signed = _means(state, said)
    compared = signed[:, definition.requirements.compared]
    dominators = _dominators(compared, said.front, [arm for arm in state.present if arm not in said.front])
    beaten_by = said.beaten(definition) if sure else {}
    judgement = said.judgement
    intervals = (
        {} if judgement is None else dict(zip(said.present, _intervals(judgement, definition, means[said.present]), strict=True))
    )
    counts = state.counts
    errors = _errors(state, judgement, said.present)
    errors[:, definition.is_exact] = 0.0
    errors[:, definition.logged] *= means[:, definition.logged]
    names, left_in = definition.options, _left_in(state)
    stopped = _stopped(state, said, looks)
    estimates = None if judgement is None else judgement.estimates
    sharing = shared_noise(definition.pairing, estimates, state.block_names(said.present), definition.metrics)
    return ParetoResult(
        study_name=study,
        done=state.done or stopped is not None,
        answer=tuple(names[arm] for arm in sorted(said.front)),
        options=tuple(
            OptionResult(
                option=name,
                status=said.status(arm) if arm not in state.retired else "retired",
                dominated_by=tuple(names[other] for other in dominators.get(arm, ())),
                probability=said.chances.get(arm),
                measurements=int(counts[arm]),
                means=_by_metric(definition.goals, means[arm]),
                standard_errors=_by_metric(definition.goals, np.where(counts[arm], errors[arm], np.nan)),
                intervals=dict(zip(definition.goals, intervals[arm], strict=True))
                if arm in intervals
                else dict.fromkeys(definition.goals),
                left_in_round=left_in.get(arm),
                in_answer=arm in said.front,
                settings=dict(definition.settings[arm]),
                beaten_by=beaten_by.get(arm),
                **said.more_of(arm, definition),
            )
            for arm, name in enumerate(names)
        ),
        certainty=said.certainty,
        rehearsal=_rehearsal(state, judgement, rehearsals),
        metric_records=definition.metrics,
        correlation=None if judgement is None else tuple(map(tuple, judgement.estimates.correlation.tolist())),
        policy=definition.policy,
        budget=state.budget,
        used=state.used,
        round=state.round,
        notes=(
            *_notes(state),
            *_deciding_nothing(state),
            *_contradictions(state, said),
            *_surprises(definition, compared, said),
            *_cautions(judgement),
            *(() if sharing is None else sharing.far),
        ),
        is_part=definition.choice.max_arms is not None,
        level=level,
        alike=said.near_equals(definition) if sure else (),
        resolution=_resolution(definition, judgement),
        stopped=stopped,
        spent=state.spent,
        look_ahead=_look_ahead(state, said) if sure else None,
        sharing=sharing,
        compared_with_baseline=_compared_with_baseline(state, said, baseline) if sure else None,
    )


def _means(state: State, said: _Said) -> tuple[FloatArray, FloatArray]:
    """The means of all options in the units of the user, and as they are compared, larger is better.

    Where measurements share blocks these are taken out of them, or an option that was measured in good blocks would look good.
    """
    means, compared = state.means(), state.compared_means()
    if said.judgement is not None and (sharing := said.judgement.estimates.sharing) is not None:
        for at in np.flatnonzero(sharing.stds > 0):
            known = said.judgement.estimates.means[:, at]
            compared[said.present, at] = np.clip(known, 0.0, 1.0) if said.judgement.estimates.binary[at] else known
            means[:, at] = state.definition.metrics[at].unscaled(compared[:, at])
    return means, compared * state.definition.signs


def _errors(state: State, judgement: Judgement | None, present: list[int]) -> FloatArray:
    """Standard errors of the means as they are compared: of each option's own measurements, but where they share blocks."""
    errors = np.sqrt(state.variances() / np.maximum(state.sums.known, 1))
    if judgement is not None and (sharing := judgement.estimates.sharing) is not None:
        estimates = judgement.estimates
        shared = np.sqrt(np.square(estimates.stds) / np.maximum(estimates.known, 1) + sharing.variances)
        errors[present] = np.where((sharing.stds > 0) & (estimates.known > 0), shared, errors[present])
    return errors


def _stopped(state: State, said: _Said, looks: Looks) -> str | None:
    """Why it ended before its budget was spent: it is as sure as it was to be, or there is nothing to be found out."""
    if state.done or not looks.reached(state, said.judgement):
        return None
    if nothing_to_compare(state):
        return f"It is done: {quoted(state.definition.options[arm] for arm in state.present)} is the only option that is left."
    return f"It is {state.aim.text}, as was asked for: {counted(state.used, 'measurement')} were enough."


def _intervals(judgement: Judgement, definition: Definition, means: FloatArray) -> list[list[tuple[float, float]]]:
    """Of every option and metric, in the units of the user; those of exact metrics are their values."""
    ends = judgement.estimates.intervals()
    for at, metric in enumerate(definition.metrics):
        ends[:, at] = means[:, [at]] if metric.exact else metric.unscaled(ends[:, at])
    return [[(low, high) for low, high in row] for row in ends.tolist()]


def _compared_with_baseline(state: State, said: _Said, baseline: str | None) -> ComparedWithBaseline | None:
    """How options compare with what is used today, if that was said."""
    definition = state.definition
    name = definition.baseline if baseline is None else baseline
    if name is None:
        return None
    retired = definition.arm(name) in state.retired
    why_not = "it is retired." if retired else "there are too few measurements."
    present = [definition.options[arm] for arm in said.present]
    return compare_with(name, said.judgement, present, definition.metrics, why_not)


def _resolution(definition: Definition, judgement: Judgement | None) -> Resolution | None:
    """Where no margin is declared, and all Pareto-optimal options are to be found."""
    declared = definition.requirements.margins.any() or definition.choice.max_arms is not None
    return None if judgement is None or declared else judgement.resolution(definition.metrics)


@dataclass(frozen=True)
class _Said:
    """What the measurements say, and what the answer is; options by their numbers in the study."""

    present: list[int]
    front: set[int]
    """The answer, or the best guess."""
    certainty: Certainty
    """That the answer is right."""
    level: float
    chances: dict[int, float] = field(default_factory=dict)
    """Of being Pareto-optimal."""
    judgement: Judgement | None = None
    """None if there is too little to be judged, or nothing."""

    def status(self, arm: int) -> Status:
        """Of an option that was not retired."""
        chance = self.chances.get(arm)
        if chance is None:
            return "open"
        if self.judgement is None:
            return "pareto" if chance >= self.level else "dominated" if chance <= 1.0 - self.level else "open"
        place, judgement = self.present.index(arm), self.judgement
        if judgement.surely_in[place]:
            return "pareto"
        if judgement.surely_out[place]:
            return "infeasible" if judgement.surely_infeasible[place] else "dominated"
        return "open"

    def more_of(self, arm: int, definition: Definition) -> dict[str, Any]:
        """What margins and limits say about an option, as ``OptionResult`` takes it."""
        if self.judgement is None or arm not in self.present:
            return {}
        place, judgement = self.present.index(arm), self.judgement
        limits = judgement.required.limits
        broken = (judgement.draws[:, place] * judgement.estimates.signs < limits).mean(axis=0) >= 0.5
        by_rounds = not definition.choice.roundless or definition.choice.max_arms is not None
        return {
            "worth_keeping": float(judgement.worth[place]),
            "within_limits": float(judgement.feasible[place]) if judgement.required.limited else None,
            "wrong": None if by_rounds else float(judgement.wrong[place]),
            "beyond": tuple(definition.metrics[at].name for at in np.flatnonzero(broken)),
        }

    @property
    def answer_of_the_data(self) -> set[int]:
        """The options that are more likely Pareto-optimal than not, by all measurements."""
        if self.judgement is None:
            return self.front
        return {self.present[place] for place in np.flatnonzero(self.judgement.answer)}

    @property
    def mask(self) -> BoolArray:
        """The answer among the options that are present."""
        return np.array([arm in self.front for arm in self.present])

    def beaten(self, definition: Definition) -> dict[int, Beaten]:
        """Who beats each option outside the answer."""
        if self.judgement is None:
            return {}
        found = beaten(self.judgement, self.mask, [definition.options[arm] for arm in self.present], definition.metrics)
        return {self.present[place]: by for place, by in found.items()}

    def near_equals(self, definition: Definition) -> tuple[tuple[str, ...], ...]:
        """Groups of options that are nearly equal and of which one at least may be Pareto-optimal."""
        if self.judgement is None:
            return ()
        groups = (tuple(self.present[place] for place in group) for group in self.judgement.near_equals())
        kept = (group for group in groups if any(self.status(arm) != "dominated" for arm in group))
        return tuple(tuple(definition.options[arm] for arm in group) for group in kept)


def _said(state: State, level: float) -> _Said:
    """What all measurements say. The answer of a policy with rounds is what it decided, of the others what the data say."""
    definition, present = state.definition, state.present
    by_rounds = not definition.choice.roundless
    if not present:
        return _Said(present, set(), Certainty(None, None, 0, "No option is left."), level)
    if len(present) == 1 and not definition.requirements.limited:
        front = set(state.front()) if by_rounds else set(present)
        right = float(front == set(present))
        alone = Certainty(right, (right, right), 0, "A single option is Pareto-optimal without any measurement.")
        return _Said(present, front, alone, level, {present[0]: 1.0})
    present = _judged(state)
    try:
        estimates = state.estimates(present)
    except NotReady as reason:
        return _Said(present, set(state.front()), Certainty(None, None, 0, capital(str(reason))), level)
    judgement = judge(
        estimates,
        required=definition.requirements,
        level=level,
        max_arms=definition.choice.max_arms,
        enough=state.aim.needed,
    )
    chances = dict(zip(present, judgement.probabilities.tolist(), strict=True))
    if not by_rounds:
        front = {present[place] for place in np.flatnonzero(judgement.answer)}
        return _Said(present, front, judgement.certainty, level, chances, judgement)
    front = set(state.front())
    certainty = judgement.certainty_of(np.array([arm in front for arm in present]))
    return _Said(present, front, certainty, level, chances, judgement)


def quick_guess(state: State) -> list[int]:
    """Returns what the answer looks like, sorted, from fewer draws; where rounds decide, what they say."""
    if state.definition.choice.roundless:
        with suppress(NotReady):
            judged = _judged(state)
            required, enough = state.definition.requirements, state.aim.needed
            judgement = judge(state.estimates(judged), required=required, enough=enough, n_draws=FEW_DRAWS)
            return [judged[place] for place in np.flatnonzero(judgement.answer)]
        return []
    return state.front()


def _judged(state: State) -> list[int]:
    """The options that can be judged: an option that came later does not hide what is known of the others."""
    present, measured = state.present, [arm for arm in state.present if state.counts[arm]]
    some = state.definition.choice.roundless and len(measured) >= 2 and len(present) <= 2 * len(measured)
    return measured if some else present


def _left_in(state: State) -> dict[int, int]:
    """After which round options were not measured any more, where there are rounds."""
    if state.definition.choice.roundless:
        return {}
    return {arm: int(left) for arm, left in enumerate(state.policy.snapshot().left_in) if left}


def _rehearsal(state: State, judgement: Judgement | None, runs: int) -> Rehearsal | None:
    if not runs or judgement is None:
        return None
    return rehearse(state.definition, judgement.estimates, state.budget, runs, scale=state.widths())


def _look_ahead(state: State, said: _Said) -> Callable[[], str | None] | None:
    """What finds out the next step when somebody wants to know; None where some options are enough, or too little is known."""
    if said.judgement is None or state.definition.choice.max_arms is not None:
        return None
    if unseen := [state.definition.options[arm] for arm in state.present if arm not in said.present]:
        return partial(str, f"{quoted(unseen)} {'has' if len(unseen) == 1 else 'have'} to be measured first.")
    probability = said.certainty.probability or 0.0
    target = max(said.level, state.aim.level) if state.aim.is_set else said.level
    spare = [state.definition.options[said.present[place]] for place in np.flatnonzero(said.judgement.beaten)]
    if spare and probability >= target:
        return partial(str, may_be_shorter(spare))
    return partial(_next_step, data_of(state), probability, target)


def _next_step(data: StudyData, present_probability: float, target: float) -> str:
    from paretopick.studies.continuation import continuation_of  # with all that simulations need

    return continuation_of(data, present_probability=present_probability, target=target).next_step


def _dominators(means: FloatArray, front: set[int], others: list[int]) -> dict[int, list[int]]:
    """For every option outside the answer those of it that dominate it as measured by now; maybe none."""
    answer = sorted(front)
    return {
        arm: [answer[i] for i in np.flatnonzero(beats)]
        for arm, beats in zip(others, _beats(means[answer], means[others]).T, strict=True)
    }


def _beats(some: FloatArray, others: FloatArray) -> BoolArray:
    """``[i, j]``: whether the first i dominates the other j; what was not measured (NaN) neither dominates nor is dominated."""
    with np.errstate(invalid="ignore"):
        as_good, not_worse = weakly_dominates(some, others), weakly_dominates(others, some).T
    return np.asarray(as_good & ~not_worse)


def _by_metric(metrics: Iterable[str], values: Any) -> dict[str, float | None]:
    return {name: None if np.isnan(value) else float(value) for name, value in zip(metrics, values, strict=True)}


def _notes(state: State) -> Iterable[str]:
    for arm, why in state.retired.items():
        yield f"{state.definition.options[arm]!r} was retired: {why}"
    if voided := getattr(state, "voided", ()):
        numbers = ", ".join(map(str, voided))
        plural = "measurements" if len(voided) > 1 else "measurement"
        yield f"{plural} {numbers} left the means after the round was closed; what was decided with them stands."
    if len(state.definition.options) == 1 and not state.definition.requirements.limited:
        yield "a single option is Pareto-optimal without any measurement."
    elif state.done or state.definition.choice.roundless:
        for arm in state.present if state.counts.any() else ():
            if state.counts[arm] == 0:
                stands = (
                    "the answer is about the others" if state.definition.choice.roundless else "what was decided about it stands"
                )
                yield f"{state.definition.options[arm]!r} has no measurements; {stands}."
    if state.done and not state.definition.choice.roundless and 0 < state.used < state.budget:
        left = state.budget - state.used
        yield (
            f"{counted(left, 'measurement')} of the budget {'is' if left == 1 else 'are'} left over: in a round all options that "
            "are still in it are measured equally often."
        )
    if state.kept:
        verb = "is" if state.kept == 1 else "are"
        yield f"{counted(state.kept, 'measurement')} more than the rounds have asked for {verb} not in the means (yet)."
    if state.blocks is not None and (alone := int(state.blocks.alone.sum())):
        what = f"{'has' if alone == 1 else 'have'} no {state.definition.pairing}, and {'shares' if alone == 1 else 'share'}"
        yield f"{alone:,} of {counted(state.used, 'measurement')} {what} nothing with others."
    if state.failed:
        yield f"{counted(state.failed, 'attempt')} to measure failed."
    noise, is_binary = state.noise(), state.sums.binary(state.present)
    for at, (metric, width) in enumerate(zip(state.definition.metrics, noise, strict=True)):
        if metric.exact or width != 0:
            continue
        if is_binary[at] and not metric.log:
            yield taken_for_coins(metric.name, int(state.sums.known[state.present, at].max()))
        else:
            yield (
                f"{metric.name!r} never varied between repeats; if it cannot, declare it exact, exact=[{metric.name!r}], and the "
                "others decide sooner."
            )


def _deciding_nothing(state: State) -> Iterable[str]:
    """Metrics by whose margin no two options differ: who outdoes another is better by the margin everywhere, so nobody does."""
    measured = [arm for arm in state.present if state.counts[arm]]
    if len(measured) < 2 or sum(metric.compared for metric in state.definition.metrics) < 2:
        return
    means = state.sums.means()[measured]
    for metric, values in zip(state.definition.metrics, means.T, strict=True):
        if metric.compared and 0 < metric.delta >= np.ptp(values):
            yield (
                f"as measured, no two options differ by more than the margin in {metric.name!r}: it decides nothing, and keeps "
                "all options worth keeping that keep the limits. Leave the metric out, or its margin, in a new study."
            )


def _cautions(judgement: Judgement | None) -> Iterable[str]:
    """Where probabilities are less well calibrated than elsewhere (docs/certainty.md)."""
    if judgement is not None and judgement.caution is not None:
        yield judgement.caution


def _contradictions(state: State, said: _Said) -> Iterable[str]:
    """Where the rounds of a policy have decided otherwise than all measurements together say by now."""
    definition = state.definition
    if definition.choice.roundless or said.judgement is None or definition.choice.max_arms is not None:
        return
    now = state.policy.snapshot()
    decided_in, decided_out = set(now.accepted), set(now.rejected)
    if state.done:
        decided_in, decided_out = said.front, set(said.present) - said.front
    data = said.answer_of_the_data
    for arms, did, likely in (
        (decided_in - data, "kept", "more likely dominated"),
        ((decided_out & set(said.present)) & data, "left out", "more likely Pareto-optimal"),
    ):
        if arms:
            names, verb = listed(definition.options[arm] for arm in sorted(arms)), "is" if len(arms) == 1 else "are"
            yield f"the rounds of {definition.policy} have {did} {names}, which by all measurements together {verb} {likely}."


def _surprises(definition: Definition, means: FloatArray, said: _Said) -> Iterable[str]:
    """Where an answer by all that is known differs from the means alone, for policies that decide nothing beforehand."""
    if not definition.choice.roundless or said.judgement is None or not definition.requirements.is_plain:
        return
    names, answer = definition.options, sorted(said.front)
    outside = [arm for arm in said.present if arm not in said.front]
    unbeaten = [names[arm] for arm, by in _dominators(means, said.front, outside).items() if not by]
    if unbeaten:
        yield f"left out, though as measured no option is ahead in every metric: {listed(unbeaten)}; most likely one is."
    beaten_ones = [names[arm] for arm, by in zip(answer, _beats(means[answer], means[answer]).T, strict=True) if by.any()]
    if beaten_ones:
        yield f"kept in, though as measured another option is ahead in every metric: {listed(beaten_ones)}; that may be chance."
