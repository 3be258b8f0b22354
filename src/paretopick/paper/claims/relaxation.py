"""Claims about PSI-k: losses and hypervolume fractions against k (claims 5 and 6)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from paretopick.paper.catalogue import CATALOGUE
from paretopick.paper.curves import HypervolumeFigure, RelaxedFigure
from paretopick.paper.evidence import Evidence
from paretopick.paper.judging import (
    FAILS,
    HOLDS,
    OPEN,
    Claim,
    Finding,
    Part,
    any_of,
    compare,
    missing,
    shown,
)
from paretopick.paper.ledger import Point
from paretopick.paper.tables import PRINTED_VOLUMES, VOLUME_MARGINS


def relaxed(evidence: Evidence) -> Claim:
    """The PSI-k loss against k and the budget (claim 5)."""
    falls: list[Finding] = []
    smaller: list[Finding] = []
    at_size: list[Finding] = []
    beyond: list[Finding] = []
    for entry in (CATALOGUE["relaxed-snw-paper"], CATALOGUE["relaxed-convex-front"]):
        assert isinstance(entry, RelaxedFigure)
        name = entry.instances[0]
        points = {k: evidence.points(entry.relaxed(evidence, k)) for k in entry.sizes} if evidence.has(name) else {}
        if not points or not all(points.values()):
            for findings in (falls, smaller, at_size, beyond):
                findings.append(missing(f"{name}, EGE-SR-k", evidence, name))
            continue
        size = int(evidence.bandit(name).optimal.sum())
        for k in entry.sizes:
            first, last = points[k][0], points[k][-1]
            text = f"{name}, k = {k}: {shown(first, 'relaxed_losses')} at T = {first.budget}, "
            text += f"{shown(last, 'relaxed_losses')} at T = {last.budget}"
            falls.append(Finding(text, compare(last, first, of="relaxed_losses")))
        smaller.append(_in_order(name, [points[k] for k in entry.sizes if k <= size]))
        above = [k for k in entry.sizes if k > size]
        at_size.append(_at_the_size(name, size, points[size], points[above[0]]))
        beyond.append(_the_same(name, {k: points[k] for k in above}))
    return Claim(
        5,
        "PSI-k with EGE-SR-k: the loss falls with the budget, is smaller for smaller k, can be smaller at k = |S*| than for "
        "larger k, and no longer depends on k beyond |S*|.",
        (
            Part("the loss falls with the budget", tuple(falls)),
            Part("the loss is smaller for smaller k, up to |S*|", tuple(smaller)),
            Part("the loss at k = |S*| can be smaller than beyond", (_some(at_size),)),
            Part("beyond |S*| the loss does not depend on k", tuple(beyond)),
        ),
    )


def _in_order(name: str, lines: Sequence[Sequence[Point]]) -> Finding:
    """Every two neighbouring k must be seen in that order at some budget, and at none in the other."""
    verdicts = [
        [compare(a, b, of="relaxed_losses") for a, b in zip(line, next_line, strict=True)]
        for line, next_line in itertools.pairwise(lines)
    ]
    every = list(itertools.chain.from_iterable(verdicts))
    n_in, n_out = every.count(HOLDS), every.count(FAILS)
    text = f"{name}: of {len(every)} pairs of neighbouring k at the same budget {n_in} are in that order and {n_out} in the other"
    return Finding(text, FAILS if n_out else HOLDS if all(HOLDS in several for several in verdicts) else OPEN)


def _at_the_size(name: str, size: int, at: Sequence[Point], beyond: Sequence[Point]) -> Finding:
    """Runs are the same for all k, and one that loses at k = |S*| loses beyond it too: one run that does not is enough."""
    pairs = [(a, b) for a, b in zip(at, beyond, strict=True) if a.runs == b.runs]
    if not pairs:
        return Finding(f"{name}: different numbers of runs for different k", OPEN)
    spared = [int(b.curve.relaxed_losses[0] - a.curve.relaxed_losses[0]) for a, b in pairs]
    a, b = pairs[spared.index(max(spared))]
    text = f"{name}: k = {size} loses {shown(a, 'relaxed_losses')} and larger k {shown(b, 'relaxed_losses')} of the same runs "
    return Finding(f"{text}at T = {a.budget}", FAILS if min(spared) < 0 else HOLDS if max(spared) > 0 else OPEN)


def _the_same(name: str, points: dict[int, Sequence[Point]]) -> Finding:
    ks = " and ".join(f"k = {k}" for k in points)
    if len({tuple(point.runs for point in several) for several in points.values()}) > 1:
        return Finding(f"{name}: different numbers of runs for {ks}", OPEN)
    losses = {tuple(int(point.curve.relaxed_losses[0]) for point in several) for several in points.values()}
    same = len(losses) == 1
    text = f"{name}: {ks} lose {'the same number of' if same else 'different numbers of'} runs at every budget"
    return Finding(text, HOLDS if same else FAILS)


def _some(findings: Sequence[Finding]) -> Finding:
    """One is enough."""
    text = "; ".join(finding.text for finding in findings)
    return Finding(text, any_of(finding.verdict for finding in findings), any(finding.run for finding in findings))


def hypervolume(evidence: Evidence) -> Claim:
    """The hypervolume fraction against k (claim 6)."""
    near: list[Finding] = []
    grows: list[Finding] = []
    for name, printed in PRINTED_VOLUMES.items():
        entry = CATALOGUE[f"hypervolume-{name}"]
        assert isinstance(entry, HypervolumeFigure)
        points = [evidence.points(entry.covered(evidence, k)) for k in entry.sizes] if evidence.has(name) else []
        if not points or not all(points):
            for findings in (near, grows):
                findings.append(missing(f"{name}, EGE-SR-k", evidence, name))
            continue
        means = [float(point.curve.hypervolume[0]) for (point,) in points]
        limits = [tuple(map(float, point.curve.hypervolume_interval()[0])) for (point,) in points]
        (low, high), margin = limits[0], VOLUME_MARGINS[name]
        inside = printed - margin <= low and high <= printed + margin
        outside = high < printed - margin or low > printed + margin
        text = f"{name}, k = 1: {means[0]:.3f} ({low:.3f} to {high:.3f}); the paper: about {printed:g} (within {margin:g})"
        near.append(Finding(text, HOLDS if inside else FAILS if outside else OPEN))
        falls = any(b[1] < a[0] for a, b in itertools.pairwise(limits))
        rises = limits[-1][0] > limits[0][1]
        text = f"{name}, k = 1, 2, ..: {', '.join(f'{mean:.3f}' for mean in means)}"
        grows.append(Finding(text, FAILS if falls else HOLDS if rises else OPEN))
    return Claim(
        6,
        "The hypervolume fraction of EGE-SR-1 is about 0.85 on the sorting networks and about one half on the convex front, and "
        "it grows with k.",
        (Part("the fraction at k = 1 is the paper's", tuple(near)), Part("the fraction grows with k", tuple(grows))),
    )
