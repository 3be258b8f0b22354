"""Claims 5 to 8, about something else than error rates: losses and hypervolumes of PSI-k, run times, and the tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from paretopick.paper.catalogue import CATALOGUE, MAIN, MORE
from paretopick.paper.comparisons import (
    FAILS,
    HOLDS,
    OPEN,
    Claim,
    Finding,
    Part,
    Result,
    all_of,
    any_of,
    exponentially,
    missing,
    outperforms,
    shown,
)
from paretopick.paper.database import Point
from paretopick.paper.entries import Results, rate_and_interval
from paretopick.paper.figures import HypervolumeFigure, RelaxedFigure, RuntimeFigure
from paretopick.paper.series import EGE_SH, EGE_SR
from paretopick.paper.tables import BOUNDS, PRINTED_VOLUMES, SIZES, TARGET, VOLUME_MARGINS, BoundsTable, size_of, upper_bound

RELAXED = ("relaxed-snw-paper", "relaxed-convex-front")
"""The figures of PSI-k losses."""


def relaxed(results: Results, names: Sequence[str]) -> Claim:
    """The PSI-k loss against k and the budget (claim 5)."""
    falls: list[Finding] = []
    fast: list[Finding] = []
    smaller: list[Finding] = []
    at_size: list[Finding] = []
    beyond: list[Finding] = []
    for entry in map(CATALOGUE.__getitem__, names):
        assert isinstance(entry, RelaxedFigure)
        name = entry.instances[0]
        points = {k: results.points(entry.relaxed(results, k)) for k in entry.sizes} if results.has(name) else {}
        if not points or not all(points.values()):
            for findings in (falls, fast, smaller, at_size, beyond):
                findings.append(missing(f"{name}, EGE-SR-k", results, name))
            continue
        size = int(results.bandit(name).optimal.sum())
        falls += [_falls(name, k, points[k]) for k in entry.sizes]
        fast += [_exponentially(name, k, points[k]) for k in entry.sizes]
        smaller.append(_in_order(name, [points[k] for k in entry.sizes if k <= size]))
        above = [k for k in entry.sizes if k > size]
        at_size.append(_at_the_size(name, size, points[size], points[above[0]]))
        beyond.append(_the_same(name, {k: points[k] for k in above}))
    both = set(names) == set(RELAXED)
    return Claim(
        5,
        "Appendix G.2.1",
        "We observe (Fig. 17 and Fig. 18) that the loss (the probability of error of EGE-SR-k) decreases exponentially fast with "
        "the budget. [...] We remark that the smaller k the smaller the loss [...]. We also note that for k = |S*|, the loss can "
        "be smaller than when k > |S*|. [...] Finally, note that the expected loss of PSI-k is the same as PSI for any k > |S*|.",
        (
            Part("the loss decreases with the budget", tuple(falls)),
            Part('"exponentially fast"', tuple(fast)),
            Part("the smaller k the smaller the loss, up to |S*|", tuple(smaller)),
            Part('for k = |S*| the loss "can" be smaller than beyond', _some(at_size, complete=both)),
            Part("beyond |S*| the loss is the same for any k", tuple(beyond)),
        ),
        remark="The noise of the sorting networks is our guess, and with it how fast their losses fall.",
    )


def _falls(name: str, k: int, points: Sequence[Point]) -> Finding:
    first, last = points[0], points[-1]
    text = f"{name}, k = {k}: {shown(first, 'relaxed_losses')} at T = {first.budget}"
    text += f", {shown(last, 'relaxed_losses')} at T = {last.budget}"
    return Finding(text, outperforms(last, first, of="relaxed_losses"))


def _exponentially(name: str, k: int, points: Sequence[Point]) -> Finding:
    straight, power, result = exponentially(points)
    losses = ", ".join(str(int(point.curve.relaxed_losses[0])) for point in points)
    text = f"{name}, k = {k}: losses {losses} of {points[-1].runs}"
    return Finding(f"{text}; deviance {straight:.0f} if exponential, {power:.0f} if a power of T", result)


def _in_order(name: str, lines: Sequence[Sequence[Point]]) -> Finding:
    """Every two neighbouring k must be seen in that order at some budget, and at none in the other."""
    found = [
        [outperforms(a, b, of="relaxed_losses") for a, b in zip(line, next_line, strict=True)]
        for line, next_line in itertools.pairwise(lines)
    ]
    every = list(itertools.chain.from_iterable(found))
    n_in, n_out = every.count(HOLDS), every.count(FAILS)
    text = f"{name}: of {len(every)} pairs of neighbouring k at the same budget {n_in} are in that order and {n_out} in the other"
    return Finding(text, FAILS if n_out else HOLDS if all(HOLDS in several for several in found) else OPEN)


def _at_the_size(name: str, size: int, at: Sequence[Point], beyond: Sequence[Point]) -> Finding:
    """Runs are the same for all k, and one that loses at k = |S*| loses beyond it too: one run that does not is enough."""
    pairs = [(a, b) for a, b in zip(at, beyond, strict=True) if a.runs == b.runs]
    if not pairs:
        return Finding(f"{name}: different numbers of runs for different k", OPEN)
    spared = [int(b.curve.relaxed_losses[0] - a.curve.relaxed_losses[0]) for a, b in pairs]
    a, b = pairs[spared.index(max(spared))]
    text = f"{name}: k = {size} loses {shown(a, 'relaxed_losses')} and larger k {shown(b, 'relaxed_losses')} of the same runs "
    return Finding(f"{text}at T = {a.budget}", FAILS if min(spared) < 0 else HOLDS if max(spared) > 0 else OPEN)


def _the_same(name: str, points: Mapping[int, Sequence[Point]]) -> Finding:
    ks = " and ".join(f"k = {k}" for k in points)
    if len({tuple(point.runs for point in several) for several in points.values()}) > 1:
        return Finding(f"{name}: different numbers of runs for {ks}", OPEN)
    losses = {tuple(int(point.curve.relaxed_losses[0]) for point in several) for several in points.values()}
    same = len(losses) == 1
    text = f"{name}: {ks} lose {'the same number of' if same else 'different numbers of'} runs at every budget"
    return Finding(text, HOLDS if same else FAILS)


def _some(findings: Sequence[Finding], *, complete: bool) -> tuple[Finding, ...]:
    """One is enough; if none does, what was not looked at might."""
    result = any_of(one.result for one in findings)
    if not complete and result != HOLDS:
        return ()
    return (Finding("; ".join(one.text for one in findings), result, any(one.run for one in findings)),)


def hypervolume(results: Results, names: Sequence[str]) -> Claim:
    """The hypervolume fraction against k (claim 6)."""
    near: list[Finding] = []
    grows: list[Finding] = []
    for entry in map(CATALOGUE.__getitem__, names):
        assert isinstance(entry, HypervolumeFigure)
        name = entry.instances[0]
        points = [results.points(entry.covered(results, k)) for k in entry.sizes] if results.has(name) else []
        if not points or not all(points):
            for findings in (near, grows):
                findings.append(missing(f"{name}, EGE-SR-k", results, name))
            continue
        means = [float(point.curve.hypervolume[0]) for (point,) in points]
        limits = [tuple(map(float, point.curve.hypervolume_interval()[0])) for (point,) in points]
        (low, high), printed, margin = limits[0], PRINTED_VOLUMES[name], VOLUME_MARGINS[name]
        inside = printed - margin <= low and high <= printed + margin
        outside = high < printed - margin or low > printed + margin
        text = f"{name}, k = 1: {means[0]:.3f} ({low:.3f} to {high:.3f}); the paper: nearly {printed:g} (within {margin:g})"
        near.append(Finding(text, HOLDS if inside else FAILS if outside else OPEN))
        falls = any(b[1] < a[0] for a, b in itertools.pairwise(limits))
        rises = limits[-1][0] > limits[0][1]
        text = f"{name}, k = 1, 2, ..: {', '.join(f'{mean:.3f}' for mean in means)}"
        grows.append(Finding(text, FAILS if falls else HOLDS if rises else OPEN))
    return Claim(
        6,
        "Appendix G.2.1",
        "We observe on Fig. 19 that the estimated value of E[alpha_HV] is nearly 0.85 for k = 1 and it naturally increases with "
        "k. In Fig. 20, for k = 1, the arm returned by EGE-SR-k covers nearly half of the region dominated by the Pareto set.",
        (
            Part('for k = 1 the fraction is "nearly" 0.85, and nearly half', tuple(near)),
            Part("it increases with k", tuple(grows)),
        ),
    )


def runtime(results: Results, names: Sequence[str]) -> Claim:
    """How long a run takes against the number of arms (claim 7)."""
    quick, growth = [], []
    for entry in map(CATALOGUE.__getitem__, names):
        assert isinstance(entry, RuntimeFigure)
        rows = entry.rows(results)
        for one in (EGE_SR, EGE_SH):
            times = [(row["n_arms"], row["seconds_per_run"]) for row in rows if row["policy"] == one.policy]
            label = f"D = {entry.n_objectives}, {one.label}"
            if len(times) < 4:
                quick.append(missing(label, results))
                growth.append(missing(label, results))
                continue
            (few, short), (many, long) = times[-4], times[-1]
            power = math.log(long / short) / math.log(many / few)
            quick.append(Finding(f"{label}: {long * 1e3:.3f} milliseconds with {many} arms", HOLDS if long < 1 else FAILS))
            text = f"{label}: from {few} to {many} arms like K to the power {power:.1f}"
            growth.append(Finding(text, HOLDS if power <= 3 else FAILS))
    return Claim(
        7,
        "Appendix G.1",
        "We observe that both algorithms can be used for applications on large scale datasets with a reasonable runtime.",
        (
            Part('"reasonable": a run at the largest K takes less than a second', tuple(quick)),
            Part(
                "time grows no faster than the paper's count of operations, R K^2 D, with K rounds", tuple(growth), counts=False
            ),
        ),
        remark="Times are of one machine; the paper gives curves and no numbers.",
    )


def tables(results: Results, names: Sequence[str]) -> Claim:
    """The sizes of the instances, and the bounds (claim 8)."""
    sizes = [_size(results, name, printed) for name, printed in SIZES.items()] if "instances" in names else []
    listed = (*MAIN, *MORE) if "bounds" in names else ()
    return Claim(
        8,
        "Tables 1 and 2",
        "Upper bounds on e_T(nu) for different algorithms (up to constants). [...] Summary of the bandit instances used in the "
        "main paper.",
        (
            Part("K, D and |S*| are those of Table 2", tuple(sizes)),
            Part(
                f"with the budget for which its bound promises an error of {TARGET:.0%}, a round-based policy keeps the promise",
                tuple(_kept_promise(results, name) for name in listed),
            ),
            Part("at the paper's budgets no error is above its bound", _below_bounds(results, listed), counts=False),
        ),
        remark="A bound above 1 cannot be contradicted: bounds say how the error falls, not what it is. They are therefore tried "
        "where they promise something. APE-FB is not: its runs take as long as their budget.",
    )


def _size(results: Results, name: str, printed: tuple[int, int, int]) -> Finding:
    if not results.has(name):
        return missing(name, results, name)
    ours = size_of(results.bandit(name))
    return Finding(f"{name}: K, D, |S*| are {', '.join(map(str, ours))}", HOLDS if ours == printed else FAILS)


def _kept_promise(results: Results, name: str) -> Finding:
    entry = CATALOGUE["bounds"]
    assert isinstance(entry, BoundsTable)
    promised = entry.promised(results, name) if results.has(name) else {}
    points = {label: point for label, series in promised.items() for point in results.points(series)}
    if not promised or len(points) < len(promised):
        return missing(name, results, name)
    found: list[Result] = []
    for point in points.values():
        _, low, high = rate_and_interval(point)
        found.append(HOLDS if high <= TARGET else FAILS if low > TARGET else OPEN)
    text = ", ".join(f"{label} {shown(point)} at T = {point.budget:,}" for label, point in points.items())
    return Finding(f"{name}: {text}", all_of(found))


def _below_bounds(results: Results, names: Sequence[str]) -> tuple[Finding, ...]:
    n_bounds = n_useful = n_contradicted = 0
    for name in filter(results.has, names):
        for algorithm in BOUNDS:
            if point := results.final(name, algorithm):
                value = upper_bound(algorithm, results.bandit(name), point.budget)
                n_bounds, n_useful = n_bounds + 1, n_useful + (value < 1)
                n_contradicted += rate_and_interval(point)[1] > value
    if not n_bounds:
        return tuple(missing("policies with a bound", results) for _ in names[:1])
    text = f"of {n_bounds} bounds {n_useful} are below 1, and {n_contradicted} are contradicted"
    return (Finding(text, FAILS if n_contradicted else HOLDS if n_useful else OPEN),)
