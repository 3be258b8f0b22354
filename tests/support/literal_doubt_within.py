"""``doubt`` with margins and limits to the letter: slow, loop after loop, with the special functions of SciPy.

Written from the description of the policy alone; nothing here comes from the package. For the roundings that belong to the
definition, see ``literal_doubt``; and a chance below 1e-15 to keep the limits counts as none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import special

from support.literal_blocks import DenseBlocks
from support.literal_doubt import HAIR, Rows, dominates, log_phi, moderated_variances, power_of_root_two, value


@dataclass
class Required:
    """Of each objective, the smallest difference that matters, None where arms are not compared; and the limit, or None."""

    margins: Sequence[float | None]
    limits: Sequence[float | None]

    @property
    def compared(self) -> list[int]:
        return [d for d, margin in enumerate(self.margins) if margin is not None]

    def keeps(self, x: Sequence[float]) -> bool:
        return all(limit is None or a >= limit for a, limit in zip(x, self.limits, strict=True))

    def covers(self, x: Sequence[float], y: Sequence[float]) -> bool:
        return all(x[d] - y[d] >= -self.margins[d] for d in self.compared)

    def outdoes(self, x: Sequence[float], y: Sequence[float]) -> bool:
        ahead = {d: x[d] - y[d] for d in self.compared}
        return all(ahead[d] >= self.margins[d] for d in ahead) and any(ahead[d] > self.margins[d] for d in ahead)


@dataclass
class Step:
    """All that follows from the data at one moment; ``tied`` says that who most likely covers an arm, or a status, is open."""

    front: list[int]
    factors: tuple[float, float]
    out: list[bool]
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


def step(
    told: Sequence[int],
    means: Rows,
    squares: Rows,
    required: Required,
    counts: Sequence[int] | None = None,
    blocks: DenseBlocks | None = None,
) -> Step:
    """What ``doubt`` knows and does.

    Args:
        told: pulls of each arm.
        means: of each arm.
        squares: sums of squared deviations from these.
        required: margins and limits.
        counts: pulls with those that have been chosen and not been told yet; None for the same as told.
        blocks: what is known where pulls share blocks; None where they share nothing.
    """
    K, C = len(means), required.compared
    N = list(told if counts is None else counts)
    known = blocks or Apart(moderated_variances(told, squares), N)
    points = [[mean[d] for d in C] for mean in means]
    able = [i for i in range(K) if required.keeps(means[i])]
    S = [i for i in able if not any(dominates(points[j], points[i]) for j in able)]
    others = [(i, j) for i in range(K) for j in range(K) if i != j]
    F_outdo = base_factor(K, len(C), sum(required.outdoes(means[j], means[i]) for i, j in others))
    F_cover = base_factor(K, len(C), sum(required.covers(means[j], means[i]) and points[i] != points[j] for i, j in others))
    outdo = {(i, j): Pair(means, known, i, j, required, -1) for i in range(K) for j in S if i != j}
    cover = {(i, j): Pair(means, known, i, j, required, +1) for i in range(K) for j in S if i != j}
    log_fit = [log_chance_of_limits(means[i], known, i, required) for i in range(K)]
    fit = [math.exp(x) if x > math.log(1e-15) else 0.0 for x in log_fit]
    unfit = [-math.expm1(x) for x in log_fit]

    tied, rival, free, wrong_in, wrong_out, out = False, {}, [], [], [], []
    for i in range(K):
        js = [j for j in S if j != i]
        outdone = max([fit[j] * special.expit(outdo[i, j].log_odds + math.log(F_outdo)) for j in js], default=0.0)
        uncovered = {j: unfit[j] + fit[j] * special.expit(-cover[i, j].log_odds - math.log(F_cover)) for j in js}
        if uncovered:
            rival[i] = min(uncovered, key=uncovered.__getitem__)
        free.append(min(uncovered.values(), default=1.0))
        wrong_in.append(unfit[i] + fit[i] * outdone)
        wrong_out.append(fit[i] * free[i])
        near = [j for j in js if uncovered[j] <= free[i] * (1 + HAIR) + 1e-15]
        ahead = {any(means[j][d] - means[i][d] > required.margins[d] for d in C) for j in near}
        beaten = free[i] < 0.5 and any(means[rival[i]][d] - means[i][d] > required.margins[d] for d in C)
        out.append(i not in S and (wrong_in[i] > wrong_out[i] or beaten))
        tied = tied or (i not in S and (abs(free[i] - 0.5) < HAIR or (len(ahead) > 1 and wrong_in[i] <= wrong_out[i])))
        tied = tied or (i not in S and abs(wrong_in[i] - wrong_out[i]) < HAIR * wrong_in[i])
        if out[i] and uncovered:
            near = [j for j in js if uncovered[j] < free[i] * (1 + HAIR)]
            tied = tied or any(cover[i, j].deviations != cover[i, rival[i]].deviations for j in near)

    A = math.fsum(math.sqrt(N[i]) for i in range(K) if not out[i])
    B = math.fsum(math.sqrt(N[i]) for i in range(K) if out[i])
    e = 0.02 * (A + B)
    o = (A + e) / (B + e)

    terms: list[list[float]] = [[] for _ in range(K)]
    limited = any(limit is not None for limit in required.limits)
    for i in range(K):
        weight = math.sqrt(o) if out[i] else 1 / math.sqrt(o)
        for j in S if not out[i] else [rival[i]] if i in rival else []:
            if j == i:
                continue
            pair = cover[i, j] if out[i] else outdo[i, j]
            # of an arm that is out: whichever of covered and not covered is more likely
            log_odds = abs(pair.log_odds + math.log(F_cover)) if out[i] else -(pair.log_odds + math.log(F_outdo))
            matters = fit[i] if out[i] else fit[i] * fit[j]
            g = weight * matters * value(log_odds, pair.share_i, pair.share_j)
            terms[i].append(g * pair.share_i)
            terms[j].append(g * pair.share_j)
        if limited:
            log_odds = log_fit[i] - math.log(unfit[i])
            at = [d for d, limit in enumerate(required.limits) if limit is not None]
            share = math.fsum(known.own_fall(i, d) / known.own(i, d) if known.own(i, d) > 0 else 0.0 for d in at) / len(at)
            share = share if blocks else 1 / N[i]
            g = value(abs(log_odds) if out[i] else log_odds, share, share)
            terms[i].append(weight * (free[i] if out[i] else 1.0) * g * share)
    scores = [math.fsum(each) for each in terms]
    arm = max(range(K), key=lambda i: (scores[i], -i)) if max(scores) > 0 else min(range(K), key=lambda i: (N[i], i))

    left_out = list(out)
    for i, odds in overtaken(S, outdo, fit, len(C)).items():
        left_out[i] = odds > 2
        tied = tied or abs(odds - 2) < HAIR
    doubt = [wrong_out[i] if left_out[i] else wrong_in[i] for i in range(K)]
    return Step(S, (F_outdo, F_cover), out, [i for i in range(K) if not left_out[i]], doubt, scores, arm, tied)


def base_factor(K: int, C: int, pairs: int) -> float:
    """F: the odds that one arm is above another, as often as they are at the estimated means, to those of a flat prior."""
    b = min(1 / 2, (pairs + K * 2**-C) / K**2)
    return power_of_root_two(max(1, (b / (1 - b)) / (2**-C / (1 - 2**-C))))


def log_chance_of_limits(mean: Sequence[float], known: Apart | DenseBlocks, i: int, required: Required) -> float:
    """The logarithm of how likely an arm keeps all limits."""
    return math.fsum(
        log_phi(deviation(mean[d] - limit, known.own(i, d))) for d, limit in enumerate(required.limits) if limit is not None
    )


def deviation(gap: float, variance: float) -> float:
    """In standard deviations, at most 9; without variance a step, and 0 counts as above."""
    u = gap / math.sqrt(variance) if variance > 1e-300 else math.inf if gap >= 0 else -math.inf
    return max(-9.0, min(9.0, u))


class Apart:
    """Variances of means and differences where pulls share nothing, and what the next pull takes away of them."""

    def __init__(self, s2: Rows, N: Sequence[int]) -> None:
        self.s2, self.N = s2, N

    def own(self, i: int, d: int) -> float:
        return self.s2[i][d] / self.N[i]

    def own_fall(self, i: int, d: int) -> float:
        return self.s2[i][d] / self.N[i] ** 2

    def variance(self, i: int, j: int, d: int) -> float:
        return self.own(i, d) + self.own(j, d)

    def fall(self, i: int, j: int, d: int) -> float:
        """Of a pull of i, of the variance of the difference between i and j."""
        return self.own_fall(i, d)


class Pair:
    """Whether j is ahead of i by ``side`` times the margins everywhere: log odds under a flat prior, and the shares of pulls."""

    def __init__(self, means: Rows, known: Apart | DenseBlocks, i: int, j: int, required: Required, side: int) -> None:
        self.deviations: list[float] = []
        log_p, weights, of_i, of_j = [], [], [], []
        for d in required.compared:
            v = known.variance(i, j, d)
            u = deviation((means[j][d] - means[i][d]) + side * required.margins[d], v)
            self.deviations.append(u)
            log_p.append(log_phi(u))
            w = math.exp(-u * u / 2 - log_p[-1])
            weights.append(w)
            of_i.append(w * known.fall(i, j, d) / v if v > 1e-300 else 0.0)
            of_j.append(w * known.fall(j, i, d) / v if v > 1e-300 else 0.0)
        log_probability = math.fsum(log_p)
        self.log_odds = log_probability - math.log(-math.expm1(log_probability))
        self.share_i = math.fsum(of_i) / math.fsum(weights)
        self.share_j = math.fsum(of_j) / math.fsum(weights)


def overtaken(S: Sequence[int], outdo: dict[tuple[int, int], Pair], fit: Sequence[float], C: int) -> dict[int, float]:
    """For each of the front, the largest odds that another of it keeps the limits and outdoes it, against all else."""
    if len(S) < 2 or C < 2:
        return dict.fromkeys(S, 0.0)
    above = {(a, b): fit[b] * float(special.expit(outdo[a, b].log_odds)) for a in S for b in S if a != b}
    share = min(0.49, (math.fsum(above.values()) + 2**-C) / (len(S) * (len(S) - 1) + 1))
    factor = min(8, max(1, (share / (1 - 2 * share)) / (2**-C / (1 - 2 * 2**-C))))
    neither = {(a, b): max(1 - above[a, b] - above[b, a], 1e-300) for a, b in above}
    return {i: max(above[i, j] * factor / (above[j, i] * factor + neither[i, j]) for j in S if j != i) for i in S}
