"""Whether a study has reached its aim: what its log says, whoever looks, and however often others have looked before.

It takes a moment to find out, so it is looked at when there are 5% more measurements than the last time (``last_look``), and at
once when anything else has changed the data, the options or the aim. The aim is reached if the data were sure enough then and,
with what has come in since, still are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paretopick.errors import NotReady
from paretopick.estimates import Estimates
from paretopick.metrics import Metric
from paretopick.studies.aims import Aim, width_of
from paretopick.studies.certainty import Judgement, judge
from paretopick.studies.state import State

REPEATS = 20
"""Measurements beyond the first of each option, from which the noise is known, that a study must have to stop.

Without it, and without ``aims.LESS``, fewer of the studies that stopped were right than they said (docs/decisions.md)."""

REMEMBERED = 8
"""So many looks are remembered, the newest ones."""


def is_reached(aim: Aim, judgement: Judgement, metrics: Sequence[Metric]) -> bool:
    """Returns whether what is known of the options is as sure as was aimed for."""
    if not aim.is_set or _few_repeats(judgement.estimates):
        return False
    if aim.resolution is None:
        return judgement.cautious_probability >= aim.needed
    found = judgement.cautious_resolution(metrics, aim.needed)
    if found is None:
        return False
    if isinstance(aim.resolution, Mapping):
        return all(found.widths[name] <= width_of(width) for name, width in aim.resolution.items())
    return found.factor <= aim.resolution


def _few_repeats(estimates: Estimates) -> bool:
    """Whether too little is known of the noise, if there is some."""
    return bool(estimates.counts.sum() - len(estimates.counts) < REPEATS and not estimates.exact.all())


def nothing_to_compare(state: State) -> bool:
    """Returns whether a single option is left, with no limits to keep: it is the answer, whatever is measured."""
    return len(state.present) == 1 and not state.definition.requirements.limited


def _is_sure(state: State, judgement: Judgement | None) -> bool:
    """Whether exactly these data are as sure as was aimed for; the judgement is about them, if somebody has it already."""
    present, first = state.present, getattr(state.policy, "initial", 2)
    if min((state.counts[arm] for arm in present), default=0) < first:
        return False
    if nothing_to_compare(state):
        return True
    try:
        required, enough = state.definition.requirements, state.aim.needed
        judgement = judgement or judge(state.estimates(present), required=required, enough=enough)
    except NotReady:
        return False
    return is_reached(state.aim, judgement, state.definition.metrics)


class Looks:
    """Whether a study has reached its aim; what was seen is remembered by the place in the log, which decides it.

    Threads may share it: none of them can put what it has seen of older data in the place of what is seen of newer ones.
    """

    def __init__(self) -> None:
        self._seen: dict[int, bool] = {}
        """By the position of the last event."""

    def known(self, state: State) -> bool | None:
        """Returns whether the aim is reached, None if one has to look."""
        if not state.aim.is_set:
            return False
        if state.at_last_look is not None:
            before = self._seen.get(state.at_last_look[0])
            if not before:
                return before
        return self._seen.get(state.position)

    def reached(self, state: State, judgement: Judgement | None = None) -> bool:
        """Returns whether the aim is reached, and looks if need be.

        Args:
            state: which nobody changes meanwhile.
            judgement: of its data, if somebody has it already.
        """
        if (known := self.known(state)) is not None:
            return known
        if state.at_last_look is not None:
            before = state.when_last_looked_at()
            if not self._look(before, None):
                return False
        return self._look(state, judgement)

    def _look(self, state: State, judgement: Judgement | None) -> bool:
        sure = self._seen.get(state.position)
        if sure is None:
            sure = _is_sure(state, judgement)
            seen = self._seen | {state.position: sure}
            self._seen = {position: seen[position] for position in sorted(seen)[-REMEMBERED:]}
        return sure
