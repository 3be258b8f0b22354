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
