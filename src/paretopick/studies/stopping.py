"""Looking whether a study has reached its aim: a function of its data, looked at every now and then since it takes a moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paretopick.errors import NotReady
from paretopick.estimates import Estimates
from paretopick.metrics import Metric
from paretopick.studies.aims import Aim
from paretopick.studies.certainty import Judgement, judge
from paretopick.studies.state import State

MORE = 0.05
"""It is looked at again after so many more measurements, as a share of those at the last look."""

REPEATS = 20
"""Measurements beyond the first of each option, from which the noise is known, that a study must have to stop."""

LESS = 0.25
"""The doubt that is left must be smaller than was asked for by such a share: whoever looks often sees some luck among the looks.

Without it, and without ``REPEATS``, fewer of the studies that stopped were right than they said (docs/decisions.md)."""


def is_reached(aim: Aim, judgement: Judgement, metrics: Sequence[Metric]) -> bool:
    """Returns whether what is known of the options is as sure as was aimed for."""
    if not aim.is_set or _few_repeats(judgement.estimates):
        return False
    level = aim.level + LESS * (1.0 - aim.level)
    if aim.resolution is None:
        return judgement.cautious_probability >= level
    found = judgement.cautious_resolution(metrics, level)
    if found is None:
        return False
    if isinstance(aim.resolution, Mapping):
        return all(found.widths[name] <= width for name, width in aim.resolution.items())
    return found.factor <= aim.resolution


def _few_repeats(estimates: Estimates) -> bool:
    """Whether too little is known of the noise, if there is some."""
    return bool(estimates.counts.sum() - len(estimates.counts) < REPEATS and not estimates.exact.all())


class Looks:
    """Whether a study has reached its aim, as far as it was looked at.

    A study that has reached it is looked at again whenever its data change: what was in flight, or is taken back or corrected
    later, may open it again.
    """

    def __init__(self) -> None:
        self._used = self._position = -1
        self._reached = False

    def is_due(self, state: State) -> bool:
        """Returns whether it is time to look: some more was measured, and every option often enough."""
        if not state.aim.is_set or state.position == self._position:
            return False
        fewest = getattr(state.policy, "initial", 2)
        if min((state.counts[arm] for arm in state.present), default=0) < fewest:
            self._used, self._reached = -1, False
            return False
        return self._reached or not 0 <= state.used - self._used < max(MORE * self._used, 1.0)

    def look(self, state: State) -> bool:
        """Returns whether the aim is reached, and remembers it.

        Args:
            state: which nobody changes meanwhile.
        """
        present = state.present
        try:
            required = state.definition.requirements
            if len(present) < 2 and not required.limited:
                reached = True
            else:
                reached = is_reached(state.aim, judge(state.estimates(present), required=required), state.definition.metrics)
        except NotReady:
            reached = False
        self._used, self._position, self._reached = state.used, state.position, reached
        return reached

    def reached(self, state: State) -> bool:
        """Returns what the last look said, of a state that is not due to be looked at."""
        return self._reached and state.aim.is_set
