"""Round schedules: how many arms are active in each round, and how often each is pulled (Section 3, Appendix F).

All numbers are exact: floors, ceilings and roots are taken of integers, never of floats.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal, TypeAlias

from paretopick._arrays import LARGEST_BUDGET, check_budget, check_choice, check_integer, check_sequence, check_size
from paretopick.errors import BudgetTooSmall, InvalidInput
from paretopick.theory.complexity import halvings

ScheduleName: TypeAlias = Literal["sr", "sh", "gg", "uniform"]
Spend: TypeAlias = Literal["printed", "all"]
Rounds: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""``active`` and ``pulls`` of a schedule that may not have enough budget to start."""

MOST_ROUNDS = 1000
"""Of a geometric schedule: the numbers behind it have as many digits as a budget multiplied by itself so often."""

_NO_DATA = "round 1 pulls each of the {} arms 0 times, so the first arms would leave without any data"


@dataclass(frozen=True)
class Schedule:
    """A round schedule ``(lambda_1 .. lambda_{R+1}, t_1 .. t_R)``, checked at birth (Eqs. (3) and (4)).

    In round r, ``active[r]`` arms receive ``pulls[r]`` new pulls each, and then all but ``active[r + 1]`` of them leave. Rounds
    without pulls are allowed, except the first: its arms would leave without any data.

    >>> halving = Schedule(active=(20, 10, 1), pulls=(5, 10))
    >>> halving.n_rounds, halving.cumulative, halving.cost
    (2, (5, 15), 200)
    """

    active: tuple[int, ...]
    pulls: tuple[int, ...]

    def __post_init__(self) -> None:
        active = _integers(self.active, "active")
        pulls = _integers(self.pulls, "pulls")
        object.__setattr__(self, "active", active)
        object.__setattr__(self, "pulls", pulls)
        if len(active) != len(pulls) + 1:
            raise InvalidInput(
                f"active has {len(active)} entries and pulls has {len(pulls)}; "
                "active needs one more than pulls: how many arms are left at the end."
            )
        if active[0] < 1:
            raise InvalidInput(f"active starts with {active[0]} arms; it must start with at least 1.")
        for before, after in itertools.pairwise(active):
            if after >= before:
                raise InvalidInput(f"active={_short(active)} goes from {before} to {after}; every round must remove an arm.")
        if active[-1] not in (0, 1):
            raise InvalidInput(f"active={_short(active)} ends with {active[-1]} arms; it must end with 0 or 1.")
        if not _starts(pulls):
            raise InvalidInput(f"{_NO_DATA.format(active[0])}; the first entry of pulls must be at least 1.")

    @property
    def n_arms(self) -> int:
        """K, the number of arms the schedule is for."""
        return self.active[0]

    @property
    def n_rounds(self) -> int:
        """R."""
        return len(self.pulls)

    @cached_property
    def cumulative(self) -> tuple[int, ...]:
        """``n_r``, the pulls that each arm active in round r has had by the end of it."""
        return tuple(itertools.accumulate(self.pulls))

    @cached_property
    def cost(self) -> int:
        """The pulls of all rounds and arms together."""
        return _cost(self.active, self.pulls)


def schedule(name: ScheduleName, n_arms: int, budget: int, *, spend: Spend = "printed", n_rounds: int | None = None) -> Schedule:
    """Returns a schedule of the paper for ``n_arms`` arms whose cost is at most ``budget``.

    Args:
        name: ``"sr"`` Successive Rejects, ``"sh"`` Sequential Halving, ``"gg"`` geometric, ``"uniform"``.
        n_arms: K, at least 1.
        budget: T. A budget too small for one pull of every arm is refused, and the error names the smallest that works.
        spend: ``"printed"`` is the schedule of the paper, which leaves some of the budget over (``gg`` about half); ``"all"`` is
            the one printed for the largest nominal budget whose cost still fits ``budget``.
        n_rounds: of ``gg`` only; by default ``ceil(log2 n_arms)``.

    >>> schedule("sh", 20, 1000)
    Schedule(active=(20, 10, 5, 3, 2, 1), pulls=(10, 20, 40, 66, 100))
    >>> schedule("gg", 20, 1000).cost, schedule("gg", 20, 1000, spend="all").cost
    (451, 998)
    """
    K, _ = check_size(n_arms)
    T = check_budget(budget)
    check_choice(spend, ("printed", "all"), "way to spend")
    printed = _printed(name, K, n_rounds)
    active, pulls = printed(T) if spend == "printed" else _spending_all(printed, T)
    if not _starts(pulls):
        smallest = smallest_budget(name, K, spend=spend, n_rounds=n_rounds)
        raise BudgetTooSmall(f"{_NO_DATA.format(K)}; raise budget={T} to at least {smallest}.", smallest)
    return Schedule(active, pulls)


def smallest_budget(name: ScheduleName, n_arms: int, *, spend: Spend = "printed", n_rounds: int | None = None) -> int:
    """Returns the smallest budget for which ``schedule`` gives every arm at least one pull.

    >>> smallest_budget("sh", 206), smallest_budget("sr", 206)
    (1648, 207)
    """
    printed = _printed(name, check_size(n_arms)[0], n_rounds)
    check_choice(spend, ("printed", "all"), "way to spend")
    nominal = _first(lambda budget: _starts(printed(budget)[1]))
    return nominal if spend == "printed" else _cost(*printed(nominal))


def _successive_rejects(K: int, T: int, n_rounds: int | None) -> Rounds:
    """Successive Rejects: one arm leaves per round (Section 3.2)."""
    numerator, denominator = _log_bar(K)
    # n_r = ceil(x / m) for x = (T - K) / log_bar(K) and whole m, which is ceil(ceil(x) / m): one exact division for all rounds.
    total = max(0, _ceil_div((T - K) * denominator, numerator))
    cumulative = [_ceil_div(total, K + 1 - r) for r in range(1, K)]
    return tuple(range(K, 0, -1)), _increments(cumulative)


def _sequential_halving(K: int, T: int, n_rounds: int | None) -> Rounds:
    """Sequential Halving: half of the arms leave per round (Section 3.2)."""
    R = halvings(K)
    active = [K]
    for _ in range(R):
        active.append(_ceil_div(active[-1], 2))
    return tuple(active), tuple(T // (n * R) for n in active[:-1])


def _geometric(K: int, T: int, n_rounds: int | None) -> Rounds:
    """Geometric: the arms shrink and the pulls grow by the same factor in each of R rounds (Appendix F)."""
    R = halvings(K) if n_rounds is None else n_rounds
    active = [_root(K ** (R + 1 - r), R) for r in range(1, R + 2)] if R else [K]
    # n_r = floor(T / (R K^(e/R))) with e = R + 1 - r, that is, the largest n with (n R)^R K^e <= T^R.
    power = T**R
    cumulative = [_root(power // K ** (R + 1 - r), R) // R for r in range(1, R + 1)]
    return _merged(active, _increments(cumulative))


def _uniform(K: int, T: int, n_rounds: int | None) -> Rounds:
    """Uniform allocation: one round with the same pulls for all, after which nobody stays active (Section 4)."""
    return (K, 0), (T // K,)


SCHEDULES: dict[ScheduleName, Callable[[int, int, int | None], Rounds]] = {
    "sr": _successive_rejects,
    "sh": _sequential_halving,
    "gg": _geometric,
    "uniform": _uniform,
}
"""Name -> the schedule as printed, a function of (n_arms, budget, n_rounds); the cost must not shrink as the budget grows."""


def _printed(name: ScheduleName, K: int, n_rounds: int | None) -> Callable[[int], Rounds]:
    """The printed schedule as a function of the budget alone."""
    make = SCHEDULES[check_choice(name, SCHEDULES, "schedule")]
    if n_rounds is not None:
        if name != "gg":
            raise InvalidInput(f"n_rounds={n_rounds!r} goes with the schedule 'gg' only; {name!r} has its own.")
        n_rounds = check_integer(n_rounds, "n_rounds", minimum=1, maximum=MOST_ROUNDS)
    return lambda budget: make(K, budget, n_rounds)


def _spending_all(printed: Callable[[int], Rounds], T: int) -> Rounds:
    """The schedule printed for the largest nominal budget whose cost still fits T."""
    if not printed(T)[1]:  # no rounds, nothing to spend on
        return printed(T)
    return printed(_first(lambda budget: _cost(*printed(budget)) > T) - 1)


def _first(holds: Callable[[int], bool]) -> int:
    """The smallest non-negative integer for which a monotone condition holds, by doubling and bisection."""
    if holds(0):
        return 0
    low, high = 0, 1
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _merged(active: list[int], pulls: tuple[int, ...]) -> Rounds:
    """Rounds that remove nobody give their pulls to the next one that does; at the very end they are dropped."""
    kept_active, kept_pulls, waiting = [], [], 0
    for (before, after), t in zip(itertools.pairwise(active), pulls, strict=True):
        waiting += t
        if after < before:
            kept_active.append(before)
            kept_pulls.append(waiting)
            waiting = 0
    return (*kept_active, active[-1]), tuple(kept_pulls)


def _increments(cumulative: list[int]) -> tuple[int, ...]:
    return tuple(after - before for before, after in itertools.pairwise([0, *cumulative]))


@lru_cache(maxsize=8)
def _log_bar(K: int) -> tuple[int, int]:
    """``1/2 + sum_{i=2..K} 1/i`` as an exact fraction, not reduced; halves are added first, so that numbers stay balanced."""

    def harmonic(first: int, last: int) -> tuple[int, int]:
        if first == last:
            return 1, first
        middle = (first + last) // 2
        a, b = harmonic(first, middle)
        c, d = harmonic(middle + 1, last)
        return a * d + b * c, b * d

    numerator, denominator = harmonic(1, K)
    return 2 * numerator - denominator, 2 * denominator


def _ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def _root(x: int, R: int) -> int:
    """The largest integer whose R-th power is at most x, by Newton's method on integers, from just above the root."""
    if x < 2 or R == 1:
        return x
    bits = x.bit_length() / R
    guess = 1 << math.ceil(bits) if bits > 1000 else int(math.exp(math.log(x) / R) * (1 + 1e-9)) + 1
    while True:
        better = ((R - 1) * guess + x // guess ** (R - 1)) // R
        if better >= guess:
            return guess
        guess = better


def _cost(active: tuple[int, ...], pulls: tuple[int, ...]) -> int:
    return sum(n * t for n, t in zip(active, pulls, strict=False))


def _starts(pulls: tuple[int, ...]) -> bool:
    """Whether there is data before the first arms leave."""
    return not pulls or pulls[0] >= 1


def _integers(values: Iterable[Any], name: str) -> tuple[int, ...]:
    listed = check_sequence(values, name, "is not a list; write for instance Schedule(active=(20, 10, 1), pulls=(5, 10))")
    return tuple(check_integer(value, f"{name}[{i}]", minimum=0, maximum=LARGEST_BUDGET) for i, value in enumerate(listed))


def _short(numbers: tuple[int, ...]) -> str:
    return str(numbers) if len(numbers) <= 12 else f"({', '.join(map(str, numbers[:10]))}, ..., {numbers[-1]})"
