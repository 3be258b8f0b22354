"""Claims about run times, and about the two tables (claims 7 and 8)."""

from __future__ import annotations

import math

from paretopick.paper.catalogue import CATALOGUE, MAIN, MORE
from paretopick.paper.contestants import EGE_SH, EGE_SR
from paretopick.paper.curves import RuntimeFigure
from paretopick.paper.entries import rate_and_interval
from paretopick.paper.evidence import Evidence
from paretopick.paper.judging import (
    FAILS,
    HOLDS,
    OPEN,
    Claim,
    Finding,
    Part,
    Verdict,
    missing,
    shown,
    together,
)
from paretopick.paper.tables import BOUNDS, SIZES, TARGET, BoundsTable, size_of


def runtime(evidence: Evidence) -> Claim:
    """How long a run takes against the number of arms (claim 7)."""
    quick, growth = [], []
    for name in ("runtime-2d", "runtime-20d"):
        entry = CATALOGUE[name]
        assert isinstance(entry, RuntimeFigure)
        rows = entry.rows(evidence)
        for one in (EGE_SR, EGE_SH):
            times = [(row["n_arms"], row["seconds_per_run"]) for row in rows if row["policy"] == one.policy]
            label = f"D = {entry.n_objectives}, {one.label}"
            if len(times) < 4:
                quick.append(missing(label, evidence))
                growth.append(missing(label, evidence))
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
            Part("time grows no faster than the paper's count of operations, K^3", tuple(growth), counts=False),
        ),
        remark="Times are of one machine; the paper gives curves and no numbers.",
    )


def tables(evidence: Evidence) -> Claim:
    """The sizes of the instances, and the bounds (claim 8)."""
    sizes = []
    for name, printed in SIZES.items():
        if not evidence.has(name):
            sizes.append(missing(name, evidence, name))
            continue
        ours = size_of(evidence.bandit(name))
        text = f"{name}: K, D, |S*| are {', '.join(map(str, ours))}"
        sizes.append(Finding(text, HOLDS if ours == printed else FAILS))
    return Claim(
        8,
        "The instances have the sizes of Table 2, and the error of each algorithm is below its bound of Table 1.",
        (
            Part("K, D and |S*| are those of Table 2", tuple(sizes)),
            Part(
                f"with the budget for which its bound promises an error of {TARGET:.0%}, a round-based policy keeps the promise",
                tuple(_kept_promise(evidence, name) for name in (*MAIN, *MORE)),
            ),
            Part("at the paper's budgets no error is above its bound", (_below_bounds(evidence),), counts=False),
        ),
        remark="A bound above 1 cannot be contradicted: bounds say how the error falls, not what it is. They are therefore tried "
        "where they promise something. APE-FB is not: its runs take as long as their budget.",
    )


def _below_bounds(evidence: Evidence) -> Finding:
    verdicts: list[Verdict] = []
    n_useful = 0
    for name in filter(evidence.has, (*MAIN, *MORE)):
        for contestant, bound in BOUNDS.values():
            point = evidence.final(name, contestant)
            if point is not None:
                value = bound(evidence.bandit(name), point.budget)
                n_useful += value < 1
                verdicts.append(HOLDS if rate_and_interval(point)[1] <= value else FAILS)
    if not verdicts:
        return missing("policies with a bound", evidence)
    text = f"of {len(verdicts)} bounds {n_useful} are below 1, and {verdicts.count(FAILS)} are contradicted"
    return Finding(text, FAILS if FAILS in verdicts else HOLDS if n_useful else OPEN)


def _kept_promise(evidence: Evidence, name: str) -> Finding:
    entry = CATALOGUE["bounds"]
    assert isinstance(entry, BoundsTable)
    promised = entry.promised(evidence, name) if evidence.has(name) else {}
    points = {label: point for label, series in promised.items() for point in evidence.points(series)}
    if not promised or len(points) < len(promised):
        return missing(name, evidence, name)
    verdicts: list[Verdict] = []
    for point in points.values():
        _, low, high = rate_and_interval(point)
        verdicts.append(HOLDS if high <= TARGET else FAILS if low > TARGET else OPEN)
    text = ", ".join(f"{label} {shown(point)} at T = {point.budget:,}" for label, point in points.items())
    return Finding(f"{name}: {text}", together(verdicts))
