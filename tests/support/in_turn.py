"""The plainest anytime policy, which keeps squared deviations: for tests of what such policies share."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

import paretopick as pp
from paretopick.policies.anytime import Anytime, check_batches


class InTurn(Anytime):
    """Pulls the arm with the fewest pulls next."""

    keeps_squares = True

    def _choose(self, size, out):
        due = np.zeros_like(self._due)
        for _ in range(size):
            due[np.where(self._retired, np.inf, self._counts + due).argmin()] += 1
        return due


def in_turn(*, n_arms: int, n_objectives: int, budget: int | None = None, batch: int = 1, initial: int = 2) -> InTurn:
    """One of them, with options as others have them."""
    size, start = check_batches(n_arms=n_arms, budget=budget, batch=batch, initial=initial)
    return InTurn(n_arms=n_arms, n_objectives=n_objectives, budget=budget, batch=size, initial=start)


@contextmanager
def registered() -> Iterator[None]:
    """Makes it known as "in-turn" for a while."""
    pp.POLICIES["in-turn"] = in_turn
    try:
        yield
    finally:
        del pp.POLICIES["in-turn"]
