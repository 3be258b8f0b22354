"""``doubt`` for pulls that share blocks: the n-th pull of every arm has something in common with the n-th of all others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import FloatArray, IntArray, check_flag, check_integer, check_table
from paretopick._blocks import Blocked
from paretopick.errors import InvalidInput
from paretopick.policies.anytime import check_batches, with_requirements
from paretopick.policies.doubt import Doubt
from paretopick.policies.pair_tables import PairTables
from paretopick.policies.paired import BlockModel, paired_tables


class PairedDoubt(Doubt):
    """Pulls where the next pull removes most doubt, if pulls of different arms in the same block vary together.

    Whoever tells pull after pull tells the blocks by their order: the n-th pull of an arm is in block n, and one that was taken
    back is made again in its block. Differences between arms that were pulled in the same blocks are known better than either
    mean, so pulls that complete a block others have are worth more. Nobody gets several pulls in a row.

    What blocks have in common is estimated from the pulls; if it is nothing, this is ``doubt`` but for the turns.
    """

    def __init__(self, *, n_arms: int, n_objectives: int, budget: int | None, batch: int, initial: int) -> None:
        super().__init__(n_arms=n_arms, n_objectives=n_objectives, budget=budget, batch=batch, initial=initial)
        self._rows: list[dict[int, FloatArray]] = [{} for _ in range(self.n_arms)]
        """What each arm gave, by block; unless somebody else keeps the data."""
        self._before = self._counts.copy(), self._sums.copy(), self._squares.copy()
        """What was known before, of which the blocks are not known."""
        self._blocked: Blocked | None = None
        self._numbers: IntArray | None = None

    def pair(self, blocked: Blocked, numbers: IntArray | None) -> None:
        """Says in which blocks the data are that ``restate`` gave; until then they are in no blocks.

        Args:
            blocked: the same data by block, larger is better.
            numbers: of the blocks, ascending, if the next pull of an arm will be in the lowest one that it lacks; None if nobody
                knows in which it will be.
        """
        self._blocked, self._numbers, self._pairs = blocked, numbers, None

    # The data.

    def _add(
        self, arms: IntArray, values: FloatArray, told: IntArray, sums: FloatArray | None, squares: FloatArray | None
    ) -> None:
        super()._add(arms, values, told, sums, squares)
        for arm, row in zip(arms.tolist(), values, strict=True):
            taken = self._rows[arm]
            block = int(self._before[0][arm])
            while block in taken:
                block += 1
            taken[block] = row.copy()
        self._changed()

    def _remove(self, arm: int, row: FloatArray, sums: ArrayLike | None, squares: ArrayLike | None) -> None:
        block = next((block for block, kept in reversed(self._rows[arm].items()) if (kept == row).all()), None)
        if block is None:
            raise InvalidInput(f"arm {arm} was never told {row.tolist()}, and blocks have to be known; take back what was told.")
        super()._remove(arm, row, sums, squares)
        del self._rows[arm][block]
        self._changed()

    def _take(self, n: IntArray, totals: FloatArray, spread: FloatArray | None) -> None:
        super()._take(n, totals, spread)
        self._rows = [{} for _ in range(self.n_arms)]
        self._before = self._counts.copy(), self._sums.copy(), self._squares.copy()
        self._changed()

    def _rescale(self, widths: ArrayLike | None) -> None:
        super()._rescale(widths)
        self._pairs = None

    def _grow(self, more: int) -> None:
        super()._grow(more)
        self._rows += [{} for _ in range(more)]
        counts, sums, squares = self._before
        zeros = np.zeros((more, self.n_objectives))
        self._before = np.append(counts, np.zeros(more, dtype=np.int64)), np.vstack((sums, zeros)), np.vstack((squares, zeros))
        self._changed()

    def _changed(self) -> None:
        self._blocked = self._numbers = self._pairs = None

    def _by_block(self) -> tuple[Blocked, IntArray | None]:
        """The data by block, and the numbers of the blocks."""
        if self._blocked is None:
            told = [(arm, block, row) for arm, rows in enumerate(self._rows) for block, row in rows.items()]
            blocks = np.array([block for _, block, _ in told], dtype=np.int64)
            self._numbers, places = np.unique(blocks, return_inverse=True)
            rows = np.array([row for *_, row in told]).reshape(-1, self.n_objectives)
            arms = np.array([arm for arm, *_ in told], dtype=np.int64)
            found = Blocked.of(arms, places.reshape(-1), rows, n_options=self.n_arms)
            counts, sums, squares = self._before
            n = np.repeat(counts[:, None], self.n_objectives, axis=1)
            self._blocked = Blocked(
                found.counts, found.means, found.squares, n, sums / np.maximum(n, 1), np.maximum(squares, 0.0)
            )
        return self._blocked, self._numbers

    # The relations.

    def _in_turn(self, counts: IntArray) -> int | None:
        return None

    def _up_to_date(self, active: IntArray) -> PairTables:
        if self._pairs is None or len(active) != len(self._paired) or (active != self._paired).any():
            self._pairs, self._paired = self._judged(active), active
        self._pairs.count(self._counts[active])
        return self._pairs

    def _judged(self, active: IntArray) -> PairTables:
        blocked, numbers = self._by_block()
        some, kept = blocked.of_options(active)
        means = np.nan_to_num(self.means[active])
        model = BlockModel(some, self._counts[active], self._exact, means, None if numbers is None else numbers[kept])
        return paired_tables(model, self._required)

    # Saving.

    def _more_state(self) -> dict[str, Any]:
        rows = [[[block, row.tolist()] for block, row in sorted(rows.items())] for rows in self._rows]
        return super()._more_state() | {"rows": rows, "before": [part.tolist() for part in self._before]}

    def _load_more(self, state: Mapping[str, Any]) -> None:
        super()._load_more(state)
        if len(state["rows"]) != self.n_arms:
            raise InvalidInput(f"there are rows of {len(state['rows'])} arms; expected {self.n_arms}.")
        self._rows = [
            {
                check_integer(block, "block", minimum=0): check_table([row], "rows", columns=self.n_objectives)[0]
                for block, row in rows
            }
            for rows in state["rows"]
        ]
        counts, sums, squares = state["before"]
        self._before = (
            self._whole_numbers(counts, "before", "the pulls of which the blocks are not known"),
            check_table(sums, "before", columns=self.n_objectives),
            check_table(squares, "before", columns=self.n_objectives),
        )
        self._changed()


def doubt(
    *,
    n_arms: int,
    n_objectives: int,
    budget: int | None = None,
    batch: int = 1,
    initial: int = 2,
    margins: Any = None,
    limits: Any = None,
    paired: bool = False,
) -> Doubt | PairedDoubt:
    """Anytime: pulls where the next pull removes most doubt; stop whenever you like, or at the budget (docs/policies.md).

    Args:
        budget: None never ends.
        batch: pulls handed out at once.
        initial: pulls of every arm to start with; 5 if the first ones may be far off.
        margins: for each objective the smallest difference that matters, or None if arms are not compared in it.
        limits: for each objective the least that an arm must have, or None.
        paired: whether the n-th pulls of all arms share what makes them vary: the same question, split or seed.
    """
    size, start = check_batches(n_arms=n_arms, budget=budget, batch=batch, initial=initial)
    kind = PairedDoubt if check_flag(paired, "paired") else Doubt
    made = kind(n_arms=n_arms, n_objectives=n_objectives, budget=budget, batch=size, initial=start)
    return with_requirements(made, margins, limits)
