"""``doubt`` computed anew at every step, from the functions of ``_normals`` and in the documented order of sums: to the last bit.

What the policy keeps from pull to pull, and the kernels in eight lanes, must come to exactly these numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from paretopick._normals import clipped, deviation_of, sign_of, value_of
from support.literal_doubt import dominates, in_turn, power_of_root_two


def lane_sum(numbers: Sequence[float]) -> float:
    """Every eighth number is added to the same of eight sums, and these are added up by halves."""
    lanes = [0.0] * 8
    for k, number in enumerate(numbers):
        lanes[k % 8] += number
    while len(lanes) > 1:
        lanes = [lanes[k] + lanes[k + len(lanes) // 2] for k in range(len(lanes) // 2)]
    return lanes[0]


def grid(x: float) -> float:
    """The nearest power of the square root of 2, of which every second is rounded."""
    power = round(2 * math.log2(power_of_root_two(x))) if x > 0 else 0
    return 0.0 if x <= 0 else math.ldexp(1.0 if power % 2 == 0 else 2 * math.sqrt(0.5), power // 2)


class Rebuilt:
    """The relations between all pairs of arms, and what follows; arguments as those of ``Pairs``, and of chosen pulls."""

    def __init__(self, told: np.ndarray, means: np.ndarray, squares: np.ndarray, counts: np.ndarray) -> None:
        K, D = means.shape
        self.K, self.N = K, counts.tolist()
        theta = means.tolist()
        above = [[dominates(theta[j], theta[i]) for j in range(K)] for i in range(K)]
        self.front = [i for i in range(K) if not any(above[i])]
        several = [n > 1 for n in told.tolist()]
        s2 = np.empty((D, K))
        for d in range(D):
            ratios = [squares[i, d] / (told[i] - 1) if several[i] else 0.0 for i in range(K)]
            pool = grid(lane_sum(ratios) / max(sum(several), 1))
            s2[d] = [(squares[i, d] + 30 * pool) / (told[i] + 29) for i in range(K)]
        b = min(0.5, (sum(map(sum, above)) + K * 0.5**D) / (K * K))
        self.factor = grid(max(1.0, (b / (1 - b)) / (0.5**D / (1 - 0.5**D))))
        self._relate(means.T, s2 / counts, s2 / counts / counts)
        self._judge(above)

    def _relate(self, m: np.ndarray, variance: np.ndarray, fall: np.ndarray) -> None:
        """Odds and shares of all pairs ``[i][j]``, objective after objective."""
        with np.errstate(over="ignore", invalid="ignore"):
            signs = sign_of(m[:, None, :] - m[:, :, None], variance[:, :, None] + variance[:, None, :])
        shape = (self.K, self.K)
        dominates, not_so = np.ones(shape), np.zeros(shape)
        total, share, other = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        for d, (likely, unlikely, weight, precision) in enumerate(zip(*signs, strict=True)):
            not_so = not_so + dominates * unlikely
            dominates = dominates * likely
            total = total + weight
            share = share + weight * precision * fall[d][:, None]
            other = other + weight * precision * fall[d][None, :]
        self._odds, self._share, self._other = dominates / not_so, share / total, other / total

    def _judge(self, above: list[list[bool]]) -> None:
        """The likeliest dominator of each arm, the first of equals, and its status."""
        odds = self._odds.tolist()
        self.rival: list[int | None] = []
        self.best, self.dominated = [], []
        for i in range(self.K):
            rival = None
            for j in self.front:
                if j != i and (rival is None or odds[i][j] > odds[i][rival]):
                    rival = j
            self.rival.append(rival)
            self.best.append(0.0 if rival is None else odds[i][rival] * self.factor)
            self.dominated.append(any(above[i]) and self.best[i] > 1.0)

    def scores(self) -> list[float]:
        """Events one by one, and of each arm the sum of its own before those in which it is the dominator."""
        K, S, out = self.K, self.front, self.dominated
        A = lane_sum([0.0 if out[i] else math.sqrt(self.N[i]) for i in range(K)])
        B = lane_sum([math.sqrt(self.N[i]) if out[i] else 0.0 for i in range(K)])
        e = 0.02 * (A + B)
        weight = math.sqrt((A + e) / (B + e))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            odds = clipped(1.0 / (self._odds * self.factor))
            if_optimal = value_of(odds, deviation_of(odds), self._share, self._other)
            odds = clipped(self._odds * self.factor)
            if_out = value_of(odds, deviation_of(odds), self._share, self._other)
        of_i, of_j = (if_optimal * self._share).tolist(), (if_optimal * self._other).tolist()
        below_i, below_j = (if_out * self._share).tolist(), (if_out * self._other).tolist()
        scores = []
        for i in range(K):
            if out[i]:
                scores.append(weight * below_i[i][self.rival[i]])
            else:
                own = 0.0
                for j in S:
                    own += 0.0 if j == i else of_i[i][j]
                scores.append(own / weight)
        for j in S:
            optimal = lane_sum([0.0 if out[i] or i == j else of_j[i][j] for i in range(K)])
            beaten = lane_sum([below_j[i][j] if out[i] and self.rival[i] == j else 0.0 for i in range(K)])
            scores[j] += optimal / weight + beaten * weight
        return scores

    def choice(self) -> int:
        """The largest score, else the fewest pulls; the first of equals."""
        scores = self.scores()
        arm = scores.index(max(scores))
        return arm if scores[arm] > 0 else self.N.index(min(self.N))


def batch(told: np.ndarray, means: np.ndarray, squares: np.ndarray, size: int) -> list[int]:
    """How often each arm is pulled in a batch, everything computed anew for each pull of it."""
    counts = told.copy()
    for _ in range(size):
        arm = in_turn(counts.tolist())
        counts[Rebuilt(told, means, squares, counts).choice() if arm is None else arm] += 1
    return (counts - told).tolist()
