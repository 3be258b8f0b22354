"""doubt: an anytime policy that measures where one more measurement removes most doubt about who is optimal; not in the paper."""

from __future__ import annotations

import numpy as np

from paretopick._arrays import BoolArray, FloatArray, IntArray
from paretopick._doubting import SINGLE, missing
from paretopick.policies.anytime import Anytime
from paretopick.policies.pair_tables import PairTables
from paretopick.policies.pairs import Pairs
from paretopick.policies.pairs_within import PairsWithin
from paretopick.theory.requirements import Requirements


class Doubt(Anytime):
    """Pulls the arm whose next pull is expected to remove most doubt about the statuses of all arms.

    It needs neither the budget nor the noise nor the complexity: it learns the noise of every arm from its pulls. Its answer is
    who is more likely optimal than not, going by the most likely dominator. A batch updates the counts alone.

    With margins or limits it asks instead who keeps the limits, whom another one outdoes, and whom another one covers
    (``theory.requirements``): nothing is spent on differences that do not matter, and little on arms that break a limit for sure.
    Nobody may be left then, and the answer is empty. If pulls cost more for some arms than for others (``charge``), scores are
    divided by these costs.

    An arm that was pulled 64 times or more gets several pulls in a row, its turn: 2, from 128 on 4, from 256 on 8, and so forth,
    at most a thirty-second of what it has. Nobody has to choose in between. Turns end at certain counts, so that the next arm is
    still a function of the data.
    """

    keeps_squares = True

    def __init__(self, *, n_arms: int, n_objectives: int, budget: int | None, batch: int, initial: int) -> None:
        super().__init__(n_arms=n_arms, n_objectives=n_objectives, budget=budget, batch=batch, initial=initial)
        self._pairs: PairTables | None = None
        self._paired: IntArray = np.empty(0, dtype=np.int64)
        """The arms that ``_pairs`` are about: those that are not retired."""

    def require(self, required: Requirements) -> None:
        """Says which differences matter and which limits arms must keep, in all decisions to come; see ``Policy.require``."""
        super().require(required)
        self._pairs = None

    def _choose(self, size: int, out: IntArray) -> IntArray:
        due = np.zeros(self.n_arms, dtype=np.int64)
        active = self._known
        costs = None if self._costs is None else self._costs[active] / self._costs[active].min()
        pairs: PairTables | None = None
        while size > 0:
            counts = (self._counts + out + due)[active]
            arm = self._in_turn(counts)
            if arm is not None:
                n = min(missing(int(counts[arm])), size)
            else:
                if pairs is None:
                    pairs = self._up_to_date(active)
                if due.any() or out.any():
                    pairs.count(counts)
                arm, n = pairs.choice(costs), 1
            due[active[arm]] += n
            size -= n
        return due

    def _in_turn(self, counts: IntArray) -> int | None:
        """The arm that goes on, so that nobody has to choose."""
        return in_turn(counts)

    def _up_to_date(self, active: IntArray) -> PairTables:
        """The relations between the active arms as they are now: those of before where few have changed."""
        data = (self._counts, self.means, self._squares)
        if len(active) < self.n_arms:
            data = (data[0][active], data[1][active], data[2][active])
        if self._pairs is not None and len(active) == len(self._paired) and (active == self._paired).all():
            self._pairs.update(*data)
        else:
            self._pairs, self._paired = _pairs_of(*data, self._required), active
        return self._pairs

    def _judged(self, active: IntArray) -> PairTables:
        """The relations between the active arms, found anew."""
        return _pairs_of(self._counts[active], self.means[active], self._squares[active], self._required)

    def recommend(self) -> IntArray:
        """Returns the arms that are more likely optimal than not, sorted: the empirical Pareto set, but for arms on its edge.

        Those below it stay in if their most likely dominator is no more likely than not; those of it are left out if another one
        of it is above them with odds of more than 2. With limits nobody may be left.
        """
        front = super().recommend()  # refuses where an arm has no pulls yet
        active = np.flatnonzero(~self._retired)
        if self._required.limited:
            self._check_told(active)
        elif len(active) < 2:
            return front
        return active[self._judged(active).answer] if len(active) else active

    def _latest_doubt(self) -> FloatArray:
        doubt = np.full(self.n_arms, np.nan)
        active = np.flatnonzero(~self._retired)
        if len(active) and self._counts[active].all():
            doubt[active] = self._judged(active).doubt
        return doubt


def in_turn(counts: IntArray) -> int | None:
    """Returns the arm that is in the middle of its turn, if it is the only one: it goes on, and nobody has to choose.

    Turns are read off the counts alone. Data that come from elsewhere may leave several arms there; none of them goes first then.
    """
    if counts.max() < SINGLE:
        return None
    steps = 1 << np.frexp(counts // SINGLE)[1].astype(np.int64)
    open_ = (counts % steps).nonzero()[0]
    return int(open_[0]) if len(open_) == 1 else None


def likely_optimal(counts: IntArray, sums: FloatArray, squares: FloatArray, *, required: Requirements | None = None) -> BoolArray:
    """Returns the answer that ``doubt`` gives to data, however they came about: a mask of the arms.

    Args:
        counts: ``(n_arms,)`` pulls of each arm, at least one.
        sums: ``(n_arms, n_objectives)``, of the observations of each arm.
        squares: of their deviations from their means, likewise.
        required: which differences matter, and which limits arms must keep; by default all, and none.
    """
    return _pairs_of(counts, sums / counts[:, None], squares, required or Requirements.none(sums.shape[1])).answer


def _pairs_of(counts: IntArray, means: FloatArray, squares: FloatArray, required: Requirements) -> PairTables:
    """The relations between arms that have these data."""
    return Pairs(counts, means, squares) if required.is_plain else PairsWithin(counts, means, squares, required)
