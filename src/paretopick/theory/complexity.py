"""How hard an instance is, in one number: H, H2, their relaxations, and the quantity of Theorem 1."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from paretopick._arrays import FloatArray
from paretopick._words import short
from paretopick.errors import InvalidInput
from paretopick.theory.gaps import gaps, relaxed_gaps


class Rounds(Protocol):
    """What the theory needs to know about a schedule; ``paretopick.Schedule`` is one."""

    @property
    def active(self) -> tuple[int, ...]:
        """Active arms, round by round, and at the end."""
        ...

    @property
    def pulls(self) -> tuple[int, ...]:
        """New pulls of each active arm, round by round."""
        ...

    @property
    def cumulative(self) -> tuple[int, ...]:
        """Pulls of each active arm by the end of each round."""
        ...


def complexity(means: ArrayLike, /, *, max_arms: int | None = None) -> float:
    """Returns H, the sum of the inverse squared gaps (Section 2); with ``max_arms`` = k, of the k-relaxed gaps.

    About the number of pulls, in units of the noise variance, that the problem takes. Infinite when two optimal arms are
    identical, 0 for one arm.

    >>> complexity([[1.0, 0.0], [0.0, 1.0], [0.0, -0.5]])
    12.0
    >>> complexity([[1.0, 0.0], [1.0, 0.0]])
    inf
    """
    return float(_inverse_squares(_gaps(means, max_arms)).sum())


def complexity_h2(means: ArrayLike, /, *, max_arms: int | None = None) -> float:
    """Returns ``H2 = max_i i / gap_(i)^2`` with gaps in increasing order (Section 4); with ``max_arms`` = k, H2^(k) (Section 5).

    The quantity in the exponents of EGE; ``H2 <= H <= log(2 n_arms) H2``.

    >>> complexity_h2([[1.0, 0.0], [0.0, 1.0], [0.25, -0.5]])
    8.0
    """
    increasing = np.sort(_gaps(means, max_arms))
    with np.errstate(invalid="ignore"):
        return float((np.arange(1, len(increasing) + 1) * _inverse_squares(increasing)).max())


def check_rounds(schedule: Any) -> None:
    """Refuses what is not a schedule."""
    if not all(hasattr(schedule, attribute) for attribute in ("active", "pulls", "cumulative")):
        raise InvalidInput(f"schedule={short(schedule)} is not a schedule; write pp.schedule(NAME, n_arms, budget).")


def effective_budget(means: ArrayLike, schedule: Rounds, /) -> float:
    """Returns ``T~ = min_r n_r gap_(lambda_{r+1} + 1)^2``, what a schedule makes of its budget on these means (Theorem 1).

    Infinite for a schedule without rounds.

    Args:
        means: ``(n_arms, n_objectives)``, larger is better.
        schedule: for the same number of arms.

    >>> from paretopick.schedules import schedule
    >>> round(effective_budget([[0.9], [0.5], [0.1]], schedule("sr", 3, 100)), 2)
    5.92
    """
    increasing = np.sort(gaps(means))
    check_rounds(schedule)
    if schedule.active[0] != len(increasing):
        raise InvalidInput(
            f"the schedule is for {schedule.active[0]} arms and the means are of {len(increasing)}; make it for as many arms."
        )
    left_behind = increasing[np.array(schedule.active[1:], dtype=np.int64)]  # gap_(lambda_{r+1} + 1)
    return float((np.array(schedule.cumulative) * left_behind**2).min(initial=np.inf))


def halvings(n_arms: int, /) -> int:
    """Returns ``ceil(log2 n_arms)``: how often the arms can be halved until one is left."""
    return (n_arms - 1).bit_length()


def _gaps(means: ArrayLike, max_arms: int | None) -> FloatArray:
    return gaps(means) if max_arms is None else relaxed_gaps(means, max_arms=max_arms)


def _inverse_squares(gap: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", over="ignore"):
        return gap**-2.0
