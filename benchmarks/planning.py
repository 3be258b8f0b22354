"""How long plans and continuations take, beside the simulations that they are made of: read the ratios.

Run with ``make bench``. Plans: twenty options, three metrics, ten budgets, 2,000 runs each, four policies: from known means, from
a pilot, whose means are drawn anew for each run, and from one whose last metric is exact. The baseline is ``simulate`` of those
policies at the same budgets, with known means and noise in every metric; a plan also finds its budgets, the smallest one that
reaches the target, and what the pilot leaves open.

Continuations: what a study that is at 10 measurements of each option will reach. The baseline are as many runs of ``simulate``
that start from nothing, with the same number of measurements to make.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

import paretopick as pp
from paretopick.policies import policy_options
from paretopick.studies.continuation import Continuation

POLICIES = ["ege-sr", "ege-sh", "apt", "uniform"]
PILOT = 20
TARGET = 0.2
SIZES = (10, 50, 200)
EACH = 10


def timed(work: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def pilot_of(bandit: pp.Bandit, folder: str, *, exact: bool) -> pp.Pilot:
    arms = np.repeat(np.arange(bandit.n_arms), PILOT)
    rows = bandit.sample(arms, np.random.default_rng(3))
    if exact:
        rows[:, -1] = bandit.means[arms, -1].round(1)
    lines = [",".join(["option", *bandit.objective_names])]
    lines += [",".join([f"option {arm}", *map(repr, row)]) for arm, row in zip(arms, rows.tolist(), strict=True)]
    file = Path(folder) / "pilot.csv"
    file.write_text("\n".join(lines))
    names = bandit.objective_names
    return pp.Pilot.of_table(file, dict.fromkeys(names, "max"), exact=names[-1:] if exact else ())


def simulated(source: pp.Pilot, budgets: tuple[int, ...]) -> object:
    specs = [(policy, {"spend": "all"} if "spend" in policy_options(policy) else {}) for policy in POLICIES]
    scale = None if source.scale is None else np.where(source.scale > 0, source.scale, 1.0)
    return pp.simulate(source.bandit, specs, budgets=budgets, runs=2000, rng=0, scale=scale, hypervolume=False)


def plans() -> None:
    bandit = pp.instance("cov-boost")
    with tempfile.TemporaryDirectory() as folder:
        sources = {
            "known means": pp.Pilot.guess(bandit),
            f"pilot, {PILOT} of each": pilot_of(bandit, folder, exact=False),
            "the same, a metric exact": pilot_of(bandit, folder, exact=True),
        }
    for source in sources.values():  # compiles
        pp.plan(source, policies=POLICIES, budgets=200, runs=40)
        simulated(source, (200,))
    print("| plan from | seconds | largest budget | simulate alone, seconds | ratio |")
    print("|---|---:|---:|---:|---:|")
    for name, source in sources.items():
        seconds, made = timed(lambda source=source: pp.plan(source, policies=POLICIES, target=TARGET))
        assert isinstance(made, pp.Plan)
        alone, _ = timed(lambda source=source, made=made: simulated(source, made.budgets))
        print(f"| {name} | {seconds:.1f} | {made.budgets[-1]:,} | {alone:.1f} | {seconds / alone:.1f} |")


def study_of(n_options: int, *, exact: bool) -> pp.Study:
    rng = np.random.default_rng(n_options)
    means = rng.normal(size=(n_options, 3))
    if exact:
        means[:, 2] = means[:, 2].round(1)
    study = pp.Study.create(
        f"{n_options} {exact}",
        options=[f"o{i}" for i in range(n_options)],
        metrics=dict.fromkeys("abc", "max"),
        exact=["c"] if exact else [],
        budget=EACH * n_options,
        policy="doubt",
        storage="sqlite://",
    )
    noise = np.array([1.0, 1.0, 0.0 if exact else 1.0])
    study.add([(f"o{i}", (means[i] + noise * rng.normal(size=3)).tolist()) for i in range(n_options) for _ in range(EACH)])
    return study


def from_nothing(study: pp.Study, ahead: Continuation) -> object:
    """As many runs with as many measurements to make, read off as often."""
    bandit = replace(study.data().estimates.bandit(), budget=None)
    n = 2 * bandit.n_arms
    return pp.simulate(
        bandit, "doubt", budgets=[n + step.more for step in ahead.steps], runs=ahead.runs, rng=0, hypervolume=False
    )


def continuations() -> None:
    pp.plan(study_of(10, exact=False))  # compiles
    print("\n| study of | furthest | runs | seconds | with an exact metric | from nothing, seconds | ratio |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for n_options in SIZES:
        study, priced = study_of(n_options, exact=False), study_of(n_options, exact=True)
        seconds, ahead = timed(lambda study=study: pp.plan(study))
        assert isinstance(ahead, Continuation)
        exact_seconds, _ = timed(lambda priced=priced: pp.plan(priced))
        alone, _ = timed(lambda study=study, ahead=ahead: from_nothing(study, ahead))
        print(
            f"| {n_options} options | {ahead.steps[-1].more:,} | {ahead.runs} | {seconds:.1f} | {exact_seconds:.1f} "
            f"| {alone:.1f} | {seconds / alone:.1f} |"
        )


if __name__ == "__main__":
    plans()
    continuations()
