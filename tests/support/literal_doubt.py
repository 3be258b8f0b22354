"""``doubt`` to the letter: slow, loop after loop, with the special functions of SciPy and of the standard library.

Written from the description of the policy alone; nothing here comes from the package. Probabilities are kept as logarithms, so
that none is lost to rounding. Some roundings belong to the definition, and keep the choice a function of the data: the pooled
variances and the factor F are powers of the square root of 2, deviations beyond 9 count as 9, what has odds beyond 1e15 is worth
nothing, and variances below 1e-300 count as none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import special

HAIR = 1e-5
"""Relative differences below this are those of rounding, here or there."""

Rows = Sequence[Sequence[float]]


@dataclass
class Step:
    """All that follows from the data at one moment; ``tied`` says that which dominator is the likeliest, or a status, is open."""

    front: list[int]
    factor: float
    dominated: list[bool]
    answer: list[int]
    doubt: list[float]
    scores: list[float]
    arm: int
    tied: bool

    @property
    def close(self) -> bool:
        """Whether two arms are nearly equally worth a pull; if none is worth any, the least pulled one is chosen."""
        first, second = sorted([*self.scores, -math.inf], reverse=True)[:2]
        return self.tied or second >= first * (1 - HAIR) > 0


def step(told: Sequence[int], means: Rows, squares: Rows, counts: Sequence[int] | None = None) -> Step:
    """What ``doubt`` knows and does.

    Args:
        told: pulls of each arm.
        means: of each arm.
        squares: sums of squared deviations from these.
        counts: pulls with those that have been chosen and not been told yet; None for the same as told.
    """
    K = len(means)
    N = list(told if counts is None else counts)
    s2 = moderated_variances(told, squares)
    S = [i for i in range(K) if not any(dominates(means[j], means[i]) for j in range(K))]
    F = base_factor(means)
    relations = {(i, j): Pair(means, s2, N, i, j) for i in range(K) for j in S if i != j}

    tied = False
    best: dict[int, int] = {}
    out = []
    for i in range(K):
        odds = {j: relations[i, j].log_odds for j in S if j != i}
        best[i] = max(odds, key=odds.__getitem__) if odds else i
        likelier = bool(odds) and odds[best[i]] + math.log(F) > 0
        out.append(i not in S and likelier)
        if i not in S:
            near_half = abs(odds[best[i]] + math.log(F)) < HAIR
            top = relations[i, best[i]]
            rivals = [j for j in odds if odds[j] > top.log_odds - HAIR and relations[i, j].deviations != top.deviations]
            tied = tied or near_half or bool(out[i] and rivals)

    A = math.fsum(math.sqrt(N[i]) for i in range(K) if not out[i])
    B = math.fsum(math.sqrt(N[i]) for i in range(K) if out[i])
    e = 0.02 * (A + B)
    o = (A + e) / (B + e)

    terms: list[list[float]] = [[] for _ in range(K)]
    for i in range(K):
        for j in [best[i]] if out[i] else [j for j in S if j != i]:
            pair = relations[i, j]
            log_odds = pair.log_odds + math.log(F)
            weight = math.sqrt(o) if out[i] else 1 / math.sqrt(o)
            g = value(log_odds if out[i] else -log_odds, pair.share_i, pair.share_j)
            terms[i].append(weight * g * pair.share_i)
            terms[j].append(weight * g * pair.share_j)
    scores = [math.fsum(each) for each in terms]
    arm = max(range(K), key=lambda i: (scores[i], -i)) if max(scores) > 0 else min(range(K), key=lambda i: (N[i], i))

    left_out = list(out)
    doubt = [1 / (1 + F * math.exp(relations[i, best[i]].log_odds)) if i not in S else 0.0 for i in range(K)]
    doubt = [doubt[i] if out[i] else 1 - doubt[i] for i in range(K)]
    for i in S:
        by_front = overtaken(i, S, relations, len(means[0]))
        odds = max([by_front] + [math.exp(Pair(means, s2, N, i, j).log_odds) for j in range(K) if j not in S])
        left_out[i] = by_front > 2
        tied = tied or abs(by_front - 2) < HAIR
        doubt[i] = (1 if left_out[i] else odds) / (1 + odds)
    return Step(S, F, out, [i for i in range(K) if not left_out[i]], doubt, scores, arm, tied)


def in_turn(counts: Sequence[int]) -> int | None:
    """The arm that goes on without a choice: the only one whose count is none at which turns end.

    They end at every count below 64, then at multiples of 2, from 128 on of 4, from 256 on of 8, ...
    """
    middle = [i for i, n in enumerate(counts) if n >= 64 and n % 2 ** math.floor(math.log2(n / 32)) != 0]
    return middle[0] if len(middle) == 1 else None


def overtaken(i: int, S: Sequence[int], relations: dict[tuple[int, int], Pair], D: int) -> float:
    """The largest odds that another of the front dominates i, against all else.

    Beforehand one is above the other as often as the pairs of the front say, at most 8 times as often as by toss-ups.
    """
    if len(S) < 2 or D < 2:
        return 0.0
    above = {(a, b): float(special.expit(relations[a, b].log_odds)) for a in S for b in S if a != b}
    share = min(0.49, (math.fsum(above.values()) + 2**-D) / (len(S) * (len(S) - 1) + 1))
    factor = min(8, max(1, (share / (1 - 2 * share)) / (2**-D / (1 - 2 * 2**-D))))
    neither = {(a, b): max(1 - above[a, b] - above[b, a], 1e-300) for a, b in above}
    return max(above[i, j] * factor / (above[j, i] * factor + neither[i, j]) for j in S if j != i)


def dominates(x: Sequence[float], y: Sequence[float]) -> bool:
    return all(a >= b for a, b in zip(x, y, strict=True)) and any(a > b for a, b in zip(x, y, strict=True))


def moderated_variances(told: Sequence[int], squares: Rows) -> list[list[float]]:
    """Those of one pull: an arm's own, moderated by the mean of all, which counts for 30 pulls."""
    K, D = len(squares), len(squares[0])
    several = [i for i in range(K) if told[i] > 1]
    pool = [power_of_root_two(sum(squares[i][d] / (told[i] - 1) for i in several) / max(len(several), 1)) for d in range(D)]
    return [[(squares[i][d] + 30 * pool[d]) / (told[i] - 1 + 30) for d in range(D)] for i in range(K)]


def base_factor(means: Rows) -> float:
    """F: the odds that one arm dominates another, as often as they do at the estimated means, to those of a flat prior."""
    K, D = len(means), len(means[0])
    pairs = sum(dominates(means[j], means[i]) for i in range(K) for j in range(K))
    b = min(1 / 2, (pairs + K * 2**-D) / K**2)
    return power_of_root_two(max(1, (b / (1 - b)) / (2**-D / (1 - 2**-D))))


def power_of_root_two(x: float) -> float:
    """The nearest one, on a scale of logarithms; 0 for 0."""
    return 2 ** (round(2 * math.log2(x)) / 2) if x > 0 else 0.0


class Pair:
    """Whether j dominates i: the logarithm of the odds under a flat prior, and what one more pull of either takes away."""

    def __init__(self, means: Rows, s2: Rows, N: Sequence[int], i: int, j: int) -> None:
        self.deviations: list[float] = []
        log_p, weights, of_i, of_j = [], [], [], []
        for d in range(len(means[i])):
            v = s2[i][d] / N[i] + s2[j][d] / N[j]
            gap = means[j][d] - means[i][d]
            u = gap / math.sqrt(v) if v > 1e-300 else math.copysign(math.inf, gap) if gap else math.inf
            u = max(-9.0, min(9.0, u))
            self.deviations.append(u)
            log_p.append(log_phi(u))
            w = math.exp(-u * u / 2 - log_p[-1])
            weights.append(w)
            of_i.append(w * s2[i][d] / (N[i] ** 2 * v) if v > 1e-300 else 0.0)
            of_j.append(w * s2[j][d] / (N[j] ** 2 * v) if v > 1e-300 else 0.0)
        log_probability = math.fsum(log_p)
        self.log_odds = log_probability - math.log(-math.expm1(log_probability))
        self.share_i = math.fsum(of_i) / math.fsum(weights)
        self.share_j = math.fsum(of_j) / math.fsum(weights)


def log_phi(u: float) -> float:
    """log Phi(u), exact in both tails."""
    tail = math.erfc(abs(u) / math.sqrt(2)) / 2
    return math.log1p(-tail) if u > 0 else math.log(tail)


def value(log_odds: float, share_i: float, share_j: float) -> float:
    """g, the slope of 2 OwenT(z, 1 / sqrt(x)) up to a constant factor, where z is the deviation of the odds, or 0."""
    if log_odds >= math.log(1e15):
        return 0.0
    z = -float(special.ndtri_exp(-math.log1p(math.exp(log_odds)))) if log_odds > 0 else 0.0
    x = max(z * z / 2, share_i, share_j)
    if x == 0:  # nothing to be learnt: both shares, which multiply this, are 0
        return 0.0
    return math.exp(-z * z / 2 * (1 + 1 / x)) / (math.sqrt(x) * (1 + x))
