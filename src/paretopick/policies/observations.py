"""What a policy was told, as counts and sums of each arm: the part of every policy that decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paretopick._arrays import BoolArray, FloatArray, IntArray, check_numbers, check_size
from paretopick._words import short
from paretopick.errors import InvalidInput
from paretopick.theory.gaps import optimal_and_gaps

AnyScalar = TypeVar("AnyScalar", bound=np.generic)


class Observations:
    """Counts, sums and, for those who need them, sums of squared deviations; and the scale on which objectives are compared.

    Observations are added one by one in the order told, so that parts add up to the same floats as the whole, and a compiled
    kernel that does the same has the same floats.
    """

    keeps_squares: ClassVar[bool] = False
    """Whether it needs the sums of squared deviations of each arm from its mean."""

    def __init__(self, *, n_arms: int, n_objectives: int) -> None:
        self.n_arms, self.n_objectives = check_size(n_arms, n_objectives)
        self._counts: IntArray = np.zeros(self.n_arms, dtype=np.int64)
        self._sums: FloatArray = np.zeros((self.n_arms, self.n_objectives))
        self._squares: FloatArray = np.zeros((self.n_arms if self.keeps_squares else 0, self.n_objectives))
        """Sums of squared deviations, below 0 at most by roundings; 0 in objectives without noise. Empty if it keeps none."""
        self._widths: FloatArray | None = None
        """What objectives are divided by before they are compared; 0 where they are without noise."""
        self._certain: FloatArray = np.zeros((self.n_arms, self.n_objectives))
        """What each arm has in the objectives without noise, which a sum divided by a count may miss by a rounding; else 0."""

    @property
    def counts(self) -> IntArray:
        """How often each arm was pulled."""
        return self._counts.copy()

    @property
    def means(self) -> FloatArray:
        """The empirical means ``(n_arms, n_objectives)``, NaN where an arm was never pulled."""
        with np.errstate(invalid="ignore"):
            means = self._sums / self._counts[:, None]
        return np.where(self._exact & (self._counts > 0)[:, None], self._certain, means)

    @property
    def squares(self) -> FloatArray:
        """The sums of squared deviations from the means, ``(n_arms, n_objectives)``; NaN if the policy does not keep them."""
        return np.maximum(self._squares, 0.0) if self.keeps_squares else np.full((self.n_arms, self.n_objectives), np.nan)

    @property
    def _exact(self) -> BoolArray:
        """Which objectives are without noise."""
        return np.zeros(self.n_objectives, dtype=np.bool_) if self._widths is None else self._widths == 0

    def _add(
        self, arms: IntArray, values: FloatArray, told: IntArray, sums: FloatArray | None, squares: FloatArray | None
    ) -> None:
        """Adds observations to the sums, or none of them if that overflows.

        Args:
            arms: and ``values``, ``sums`` and ``squares``, as in ``tell``.
            told: how often each of all arms is among them.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            new_sums = self._sums.copy()
            if sums is None:
                np.add.at(new_sums, arms, values)
            else:
                new_sums[arms] = sums
            _check_finite(new_sums, range(self.n_arms), "the sum of arm {} in objective {} overflows; scale the values down.")
            if self.keeps_squares:
                squares = self._squares_after(arms, values, told) if squares is None else squares
                if self._widths is not None:
                    squares = np.where(self._exact, 0.0, squares)
                _check_finite(squares, arms, "the squared deviations of arm {} in objective {} overflow; scale the values down.")
                self._squares[arms] = squares
        self._sums = new_sums
        self._certain[arms] = 0.0 if self._widths is None else np.where(self._exact, values, 0.0)
        self._counts += told

    def _squares_after(self, arms: IntArray, values: FloatArray, told: IntArray) -> FloatArray:
        """The squared deviations of the arms told after the values were told one after the other, a row for each of ``arms``."""
        if len(arms) == 1:  # the usual case, and the same in fewer steps
            n = self._counts[arms[0]]
            return self._squares[arms] + _step(values, n, self._sums[arms]) if n else self._squares[arms]
        most = told.max()
        if most == 1:
            return self._squares[arms] + _deviations(values, self._counts[arms], self._sums[arms])
        found = np.flatnonzero(told)
        counts, sums, squares, told = self._counts[found], self._sums[found], self._squares[found], told[found]
        order = np.argsort(arms, kind="stable")
        first = np.cumsum(told) - told
        if len(found) < most:  # few arms, each told often: arm by arm
            for place, (start, n) in enumerate(zip(first, told, strict=True)):
                rows = values[order[start : start + n]]
                before = np.cumsum(np.concatenate((sums[[place]], rows)), axis=0)[:-1]
                more = _deviations(rows, counts[place] + np.arange(n), before)
                squares[place] = np.cumsum(np.concatenate((squares[[place]], more)), axis=0)[-1]
        else:
            for nth in range(most):
                those = np.flatnonzero(told > nth)
                rows = values[order[first[those] + nth]]
                squares[those] += _deviations(rows, counts[those] + nth, sums[those])
                sums[those] += rows
        return squares[np.searchsorted(found, arms)]

    def _remove(self, arm: int, row: FloatArray, sums: ArrayLike | None, squares: ArrayLike | None) -> None:
        """Takes one observation out of the sums; ``sums`` and ``squares`` as in ``take_back``."""
        left = self._sums[arm] - row if sums is None else check_numbers(sums, "sums")
        if left.shape != row.shape or not np.isfinite(left).all():
            raise InvalidInput(f"sums={short(sums)} must be {self.n_objectives} finite numbers: what is left of each objective.")
        n = self._counts[arm] - 1
        if self.keeps_squares:
            if squares is not None:
                spread = check_numbers(squares, "squares")
            elif n > 1:
                with np.errstate(over="ignore", invalid="ignore"):
                    lost = (row - self._sums[arm] / (n + 1)) * (row - left / n)
                    spread = np.fmax(0.0, self._squares[arm] - lost)
            else:
                spread = np.zeros(self.n_objectives)
            if spread.shape != row.shape or not (np.isfinite(spread) & (spread >= 0)).all():
                raise InvalidInput(
                    f"squares={short(squares)} must be {self.n_objectives} finite numbers, none negative: "
                    "the squared deviations that are left."
                )
            self._squares[arm] = np.where(self._exact | (n <= 1), 0.0, spread)
        self._counts[arm] = n
        self._sums[arm] = left if n else 0.0
        self._certain[arm] *= n > 0

    def _rescale(self, widths: ArrayLike | None) -> None:
        """Sets what objectives are divided by; those of width 0 are without noise from now on."""
        if widths is None:
            self._widths, self._certain = None, np.zeros_like(self._certain)
            return
        row = check_numbers(widths, "widths")
        if row.shape != (self.n_objectives,) or not (np.isfinite(row) & (row >= 0)).all():
            raise InvalidInput(
                f"widths={short(widths)} must be {self.n_objectives} numbers, what each objective is divided by, "
                "or 0 where it is without noise."
            )
        if (row == 0).any():
            told = self._exact & (self._counts > 0)[:, None]
            self._certain = np.where(row == 0, np.where(told, self._certain, np.nan_to_num(self.means)), 0.0)
            self._squares[:, row == 0] = 0.0
        else:
            self._certain = np.zeros_like(self._certain)
        self._widths = row

    def _grow(self, more: int) -> None:
        """Makes room for so many more arms, without observations."""
        self.n_arms, _ = check_size(self.n_arms + more, self.n_objectives)
        self._counts = longer(self._counts, more)
        self._sums, self._certain = longer(self._sums, more), longer(self._certain, more)
        if self.keeps_squares:
            self._squares = longer(self._squares, more)

    def _optimal_and_gaps(self, arms: IntArray, points: FloatArray) -> tuple[BoolArray, FloatArray]:
        """The Pareto mask and the gaps of some arms on the scale of the widths, from their means or, equally often told, sums."""
        if self._widths is None:
            return optimal_and_gaps(points)
        points = np.where(self._exact, self._certain[arms], points / np.where(self._exact, 1.0, self._widths))
        return optimal_and_gaps(points, self._exact)


def longer(array: NDArray[AnyScalar], more: int, fill: float = 0) -> NDArray[AnyScalar]:
    """Returns an array of arms with room for so many more of them."""
    return np.concatenate((array, np.full((more, *array.shape[1:]), fill, dtype=array.dtype)))


def _deviations(values: FloatArray, counts: IntArray, sums: FloatArray) -> FloatArray:
    """What one more observation of each arm adds to its squared deviations, 0 if it is the first."""
    n = counts[:, None]
    return np.where(n > 0, _step(values, np.maximum(n, 1), sums), 0.0)


def _step(x: FloatArray, n: IntArray | np.int64, s: FloatArray) -> FloatArray:
    """What x adds to the squared deviations of n > 0 observations with the sum s: (x - mean before) (x - mean after)."""
    return (x - s / n) * (x - (s + x) / (n + 1))


def _check_finite(rows: FloatArray, arms: Sequence[int] | IntArray, message: str) -> None:
    if not np.isfinite(rows).all():
        row, objective = np.argwhere(~np.isfinite(rows))[0]
        raise InvalidInput(message.format(arms[row], objective))
