"""The mixed model of options and blocks written down with dense matrices, from its definition: slow, and obviously right."""

from typing import NamedTuple

import numpy as np

from paretopick._blocks import Blocked


class Told(NamedTuple):
    """A measurement of one metric: its option, its block (None for one of its own) and its value."""

    arm: int
    block: int | None
    value: float


class Dense:
    """Everything that follows from measurements and variances that are known: V = R + tau2 Z Z', and so on."""

    def __init__(self, told: list[Told], variances: np.ndarray, block_variance: float) -> None:
        n_options, arms = len(variances), np.array([each.arm for each in told])
        self.y = np.array([each.value for each in told])
        blocks = [(0, each.block) if each.block is not None else (1, place) for place, each in enumerate(told)]
        self.blocks = sorted(set(blocks))
        self.Z = np.array([[float(block == other) for other in self.blocks] for block in blocks])
        self.X = np.eye(n_options)[arms]
        self.R = np.diag(variances[arms])
        self.G = block_variance * np.eye(len(self.blocks))
        inverse = np.linalg.inv(self.R + self.Z @ self.G @ self.Z.T)
        self.covariance = np.linalg.inv(self.X.T @ inverse @ self.X)
        self.means = self.covariance @ self.X.T @ inverse @ self.y
        self.P = inverse - inverse @ self.X @ self.covariance @ self.X.T @ inverse
        self.effects = self.G @ self.Z.T @ self.P @ self.y
        self.left = self.y - self.X @ self.means - self.Z @ self.effects
        self.arms, self.variances = arms, variances

    def slope(self, part: np.ndarray) -> float:
        """Twice the slope of the restricted likelihood in the variance of what has this covariance."""
        return float(self.y @ self.P @ part @ self.P @ self.y - np.trace(self.P @ part))

    @property
    def block_slope(self) -> float:
        return self.slope(self.Z @ self.Z.T)

    def residuals(self, arm: int) -> tuple[float, float]:
        """The sum of squared residuals of an option, and its degrees of freedom: s2 times the trace of its part of P."""
        mine = np.diag((self.arms == arm).astype(float))
        return float(self.left @ mine @ self.left), float(self.variances[arm] * np.trace(self.P @ mine))


def by_block(told: list[Told], n_options: int) -> Blocked:
    """The same measurements as the package takes them."""
    arms = np.array([each.arm for each in told])
    blocks = np.array([-1 if each.block is None else each.block for each in told])
    return Blocked.of(arms, blocks, np.array([[each.value] for each in told]), n_options=n_options)


def random_design(rng: np.random.Generator) -> tuple[list[Told], int]:
    """Measurements of a few options in a few blocks: incomplete, several in a cell, some in none, sometimes nothing shared."""
    n_options, n_blocks = int(rng.integers(2, 6)), int(rng.integers(1, 7))
    width, own = rng.choice([0.0, 0.5, 1.0, 3.0]), np.exp(rng.normal(size=n_options) * rng.choice([0.0, 0.7]))
    effects, told = rng.normal(size=n_blocks) * width, []
    for arm in range(n_options):
        for block in range(n_blocks):
            for _ in range(int(rng.integers(0, 3))):
                told.append(Told(arm, block, arm + effects[block] + own[arm] * rng.normal()))
        for _ in range(int(rng.integers(0, 3)) + 2 * (not any(each.arm == arm for each in told))):
            told.append(Told(arm, None, arm + np.hypot(width, own[arm]) * rng.normal()))
    rng.shuffle(told)
    return [Told(int(arm), None if block is None else int(block), float(value)) for arm, block, value in told], n_options


class DenseBlocks:
    """Variances of means and differences where pulls share blocks, and what the next pull takes away of them.

    From the equations of the mixed model in all means and effects at once. A pull of arm i in block b tells of mu_i + effect_b;
    it takes away the square of the covariance of that with what matters, over the noise of the pull and of the effect.

    Args:
        cells: for each objective the blocks of the pulls of each arm.
        variances: ``(n_objectives, n_arms)`` of a pull.
        block_variances: ``(n_objectives,)``.
        following: the block in which the next pull of each arm will be.
    """

    def __init__(self, cells: list[list[int]], variances: np.ndarray, block_variances: np.ndarray, following: list[int]) -> None:
        n_arms, n_blocks = len(cells), max([*following, *(block for blocks in cells for block in blocks)]) + 1
        self.n_arms, self.following, self.variances = n_arms, following, variances
        self.joint, self.precision = [], []
        for s2, tau2 in zip(variances, np.maximum(block_variances, 1e-12), strict=True):
            design = []
            for arm, blocks in enumerate(cells):
                for block in blocks:
                    row = np.zeros(n_arms + n_blocks)
                    row[arm] = row[n_arms + block] = s2[arm] ** -0.5
                    design.append(row)
            equations = np.array(design).T @ np.array(design)
            equations[n_arms:, n_arms:] += np.eye(n_blocks) / tau2
            self.joint.append(np.linalg.inv(equations))
            self.precision.append(np.diagonal(equations)[n_arms:])

    def _covariance(self, what: np.ndarray, i: int, d: int) -> float:
        told = np.zeros(len(what))
        told[i] = told[self.n_arms + self.following[i]] = 1.0
        return float(what @ self.joint[d] @ told)

    def _taken(self, what: np.ndarray, i: int, d: int) -> float:
        return self._covariance(what, i, d) ** 2 / (self.variances[d, i] + 1.0 / self.precision[d][self.following[i]])

    def _only(self, d: int, **of: int) -> np.ndarray:
        what = np.zeros(len(self.joint[d]))
        for sign, arm in of.items():
            what[arm] = {"plus": 1.0, "minus": -1.0}[sign]
        return what

    def own(self, i: int, d: int) -> float:
        return float(self.joint[d][i, i])

    def own_fall(self, i: int, d: int) -> float:
        return self._taken(self._only(d, plus=i), i, d)

    def variance(self, i: int, j: int, d: int) -> float:
        what = self._only(d, plus=i, minus=j)
        return float(what @ self.joint[d] @ what)

    def fall(self, i: int, j: int, d: int) -> float:
        """Of a pull of i, of the variance of the difference between i and j."""
        return self._taken(self._only(d, plus=i, minus=j), i, d)
