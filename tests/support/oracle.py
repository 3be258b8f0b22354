"""A slow, literal second implementation of the mathematics, against which the fast code is checked.

Everything here is meant to be compared with the written definitions by eye, so it keeps the symbols of the paper (``K`` arms,
``D`` objectives, budget ``T``, ``M(i, j)``, ``beta``), loops where the formula has an index, and shares no code with the package.
Schedules are exact: integers and fractions, never roots or logarithms in floating point.

Conventions:
    Points are ``K`` vectors of ``D`` numbers, larger is better. Arms are 0-based; rounds and order statistics are 1-based, as in
    the paper. ``draw(arm, n)`` is a tape: it returns the n-th (0-based) observation of the arm, the same one every time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from operator import sub
from typing import Any

Vector = Sequence[float]
Points = Sequence[Vector]
Draw = Callable[[int, int], Vector]
Schedule = tuple[tuple[int, ...], tuple[int, ...]]  # (lambda_1..lambda_{R+1}), (t_1..t_R)


# Dominance


def dominated_by(x: Vector, y: Vector) -> bool:
    """Returns whether ``x <= y`` in every objective and ``<`` in at least one (identical vectors: no)."""
    return all(a <= b for a, b in zip(x, y, strict=True)) and any(a < b for a, b in zip(x, y, strict=True))


def pareto_set(points: Points) -> list[bool]:
    """Returns, for every arm, whether no arm dominates it."""
    points = _rows(points)
    return [not any(dominated_by(x, y) for y in points) for x in points]


# Gaps


def m(x: Vector, y: Vector) -> float:
    """Returns ``m(x, y) = min_d (y^d - x^d)``."""
    return float(min(map(sub, y, x)))


def M(x: Vector, y: Vector) -> float:
    """Returns ``M(x, y) = max_d (x^d - y^d)``."""
    return float(max(map(sub, x, y)))


def gaps_lemma1(points: Points) -> list[float]:
    """Returns the gap of every arm, each extremum taken over all other arms (Lemma 1).

    For i not in S, ``Delta_i = Delta*_i = max_{j != i} m(i,j)``; for i in S,
    ``Delta_i = min_{j != i} min( M(i,j), M(j,i)^+ + (Delta*_j)^+ )``. A single arm has gap ``inf``.
    """
    theta = _rows(points)
    K = len(theta)
    S = pareto_set(theta)
    star = [max((m(theta[i], theta[j]) for j in range(K) if j != i), default=-math.inf) for i in range(K)]
    gaps = []
    for i in range(K):
        if not S[i]:
            gaps.append(star[i])
            continue
        delta = math.inf
        for j in range(K):
            if j != i:
                delta = min(delta, M(theta[i], theta[j]), _plus(M(theta[j], theta[i])) + _plus(star[j]))
        gaps.append(delta)
    return gaps


def gaps_front(points: Points) -> list[float]:
    """Returns the gap of every arm in the form that compares arms with the front S only.

    For i not in S, ``Delta_i = max_{j in S} m(i,j)``; for i in S,
    ``Delta_i = min( min_{j in S, j != i} min(M(i,j), M(j,i)), min_{j not in S} M(j,i)^+ + Delta_j )``.
    """
    theta = _rows(points)
    K = len(theta)
    S = pareto_set(theta)
    gaps = [math.inf] * K
    for i in range(K):
        if not S[i]:
            gaps[i] = max(m(theta[i], theta[j]) for j in range(K) if S[j])
    for i in range(K):
        if S[i]:
            for j in range(K):
                if S[j] and j != i:
                    gaps[i] = min(gaps[i], M(theta[i], theta[j]), M(theta[j], theta[i]))
                if not S[j]:
                    gaps[i] = min(gaps[i], _plus(M(theta[j], theta[i])) + gaps[j])
    return gaps


def gaps_with_exact(points: Points, exact: Sequence[bool]) -> list[float]:
    """Returns the gaps when some objectives are without noise: Lemma 1 over all arms, with another m.

    For two arms of which the second is worse in an exact objective, ``m = -inf``: it can never be found to dominate. Otherwise m
    is over the noisy objectives alone; without any, ``inf`` if the second dominates, and ``-inf`` between twins.
    """
    theta = _rows(points)
    K = len(theta)

    def doubt(x: Vector, y: Vector) -> float:
        if any(certain and a > b for a, b, certain in zip(x, y, exact, strict=True)):
            return -math.inf
        noisy = [b - a for a, b, certain in zip(x, y, exact, strict=True) if not certain]
        return min(noisy) if noisy else math.inf if dominated_by(x, y) else -math.inf

    S = pareto_set(theta)
    star = [max((doubt(theta[i], theta[j]) for j in range(K) if j != i), default=-math.inf) for i in range(K)]
    return [
        min(
            (min(-doubt(theta[i], theta[j]), _plus(-doubt(theta[j], theta[i])) + _plus(star[j])) for j in range(K) if j != i),
            default=math.inf,
        )
        if S[i]
        else star[i]
        for i in range(K)
    ]


# Margins and limits. ``delta[d]`` is None in objectives that are not compared, ``limits[d]`` is None where there is none.
# Differences are compared with the margin, and not sums with values: 0.3 - 0.1 is not 0.2.


def covers(y: Vector, x: Vector, delta: Sequence[float | None]) -> bool:
    """Returns whether y covers x: ``y^d - x^d >= -delta^d`` in every objective that is compared."""
    return all(b - a >= -e for a, b, e in zip(x, y, delta, strict=True) if e is not None)


def outdoes(y: Vector, x: Vector, delta: Sequence[float | None]) -> bool:
    """Returns whether y outdoes x: ``y^d - x^d >= delta^d`` in every objective that is compared, and ``>`` in one of them."""
    differences = [(b - a, e) for a, b, e in zip(x, y, delta, strict=True) if e is not None]
    return all(difference >= e for difference, e in differences) and any(difference > e for difference, e in differences)


def beats(y: Vector, x: Vector, delta: Sequence[float | None]) -> bool:
    """Returns whether y beats x: it covers x, and ``y^d - x^d > delta^d`` in some objective that is compared."""
    return covers(y, x, delta) and any(b - a > e for a, b, e in zip(x, y, delta, strict=True) if e is not None)


def feasible(x: Vector, limits: Sequence[float | None]) -> bool:
    """Returns whether x keeps all limits: ``x^d >= limit^d``."""
    return all(a >= limit for a, limit in zip(x, limits, strict=True) if limit is not None)


def worth_keeping(points: Points, i: int, delta: Sequence[float | None], limits: Sequence[float | None]) -> bool:
    """Returns whether arm i is feasible, and no feasible arm outdoes it."""
    return feasible(points[i], limits) and not any(outdoes(y, points[i], delta) for y in points if feasible(y, limits))


def is_right(points: Points, answer: Iterable[int], delta: Sequence[float | None], limits: Sequence[float | None]) -> bool:
    """Returns whether an answer is right within the margins.

    (a) Every member is feasible and nobody feasible outdoes it; (b) every feasible arm outside is covered by a member.
    """
    A = list(answer)
    F = [i for i in range(len(points)) if feasible(points[i], limits)]
    return all(worth_keeping(points, i, delta, limits) for i in A) and all(
        any(covers(points[j], points[i], delta) for j in A) for i in F if i not in A
    )


def feasible_pareto_set(points: Points, delta: Sequence[float | None], limits: Sequence[float | None]) -> list[bool]:
    """Returns, for every arm, whether it is feasible and no feasible arm dominates it in what is compared, margins aside."""
    seen = [[a for a, e in zip(x, delta, strict=True) if e is not None] for x in _rows(points)]
    F = [feasible(x, limits) for x in points]
    return [F[i] and not any(F[j] and dominated_by(seen[i], seen[j]) for j in range(len(seen))) for i in range(len(seen))]


def gaps_within(
    points: Points, delta: Sequence[float | None], limits: Sequence[float | None], exact: Sequence[bool]
) -> list[float]:
    """Returns the gaps within margins and limits: how far means can move before the feasible Pareto set S is wrong about an arm.

    ``room(i) = min_d x_i^d - limit^d``, ``outdo(j,i) = min_d x_j^d - x_i^d - delta^d``, ``cover(j,i)`` with ``+ delta^d``; in
    exact objectives what holds counts as ``inf`` and what does not as ``-inf``. For i not in S,
    ``Delta_i = max( -room(i), max_{j in S} min(room(j), cover(j,i)) )``; for i in S, over all other arms j,
    ``Delta_i = min( room(i), max(-room(j), -outdo(j,i)), -outdo(i,j) for j in S, (-cover(i,j))^+ + Delta_j for j not in S )``.
    """
    theta = _rows(points)
    K, D = len(theta), len(theta[0])

    def certain(d: int, difference: float) -> float:
        return difference if not exact[d] else math.inf if difference >= 0 else -math.inf

    def room(i: int) -> float:
        return min((certain(d, theta[i][d] - limits[d]) for d in range(D) if limits[d] is not None), default=math.inf)

    def outdo(j: int, i: int) -> float:
        leads = [(d, theta[j][d] - theta[i][d] - delta[d]) for d in range(D) if delta[d] is not None]
        if all(exact[d] for d, _ in leads) and not any(lead > 0 for _, lead in leads):
            return -math.inf  # twins, beyond doubt
        return min(certain(d, lead) for d, lead in leads)

    def cover(j: int, i: int) -> float:
        return min(certain(d, theta[j][d] - theta[i][d] + delta[d]) for d in range(D) if delta[d] is not None)

    S = feasible_pareto_set(theta, delta, limits)
    gaps = [math.inf] * K
    for i in range(K):
        if not S[i]:
            gaps[i] = max(-room(i), max((min(room(j), cover(j, i)) for j in range(K) if S[j]), default=-math.inf))
    for i in range(K):
        if S[i]:
            gaps[i] = room(i)
            for j in range(K):
                if j != i:
                    gaps[i] = min(gaps[i], max(-room(j), -outdo(j, i)))
                    gaps[i] = min(gaps[i], -outdo(i, j) if S[j] else _plus(-cover(i, j)) + gaps[j])
    return gaps


# Complexity


def complexity(points: Points) -> float:
    """Returns ``H = sum_i Delta_i^-2``, inf when a gap is 0."""
    return _sum(_inverse_square(gap) for gap in gaps_lemma1(points))


def complexity_h2(points: Points) -> float:
    """Returns ``H2 = max_i i * Delta_(i)^-2``, the gaps sorted increasingly."""
    return max(i * _inverse_square(gap) for i, gap in enumerate(sorted(gaps_lemma1(points)), start=1))


def relaxed_gaps(points: Points, k: int) -> list[float]:
    """Returns ``max(Delta_i, omega_k)`` for optimal arms and ``Delta_i`` for the others.

    ``omega_k`` is the k-th largest gap among optimal arms, and 0 when there are fewer than k of them.
    """
    gaps = gaps_lemma1(points)
    S = pareto_set(points)
    largest_first = sorted((gap for gap, optimal in zip(gaps, S, strict=True) if optimal), reverse=True)
    omega = largest_first[k - 1] if len(largest_first) >= k else 0.0
    return [max(gap, omega) if optimal else gap for gap, optimal in zip(gaps, S, strict=True)]


# Schedules


def sr(K: int, T: int) -> Schedule:
    """Returns the schedule of Successive Rejects, ``n_r = ceil( (T-K) / (logbar(K) (K+1-r)) )``; nothing is pulled for T <= K."""
    n = [0]
    for r in range(1, K):
        n.append(max(0, math.ceil(Fraction(T - K) / (_logbar(K) * (K + 1 - r)))))
    return tuple(range(K, 0, -1)), _increments(n)


def sh(K: int, T: int) -> Schedule:
    """Returns the schedule of Sequential Halving, ``t_r = floor( T / (lambda_r R) )``."""
    R = _ceil_log2(K)
    active = [K]
    pulls = []
    for _ in range(R):
        pulls.append(math.floor(Fraction(T, active[-1] * R)))
        active.append(math.ceil(Fraction(active[-1], 2)))
    return tuple(active), tuple(pulls)


def gg(K: int, T: int, R: int | None = None) -> Schedule:
    """Returns the geometric schedule with R rounds, rounds that eliminate nothing merged into the next elimination.

    Both floors are found by comparing integer powers:
    ``x <= K^(1-(r-1)/R)`` is ``x^R <= K^(R-r+1)``, and ``x <= (T/R) K^(r/R) / K^(1+1/R)`` is ``(x R)^R K^(R-r+1) <= T^R``.
    """
    if R is None:
        R = _ceil_log2(K)
    if R == 0:
        return (K,), ()
    lambdas = [_largest(lambda x, r=r: x**R <= K ** (R - r + 1)) for r in range(1, R + 2)]
    n = [0] + [_largest(lambda x, r=r: (x * R) ** R * K ** (R - r + 1) <= T**R) for r in range(1, R + 1)]

    active = [K]
    pulls = []
    waiting = (
        0  # pulls of rounds that eliminated nothing; those of the last such rounds never find an elimination and are dropped
    )
    for r, t in enumerate(_increments(n)):
        waiting += t
        if lambdas[r + 1] < lambdas[r]:
            active.append(lambdas[r + 1])
            pulls.append(waiting)
            waiting = 0
    return tuple(active), tuple(pulls)


def uniform(K: int, T: int) -> Schedule:
    """Returns one round of ``floor(T/K)`` pulls after which nobody stays."""
    return (K, 0), (T // K,)


def cost(active: Sequence[int], pulls: Sequence[int]) -> int:
    """Returns ``sum_r lambda_r t_r``."""
    return sum(active[r] * pulls[r] for r in range(len(pulls)))


def smallest_budget(make: Callable[[int, int], Schedule], K: int) -> int:
    """Returns the smallest ``T >= 0`` whose schedule has ``t_1 >= 1``, or no rounds at all."""
    T = 0
    while True:
        _, pulls = make(K, T)
        if not pulls or pulls[0] >= 1:
            return T
        T += 1


def spend_all(make: Callable[[int, int], Schedule], K: int, T: int) -> Schedule:
    """Returns the schedule printed for the largest ``T' >= T`` whose cost fits T (the printed one when it has no rounds)."""
    schedule = make(K, T)
    if not schedule[1]:
        return schedule
    nominal = T
    # The cost never falls as T' grows, so the first T' that does not fit ends the search.
    while cost(*make(K, nominal + 1)) <= T:
        nominal += 1
        schedule = make(K, nominal)
    return schedule


# Elimination


def ege(active: Sequence[int], pulls: Sequence[int], draw: Draw, max_arms: int | None = None) -> dict[str, Any]:
    """Returns what Empirical Gap Elimination does with a schedule (Algorithm 1; with ``max_arms=k`` Algorithm 2).

    Active arms have equal counts, so their sums order as their means do, and ties between integer sums are exact.

    Returns:
        ``answer``, ``accepted``, ``rejected`` and ``still_active`` as sorted lists, ``counts`` per arm, and ``rounds``, the
        number of rounds run.
    """
    K = active[0]
    samples = _Samples(K, draw)
    A, accepted, rejected = list(range(K)), [], []
    rounds = 0
    enough = False
    for r in range(len(pulls)):
        for arm in A:
            for _ in range(pulls[r]):
                samples.pull(arm)
        sums = [samples.sums[arm] for arm in A]
        gap = dict(zip(A, gaps_lemma1(sums), strict=True))
        in_S = dict(zip(A, pareto_set(sums), strict=True))
        # The smallest gaps stay; among equal gaps arms of S_r stay before the others, and then smaller indices before larger.
        first_to_stay = sorted(A, key=lambda arm: (gap[arm], not in_S[arm], arm))
        for arm in first_to_stay[active[r + 1] :]:
            (accepted if in_S[arm] else rejected).append(arm)
        A = sorted(first_to_stay[: active[r + 1]])
        rounds = r + 1
        enough = max_arms is not None and len(accepted) >= max_arms
        if enough:
            break
    return {
        "answer": sorted(accepted) if enough else sorted(accepted + A),
        "accepted": sorted(accepted),
        "rejected": sorted(rejected),
        "still_active": A,
        "counts": samples.counts,
        "rounds": rounds,
    }


def successive_rejects(K: int, T: int, draw: Draw) -> int:
    """Returns the arm Successive Rejects recommends for D = 1 (Audibert, Bubeck, Munos 2010), no ties assumed."""
    samples = _Samples(K, draw)
    A = list(range(K))
    n_before = 0
    for k in range(1, K):
        n_k = math.ceil(1 / _logbar(K) * Fraction(T - K, K + 1 - k))
        for arm in A:
            for _ in range(n_k - n_before):
                samples.pull(arm)
        A.remove(min(A, key=lambda arm: samples.sums[arm][0]))
        n_before = n_k
    return A[0]


def sequential_halving(K: int, T: int, draw: Draw) -> int:
    """Returns the arm Sequential Halving recommends for D = 1 (Karnin, Koren, Somekh 2013), samples kept, no ties assumed."""
    samples = _Samples(K, draw)
    A = list(range(K))
    while len(A) > 1:
        for arm in A:
            for _ in range(math.floor(Fraction(T, len(A) * _ceil_log2(K)))):
                samples.pull(arm)
        best_first = sorted(A, key=lambda arm: samples.sums[arm][0], reverse=True)
        A = best_first[: math.ceil(Fraction(len(A), 2))]
    return A[0]


# Adaptive sampling; all of it needs T >= K, and apt T >= n0 K


def ape_fb(K: int, T: int, a: float, draw: Draw) -> dict[str, list[int]]:
    """Returns the ``pulls`` of APE-FB in order and its ``answer`` S(T), with ``beta_i = (2/5) sqrt(a / T_i)``."""
    return _ape(K, T, lambda means: a, draw)


def ape_fb_adapt(K: int, T: int, c: float, draw: Draw) -> dict[str, list[int]]:
    """Returns the ``pulls`` and ``answer`` of APE-FB with a renewed for every arm at every step (corrected APE-FB-ADAPT).

    ``a(t) = c (25/36) (T-K) / H_hat(t)`` with ``H_hat(t) = sum_i max(Delta_hat_i(t), 1e-8)^-2``.
    """

    def exploration(means: Points) -> float:
        H_hat = _sum(_inverse_square(max(gap, 1e-8)) for gap in gaps_lemma1(means))
        return c * (25 / 36) * (T - K) / H_hat

    return _ape(K, T, exploration, draw)


def ape_fb_adapt_as_published(K: int, T: int, c: float, draw: Draw) -> dict[str, list[int]]:
    """Returns the ``pulls`` and ``answer`` of APE-FB-ADAPT in the form that fails: only one bonus is refreshed per step.

    Bonuses start at 0. A step chooses b and c with the current ones, pulls both, and sets
    ``beta_a = (2/5) sqrt( c (25/36) (T-K) / (H_hat N_a) )`` only for the arm a that had fewer pulls (b when equal), with ``N_a``
    counted after the step and ``H_hat = sum_i (Delta_hat_i + 1e-8)^-2`` of the means before it. A last single pull goes to a.
    """
    samples = _Samples(K, draw)
    pulls = list(range(K))
    for arm in pulls:
        samples.pull(arm)
    beta = [0.0] * K
    while len(pulls) < T:
        means = samples.means()
        H_hat = _sum(_inverse_square(gap + 1e-8) for gap in gaps_lemma1(means))
        first, second = _ape_pair(means, beta)
        refreshed = _less_pulled(first, second, samples.counts)
        step = sorted({first, second}) if len(pulls) + 2 <= T else [refreshed]
        for arm in step:
            samples.pull(arm)
            pulls.append(arm)
        if K > 1:  # a lone arm has H_hat = 0, and no bonus to compare
            beta[refreshed] = (2 / 5) * math.sqrt(c * (25 / 36) * (T - K) / (H_hat * samples.counts[refreshed]))
    return {"pulls": pulls, "answer": _arms(pareto_set(samples.means()))}


def apt(
    K: int,
    T: int,
    draw: Draw,
    gamma: float = 0.2,
    n0: int = 3,
    batch: int = 1,
    delta: Sequence[float | None] | None = None,
    limits: Sequence[float | None] | None = None,
) -> dict[str, list[int]]:
    """Returns the ``pulls`` of apt in order and its ``answer``, the empirical Pareto set.

    With margins ``delta`` and ``limits``, the gaps are those within them, and the answer is the feasible Pareto set.

    Every arm is pulled ``n0`` times, then ``batch`` pulls are chosen at a time (the last batch is cut to the budget). Inside a
    batch the gaps are those of its start, while ``N_i`` and ``t = sum_i N_i`` count the pulls it has already chosen.
    """
    samples = _Samples(K, draw)
    pulls = [arm for arm in range(K) for _ in range(n0)]
    for arm in pulls:
        samples.pull(arm)
    while len(pulls) < T:
        means = samples.means()
        gaps = gaps_lemma1(means) if delta is None else gaps_within(means, delta, limits, [False] * len(delta))
        N = list(samples.counts)
        chosen = []
        for _ in range(min(batch, T - len(pulls))):
            arm = _apt_arm(N, gaps, gamma)
            N[arm] += 1
            chosen.append(arm)
        for arm in sorted(chosen):
            samples.pull(arm)
            pulls.append(arm)
    means = samples.means()
    return {"pulls": pulls, "answer": _arms(pareto_set(means) if delta is None else feasible_pareto_set(means, delta, limits))}


# Classes of the lower bounds


def in_class_b(points: Points) -> bool:
    """Returns whether the means are in the class B of the lower bound (never, when a gap is 0)."""
    theta = _rows(points)
    gaps = gaps_lemma1(theta)
    optimal, sub_optimal = _optimal_and_sub_optimal(theta)
    if 0 in gaps:
        return False

    if any(len(_dominators(theta, i)) != 1 for i in sub_optimal):
        return False
    under = {}
    for j in optimal:
        dominated = [i for i in range(len(theta)) if dominated_by(theta[i], theta[j])]
        if len(dominated) != 1:
            return False
        under[j] = dominated[0]
    return all(
        M(theta[i], theta[j]) >= 3 * max(gaps[i], gaps[under[j]])
        for i in sub_optimal
        for j in optimal
        if not dominated_by(theta[i], theta[j])
    )


def in_class_b_prime(points: Points) -> bool:
    """Returns whether the means are in the larger class B' of the appendix (never, when a gap is 0)."""
    theta = _rows(points)
    K, D = len(theta), len(theta[0])
    gaps = gaps_lemma1(theta)
    optimal, sub_optimal = _optimal_and_sub_optimal(theta)
    if 0 in gaps:
        return False

    def escapes(i: int, d: int, j: int) -> bool:
        # theta_i + Delta_i e_d is not strictly below theta_j. The raised coordinate is compared as a difference, because the arm
        # that defines Delta_i is met with equality and rounding theta_i^d + Delta_i could fall on either side of it.
        elsewhere = any(theta[j][e] <= theta[i][e] for e in range(D) if e != d)
        return elsewhere or theta[j][d] - theta[i][d] <= gaps[i]

    condition_1 = all(any(all(escapes(i, d, j) for j in range(K) if j != i) for d in range(D)) for i in sub_optimal)

    under = {}
    for i in optimal:
        maximally_by_i_alone = [k for k in sub_optimal if _maximal_dominators(theta, k) == [i]]  # Pi(i)
        if len(maximally_by_i_alone) != 1 or _dominators(theta, maximally_by_i_alone[0]) != [i]:
            return False
        under[i] = maximally_by_i_alone[0]

    condition_3 = all(
        M(theta[i], theta[j]) >= 3 * max(gaps[under[i]], gaps[under[j]]) for i in optimal for j in optimal if i != j
    )
    condition_4 = all(
        M(theta[i], theta[j]) >= 3 * max(gaps[i], gaps[j])
        for i in range(K)
        for j in range(K)
        if i != j and not dominated_by(theta[i], theta[j])
    )
    return condition_1 and condition_3 and condition_4


# The pieces the formulas above are made of


class _Samples:
    """Counts and sums of the observations of every arm, added one by one in the order of the tape."""

    def __init__(self, K: int, draw: Draw) -> None:
        D = len(draw(0, 0))  # looking at a tape is not a pull
        self.draw = draw
        self.counts = [0] * K
        self.sums = [[0.0] * D for _ in range(K)]

    def pull(self, arm: int) -> None:
        observation = self.draw(arm, self.counts[arm])
        self.counts[arm] += 1
        self.sums[arm] = [total + float(value) for total, value in zip(self.sums[arm], observation, strict=True)]

    def means(self) -> list[list[float]]:
        return [[total / count for total in sums] for sums, count in zip(self.sums, self.counts, strict=True)]


def _ape(K: int, T: int, exploration: Callable[[Points], float], draw: Draw) -> dict[str, list[int]]:
    """Returns the pulls and answer of APE-FB with ``a = exploration(means)`` at every step; a lone arm takes every pull."""
    samples = _Samples(K, draw)
    pulls = list(range(K))
    for arm in pulls:
        samples.pull(arm)
    while len(pulls) < T:
        means = samples.means()
        a = exploration(means) if K > 1 else 0.0
        beta = [(2 / 5) * math.sqrt(a / count) for count in samples.counts]
        arm = _less_pulled(*_ape_pair(means, beta), samples.counts)
        samples.pull(arm)
        pulls.append(arm)
    return {"pulls": pulls, "answer": _arms(pareto_set(samples.means()))}


def _ape_pair(means: Points, beta: Vector) -> tuple[int, int]:
    """Returns b and c of APE; ``min`` and ``max`` return the first extremum, hence the smallest index."""
    arms = range(len(means))
    if len(means) == 1:
        return 0, 0
    excess = [[M(means[i], means[j]) for j in arms] for i in arms]

    def lower(i: int) -> float:
        return min(excess[i][j] - beta[i] - beta[j] for j in arms if j != i)

    def upper(i: int) -> float:
        return min(excess[i][j] + beta[i] + beta[j] for j in arms if j != i)

    OPT = [i for i in arms if all(excess[i][j] - beta[i] - beta[j] > 0 for j in arms if j != i)]
    b = min(arms, key=lower) if len(OPT) == len(means) else max((i for i in arms if i not in OPT), key=upper)
    c = min((j for j in arms if j != b), key=lambda j: excess[b][j] - beta[j])
    return b, c


def _apt_arm(N: Sequence[int], gaps: Sequence[float], gamma: float) -> int:
    """Returns the least pulled arm if ``min_i N_i < gamma t / K``, else ``argmin_i sqrt(N_i) Delta_hat_i``.

    Ties of the first go to the smallest index, of the second to the fewest pulls and then the smallest index.
    """
    K, t = len(N), sum(N)
    if min(N) < gamma * t / K:
        return N.index(min(N))
    return min(range(K), key=lambda i: (math.sqrt(N[i]) * gaps[i], N[i], i))


def _less_pulled(b: int, c: int, counts: Sequence[int]) -> int:
    """Returns whichever of b and c has fewer pulls, b when equal."""
    return c if counts[c] < counts[b] else b


def _optimal_and_sub_optimal(theta: Points) -> tuple[list[int], list[int]]:
    S = pareto_set(theta)
    return _arms(S), _arms([not optimal for optimal in S])


def _dominators(theta: Points, i: int) -> list[int]:
    """Returns Omega(i), the arms that dominate arm i."""
    return [j for j in range(len(theta)) if dominated_by(theta[i], theta[j])]


def _maximal_dominators(theta: Points, i: int) -> list[int]:
    """Returns Omega*(i), the arms j with ``m(i,j) = Delta*_i``."""
    others = [j for j in range(len(theta)) if j != i]
    delta = max(m(theta[i], theta[j]) for j in others)
    return [j for j in others if m(theta[i], theta[j]) == delta]


@cache
def _logbar(K: int) -> Fraction:
    """Returns ``1/2 + sum_{i=2..K} 1/i``."""
    total = Fraction(1, 2)
    for i in range(2, K + 1):
        total += Fraction(1, i)
    return total


def _ceil_log2(K: int) -> int:
    """Returns the smallest R with ``2^R >= K``."""
    R = 0
    while 2**R < K:
        R += 1
    return R


def _largest(holds: Callable[[int], bool]) -> int:
    """Returns the largest ``x >= 0`` for which ``holds(x)``, given that it holds at 0 and fails from some x on."""
    too_large = 1
    while holds(too_large):
        too_large *= 2
    good = too_large // 2
    while too_large - good > 1:
        middle = (good + too_large) // 2
        if holds(middle):
            good = middle
        else:
            too_large = middle
    return good


def _increments(n: Sequence[int]) -> tuple[int, ...]:
    """Returns ``t_r = n_r - n_{r-1}`` from ``n_0, n_1, ..``."""
    return tuple(n[r] - n[r - 1] for r in range(1, len(n)))


def _inverse_square(gap: float) -> float:
    """Returns ``gap^-2``: inf for 0, and 0 for inf."""
    square = gap * gap
    return 1.0 / square if square > 0 else math.inf


def _sum(terms: Iterable[float]) -> float:
    """Returns the sum in order; the builtin compensates for rounding in some versions of Python and not in others."""
    total = 0.0
    for term in terms:
        total = total + term
    return total


def _plus(x: float) -> float:
    """Returns ``x^+ = max(x, 0)``."""
    return max(x, 0.0)


def _rows(points: Points) -> list[list[float]]:
    """Returns the points as lists of Python floats, whatever sequence or array they came in."""
    return [[float(value) for value in row] for row in points]


def _arms(mask: Sequence[bool]) -> list[int]:
    return [arm for arm, chosen in enumerate(mask) if chosen]
