"""The nine claims of the paper's experimental study, each judged by code from what was counted."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

from paretopick.experiments.catalogue import CATALOGUE, MAIN, MORE
from paretopick.experiments.contestants import ADAPT, ADAPT_PUBLISHED, APE_FB, EGE_SH, EGE_SR, UNIFORM, Panel
from paretopick.experiments.curves import BestArmFigure, HypervolumeFigure, RelaxedFigure, RuntimeFigure
from paretopick.experiments.entries import rate_and_interval
from paretopick.experiments.evidence import Evidence
from paretopick.experiments.judging import (
    FAILS,
    HOLDS,
    MISSING,
    MUCH,
    OPEN,
    Claim,
    Finding,
    Part,
    any_of,
    better,
    compare,
    final,
    shown,
    together,
)
from paretopick.experiments.ledger import Point
from paretopick.experiments.tables import SIZES, TARGET, BoundsTable, size_of

MANY_ARMS = 50


def judge(evidence: Evidence) -> list[Claim]:
    """Returns the nine claims with their verdicts; what has not been run cannot be decided."""
    return [claim(evidence) for claim in CLAIMS]


def _order(evidence: Evidence) -> Claim:
    ahead = [better(evidence, name, one, UNIFORM) for name in MAIN for one in (EGE_SR, EGE_SH)]
    many = [name for name in MAIN if evidence.has(name) and evidence.bandit(name).n_arms >= MANY_ARMS]
    clearly = [better(evidence, name, EGE_SR, UNIFORM, MUCH) for name in many]
    return Claim(
        1,
        "On every instance of Section 6 both EGE-SR and EGE-SH are better than uniform allocation, clearly so with many arms or "
        "a complex front; there is no clear order between the two.",
        (
            Part("EGE-SR and EGE-SH are better than UA on every instance of Section 6", tuple(ahead)),
            Part(f"with {MANY_ARMS} arms or more, EGE-SR is much better than UA", tuple(clearly)),
            Part("neither EGE-SR nor EGE-SH is better everywhere", (_no_order(evidence),)),
        ),
    )


def _no_order(evidence: Evidence) -> Finding:
    winners: dict[str, list[str]] = {EGE_SR.label: [], EGE_SH.label: []}
    for name in MAIN:
        first, second = final(evidence, name, EGE_SR), final(evidence, name, EGE_SH)
        if first and second:
            verdict = compare(first, second)
            if verdict != OPEN:
                winners[EGE_SR.label if verdict == HOLDS else EGE_SH.label].append(name)
    text = "; ".join(f"{label} is better on {', '.join(names) or 'none'}" for label, names in winners.items())
    everywhere = any(len(names) == len(MAIN) for names in winners.values())
    return Finding(text, HOLDS if all(winners.values()) else FAILS if everywhere else OPEN)


def _oracle(evidence: Evidence) -> Claim:
    parts = []
    scales: dict[Panel, str] = {
        "drawn": "with 9 c, as the paper's curves",
        "text": "beside the claim, with c as in the paper's text",
    }
    for panel, scale in scales.items():
        counts = panel == "drawn"
        alike = f"{scale}: c = 1 makes at most {MUCH} times the errors of EGE-SR or EGE-SH, whichever makes more"
        parts.append(Part(alike, tuple(_competes(evidence, name, panel) for name in MAIN), counts))
        fragile = f"{scale}: c = 1/10 or c = 10 is much worse than c = 1 on some instance"
        parts.append(Part(fragile, (_fragile(evidence, panel),), counts))
    return Claim(
        2,
        "APE-FB with the oracle's exploration (c = 1) competes with EGE; it is not robust: c = 1/10 or c = 10 can be much worse.",
        tuple(parts),
        remark="The paper's curves labelled c were drawn with 9 c, so that is what its claim is judged by.",
    )


def _competes(evidence: Evidence, name: str, panel: Panel) -> Finding:
    ours = final(evidence, name, APE_FB[panel]["1"])
    others = [final(evidence, name, one) for one in (EGE_SR, EGE_SH)]
    known = [point for point in others if point]
    if not ours or len(known) < 2:
        return Finding(f"{name}: {MISSING}", OPEN)
    worse = max(known, key=lambda point: float(point.curve.rate[0]))
    (_, low, high), (_, other_low, other_high) = rate_and_interval(ours), rate_and_interval(worse)
    verdict = HOLDS if high <= MUCH * other_low else FAILS if low > MUCH * other_high else OPEN
    return Finding(f"{name}: APE-FB {shown(ours)}, EGE {' and '.join(map(shown, known))}", verdict)


def _fragile(evidence: Evidence, panel: Panel) -> Finding:
    much_worse, verdicts = [], []
    for name in MAIN:
        oracle = final(evidence, name, APE_FB[panel]["1"])
        for c in ("1/10", "10"):
            other = final(evidence, name, APE_FB[panel][c])
            verdicts.append(compare(oracle, other, MUCH) if oracle and other else OPEN)
            if oracle and other and verdicts[-1] == HOLDS:
                ratio = float(other.curve.rate[0] / oracle.curve.rate[0]) if oracle.curve.rate[0] else math.inf
                much_worse.append(f"{name} c = {c} ({ratio:.1f} times the errors)")
    text = "much worse: " + (", ".join(much_worse) or "none")
    return Finding(text, HOLDS if much_worse else FAILS if set(verdicts) == {FAILS} else OPEN)


def _adaptive(evidence: Evidence) -> Claim:
    fails = tuple(_fails_badly(evidence, name) for name in MAIN)
    corrected = tuple(better(evidence, name, ADAPT, UNIFORM) for name in MAIN)
    return Claim(
        3,
        "APE-FB-ADAPT fails badly.",
        (
            Part("as published, it is wrong more often than right, and nowhere better than UA", fails),
            Part("beside the claim: corrected, it is better than UA on every instance of Section 6", corrected, counts=False),
        ),
        remark="As published, only the pulled arm's bonus is refreshed, so that two or three arms absorb the budget.",
    )


def _fails_badly(evidence: Evidence, name: str) -> Finding:
    published, uniform = final(evidence, name, ADAPT_PUBLISHED), final(evidence, name, UNIFORM)
    if published is None or uniform is None:
        return Finding(f"{name}: {MISSING}", OPEN)
    _, low, high = rate_and_interval(published)
    verdict = FAILS if high < 0.5 or compare(published, uniform) == HOLDS else HOLDS if low > 0.5 else OPEN
    return Finding(f"{name}: as published {shown(published)}, UA {shown(uniform)}", verdict)


def _equal_gaps(evidence: Evidence) -> Claim:
    name = "equal-gaps"
    oracle = APE_FB["drawn"]["1"]
    much = tuple(better(evidence, name, one, other, MUCH) for one in (EGE_SR, oracle) for other in (UNIFORM, EGE_SH))
    text = tuple(better(evidence, name, APE_FB["text"]["1"], other, MUCH) for other in (UNIFORM, EGE_SH))
    return Claim(
        4,
        "Where all gaps are equal (Experiment 7), UA is slightly better than EGE-SH, and EGE-SR and APE-FB are much better than "
        "both.",
        (
            Part("UA is better than EGE-SH", (better(evidence, name, UNIFORM, EGE_SH),)),
            Part("EGE-SR and APE-FB (9 c, c = 1) are much better than both", much),
            Part("beside the claim: APE-FB with c = 1 as in the paper's text is much better than both", text, counts=False),
        ),
    )


def _relaxed(evidence: Evidence) -> Claim:
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
                findings.append(Finding(f"{name}: {MISSING}", OPEN))
            continue
        size = int(evidence.bandit(name).optimal.sum())
        for k in entry.sizes:
            first, last = points[k][0], points[k][-1]
            text = f"{name}, k = {k}: {shown(first, 'relaxed_losses')} at T = {first.budget}, "
            falls.append(
                Finding(f"{text}{shown(last, 'relaxed_losses')} at T = {last.budget}", compare(last, first, of="relaxed_losses"))
            )
        smaller.append(_in_order(name, [points[k] for k in entry.sizes if k <= size]))
        above = [k for k in entry.sizes if k > size]
        at_size.append(_at_the_size(name, size, points[size], points[above[0]]))
        losses = [[int(point.curve.relaxed_losses[0]) for point in points[k]] for k in above]
        same = all(one == losses[0] for one in losses)
        ks = " and ".join(f"k = {k}" for k in above)
        text = f"{name}: {ks} lose {'the same number of' if same else 'different numbers of'} runs at every budget"
        beyond.append(Finding(text, HOLDS if same else FAILS))
    return Claim(
        5,
        "PSI-k with EGE-SR-k: the loss falls with the budget, is smaller for smaller k, can be smaller at k = |S*| than for "
        "larger k, and no longer depends on k beyond |S*|.",
        (
            Part("the loss falls with the budget", tuple(falls)),
            Part("the loss is smaller for smaller k, up to |S*|", tuple(smaller)),
            Part("the loss at k = |S*| can be smaller than beyond", (any_of(at_size),)),
            Part("beyond |S*| the loss does not depend on k", tuple(beyond)),
        ),
    )


def _in_order(name: str, lines: Sequence[Sequence[Point]]) -> Finding:
    pairs = [(a, b) for line, next_line in itertools.pairwise(lines) for a, b in zip(line, next_line, strict=True)]
    verdicts = [compare(a, b, of="relaxed_losses") for a, b in pairs]
    n_in, n_out = verdicts.count(HOLDS), verdicts.count(FAILS)
    text = f"{name}: of {len(pairs)} pairs of neighbouring k at the same budget {n_in} are in that order and {n_out} in the other"
    return Finding(text, FAILS if n_out else HOLDS if n_in else OPEN)


def _at_the_size(name: str, size: int, at: Sequence[Point], beyond: Sequence[Point]) -> Finding:
    """Runs are the same for all k, so losses are compared run by run: who loses at k = |S*| loses beyond it too."""
    spared = [int(b.curve.relaxed_losses[0] - a.curve.relaxed_losses[0]) for a, b in zip(at, beyond, strict=True)]
    best = int(np.argmax(spared))
    text = f"{name}: k = {size} loses {shown(at[best], 'relaxed_losses')} and larger k {shown(beyond[best], 'relaxed_losses')} "
    text += f"of the same runs at T = {at[best].budget}"
    return Finding(text, HOLDS if max(spared) >= 8 else FAILS if min(spared) < 0 else OPEN)


def _hypervolume(evidence: Evidence) -> Claim:
    near, grows = [], []
    for name, printed, margin in (("snw-paper", 0.85, 0.02), ("convex-front", 0.5, 0.05)):
        entry = CATALOGUE[f"hypervolume-{name}"]
        assert isinstance(entry, HypervolumeFigure)
        points = [evidence.points(entry.relaxed(evidence, k)) for k in entry.sizes] if evidence.has(name) else []
        if not points or not all(points):
            near.append(Finding(f"{name}: {MISSING}", OPEN))
            grows.append(Finding(f"{name}: {MISSING}", OPEN))
            continue
        curves = [one.curve for (one,) in points]
        mean, (low, high) = float(curves[0].hypervolume[0]), curves[0].hypervolume_interval()[0]
        inside = abs(mean - printed) <= margin
        verdict = HOLDS if inside else OPEN if low - margin <= printed <= high + margin else FAILS
        text = f"{name}, k = 1: {mean:.3f} ({low:.3f} to {high:.3f}); the paper: about {printed:g}"
        near.append(Finding(text, verdict))
        shown_means = ", ".join(f"{float(curve.hypervolume[0]):.3f}" for curve in curves)
        limits = [curve.hypervolume_interval()[0] for curve in curves]
        falls = any(b[1] < a[0] for a, b in itertools.pairwise(limits))
        rises = limits[-1][0] > limits[0][1]
        grows.append(Finding(f"{name}, k = 1, 2, ..: {shown_means}", FAILS if falls else HOLDS if rises else OPEN))
    return Claim(
        6,
        "The hypervolume fraction of EGE-SR-1 is about 0.85 on the sorting networks and about one half on the convex front, and "
        "it grows with k.",
        (Part("the fraction at k = 1 is the paper's", tuple(near)), Part("the fraction grows with k", tuple(grows))),
    )


def _runtime(evidence: Evidence) -> Claim:
    quick, growth = [], []
    for name in ("runtime-2d", "runtime-20d"):
        entry = CATALOGUE[name]
        assert isinstance(entry, RuntimeFigure)
        rows = entry.rows(evidence)
        for one in (EGE_SR, EGE_SH):
            times = [(row["n_arms"], row["seconds_per_run"]) for row in rows if row["policy"] == one.policy]
            label = f"D = {entry.n_objectives}, {one.label}"
            if len(times) < 4:
                quick.append(Finding(f"{label}: {MISSING}", OPEN))
                continue
            (few, short), (many, long) = times[-4], times[-1]
            power = math.log(long / short) / math.log(many / few)
            quick.append(Finding(f"{label}: {long * 1e3:.3f} milliseconds with {many} arms", HOLDS if long < 1 else FAILS))
            text = f"{label}: from {few} to {many} arms like K to the power {power:.1f}"
            growth.append(Finding(text, HOLDS if power <= 3 else FAILS))
    return Claim(
        7,
        "EGE-SR and EGE-SH run in a reasonable time on large instances (T = 1000, mean over 2000 runs); the paper's "
        "implementation takes R K^2 D operations, up to K^3 D.",
        (
            Part("a run at the largest K takes less than a second", tuple(quick)),
            Part("beside the claim: time grows no faster than the paper's count of operations", tuple(growth), counts=False),
        ),
        remark="Times are of this machine; the paper gives curves and no numbers.",
    )


def _tables(evidence: Evidence) -> Claim:
    sizes = []
    for name, printed in SIZES.items():
        ours = size_of(evidence.bandit(name)) if evidence.has(name) else None
        text = f"{name}: K, D, |S*| are {', '.join(map(str, ours))}" if ours else f"{name}: {MISSING}"
        sizes.append(Finding(text, OPEN if ours is None else HOLDS if ours == printed else FAILS))
    return Claim(
        8,
        "The instances have the sizes of Table 2, and the error of each algorithm is below its bound of Table 1.",
        (
            Part("K, D and |S*| are those of Table 2", tuple(sizes)),
            Part(
                f"with the budget for which its bound promises an error of {TARGET:.0%}, a round-based policy keeps the promise",
                tuple(_kept_promise(evidence, name) for name in (*MAIN, *MORE)),
            ),
        ),
        remark="At the paper's budgets nearly all bounds are above 1, so that no error could contradict them: they say how the "
        "error falls, not what it is. They are therefore tried where they say something.",
    )


def _kept_promise(evidence: Evidence, name: str) -> Finding:
    entry = CATALOGUE["bounds"]
    assert isinstance(entry, BoundsTable)
    promised = entry.promised(evidence, name) if evidence.has(name) else {}
    points = {label: point for label, series in promised.items() for point in evidence.points(series)}
    if not promised or len(points) < len(promised):
        return Finding(f"{name}: {MISSING}", OPEN)
    verdicts = []
    for point in points.values():
        _, low, high = rate_and_interval(point)
        verdicts.append(HOLDS if high <= TARGET else FAILS if low > TARGET else OPEN)
    text = ", ".join(f"{label} {shown(point)} at T = {point.budget:,}" for label, point in points.items())
    return Finding(f"{name}: {text}", together(verdicts))


def _best_arm(evidence: Evidence) -> Claim:
    entry = CATALOGUE["best-arm"]
    assert isinstance(entry, BestArmFigure)
    points = {
        (one.name, best): {point.budget: point for point in evidence.points(entry.ordered(one, best))}
        for one in (UNIFORM, EGE_SH)
        for best in ("first", "last")
    }
    findings = []
    for budget in entry.budgets:
        if any(budget not in several for several in points.values()):
            findings.append(Finding(f"T = {budget}: {MISSING}", OPEN))
            continue
        texts, verdicts = [], []
        for best in ("first", "last"):
            ours, halving = points[UNIFORM.name, best][budget], points[EGE_SH.name, best][budget]
            texts.append(f"best arm {best}: UA {shown(ours)}, EGE-SH {shown(halving)}")
            verdicts.append(compare(ours, halving))
        findings.append(Finding(f"T = {budget}, {'; '.join(texts)}", together(verdicts)))
    return Claim(
        9,
        "One objective, Bernoulli 0.7 against seven arms at 0.4: uniform allocation is slightly better than Sequential Halving.",
        (
            Part("UA is better at the largest budget, wherever the best arm stands", tuple(findings[-1:])),
            Part("beside the claim: UA is better at every budget, wherever the best arm stands", tuple(findings), counts=False),
        ),
        remark="Ties matter here: UA returns all arms that share the best mean, which is an error, while EGE-SH keeps the first "
        "of them; with the best arm first it wins those ties, with the best arm last it loses them.",
    )


CLAIMS: tuple[Callable[[Evidence], Claim], ...] = (
    *(_order, _oracle, _adaptive, _equal_gaps, _relaxed, _hypervolume, _runtime, _tables, _best_arm),
)
