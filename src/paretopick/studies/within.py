"""The answer within margins and limits: which options to keep, so that it is most likely right in all that matters.

Margins leave a choice: of two options that are nearly equal either will do, and an option that another covers can be left out. An
answer is right if nobody in it is outdone and everybody outside is covered (``theory/requirements.py``); of the true means only
draws are known, so the answer is the set that is right in most of them, as far as a search finds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick.theory.dominance import weakly_dominates
from paretopick.theory.requirements import Requirements, beats, covers, feasible, worth_keeping

PASSES = 5
"""Of the search, option by option."""

HARDLY = 0.005
"""What the answer may lose in probability by leaving out an option that a member of it beats, however likely it is right then."""


@dataclass(frozen=True, eq=False)
class Within:
    """An answer within margins and limits, and what is counted in the draws."""

    answer: BoolArray
    """``(n_options,)``"""
    right: BoolArray
    """``(n_draws,)``: whether the answer is right within the margins."""
    worth: FloatArray
    """``(n_options,)``: the share of draws in which an option keeps the limits and nobody who keeps them outdoes it."""
    feasible: FloatArray
    """``(n_options,)``: the share of draws in which it keeps all limits."""
    wrong: FloatArray
    """``(n_options,)``: the share of draws in which the answer has it on the wrong side: in it and not worth keeping, or outside
    though it keeps the limits and no member covers it."""
    beaten: BoolArray
    """``(n_options,)``: the members that another member most likely beats: the answer may be longer than it needs to be."""


def answer_within(sets: FloatArray, required: Requirements, *, enough: float = 1.0, others: Iterable[FloatArray] = ()) -> Within:
    """Returns the answer that is right within margins and limits in as many draws as can be found, without what it can spare.

    Args:
        sets: ``(n_draws, n_options, n_metrics)`` of what the true means may be, larger is better.
        required: which differences matter, and which limits options must keep.
        enough: members that another member beats are left out as long as the answer is right in such a share of the draws.
        others: other draws of what the true means may be, in which that must hold, too.
    """
    search = _Search(sets, required)
    search.settle()
    search.improve()
    search.leave_out_beaten(enough, [_Search(draws, required, search.answer) for draws in others])
    return search.found()


def judged_within(sets: FloatArray, required: Requirements, answer: BoolArray) -> Within:
    """Returns the same of an answer that is given."""
    return _Search(sets, required, answer).found()


class _Search:
    """An answer that changes, and who is covered by it in each draw."""

    def __init__(self, sets: FloatArray, required: Requirements, answer: BoolArray | None = None) -> None:
        self.able = feasible(sets, required)
        self.worth = worth_keeping(sets, required)
        self.shares = self.worth.mean(axis=0)
        self.covers = covers(sets, sets, required)
        middle = sets.mean(axis=0)
        self.beats = beats(middle, middle, required)
        self.behind = self.beats & weakly_dominates(middle[:, required.compared], middle[:, required.compared])
        """``[j, i]``: whether j beats i, and i is nowhere better, on average over the draws."""
        self.answer: BoolArray = self.shares >= 0.5 if answer is None else answer.copy()
        self.members = self.counted()
        """``(n_draws, n_options)``: by how many of the answer each option is covered."""

    def counted(self) -> IntArray:
        return np.asarray(self.covers[:, self.answer].sum(axis=1, dtype=np.int32))

    def _toggle(self, option: int) -> None:
        joins = not self.answer[option]
        self.answer[option] = joins
        self.members += np.where(self.covers[:, option], 1 if joins else -1, 0)

    def uncovered(self, option: int) -> float:
        """In which share of the draws nobody else in the answer covers an option that keeps the limits."""
        own = 1 if self.answer[option] else 0  # options cover themselves
        return float((self.able[:, option] & (self.members[:, option] == own)).mean())

    def settle(self) -> None:
        """Puts each option on the side where it is less likely wrong, the unlikeliest members first."""
        for _ in range(PASSES):
            before = self.answer.copy()
            for option in np.argsort(self.shares, kind="stable").tolist():
                if self.answer[option] and self.uncovered(option) < 1.0 - self.shares[option]:
                    self._toggle(option)
            for option in np.argsort(-self.shares, kind="stable").tolist():
                if not self.answer[option] and self.uncovered(option) > 1.0 - self.shares[option]:
                    self._toggle(option)
            if (self.answer == before).all():
                break

    def improve(self) -> None:
        """Takes in or leaves out one option after the other, as long as the answer is then right in more draws."""
        for _ in range(len(self.answer)):
            now = int(self.right().sum())
            then = [self._right_after(option) for option in range(len(self.answer))]
            best = int(np.argmax(then))
            if then[best] <= now:
                break
            self._toggle(best)

    def leave_out_beaten(self, enough: float, others: Sequence[_Search]) -> None:
        """Leaves out members that another member beats, the surest to be covered first, while the answer stays likely right.

        Nobody may outdo them, if all are equal in one metric; they are not worth keeping all the same. Those that are nowhere
        better are left out if they are more likely covered than not.
        """
        uncovered = [self.uncovered(option) for option in range(len(self.answer))]
        for option in np.argsort(uncovered, kind="stable").tolist():
            if not self.answer[option] or not (self.beats[:, option] & self.answer).any():
                continue
            is_behind = (self.behind[:, option] & self.answer).any() and self.uncovered(option) < 0.5
            if is_behind or all(each.can_spare(option, enough) for each in (self, *others)):
                for each in (self, *others):
                    each._toggle(option)

    def can_spare(self, option: int, enough: float) -> bool:
        """Whether the answer is likely right without a member: as likely as is enough, or hardly less than with it."""
        least = min(self.right().sum() - HARDLY * len(self.able), enough * len(self.able))
        return bool(self._right_after(option) >= max(least, 1))

    def right(self) -> BoolArray:
        """In which draws the answer is right."""
        kept = (self.worth | ~self.answer).all(axis=1)
        return np.asarray(kept & ((self.members > 0) | ~self.able).all(axis=1))

    def _right_after(self, option: int) -> int:
        """In how many draws it would be, with an option on the other side."""
        joins = not self.answer[option]
        others = self.answer.copy()
        others[option] = joins
        kept = (self.worth | ~others).all(axis=1)
        rows = np.flatnonzero(kept)
        if not len(rows):
            return 0
        step = np.where(self.covers[rows, option], 1 if joins else -1, 0)
        return int(((self.members[rows] + step > 0) | ~self.able[rows]).all(axis=1).sum())

    def found(self) -> Within:
        outside = (self.able & (self.members == 0)).mean(axis=0)
        wrong = np.where(self.answer, 1.0 - self.shares, outside)
        beaten = np.zeros(len(self.answer), dtype=np.bool_)
        for option in np.flatnonzero(self.answer):
            by = np.flatnonzero(self.beats[:, option] & self.answer)
            beaten[option] = (self.covers[:, by, option].mean(axis=0) >= 0.5).any()
        return Within(self.answer, self.right(), self.shares, self.able.mean(axis=0), wrong, beaten)
