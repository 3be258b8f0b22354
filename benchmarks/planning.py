"""How long a plan takes, beside the simulations that it is made of: read the ratios.

Run with ``make bench``. Twenty options, three metrics, ten budgets, 2,000 runs each, four policies: from known means, and from a
pilot, whose means are drawn anew for each run. The baseline is ``simulate`` of the same policies at the same budgets, with known
means; a plan also finds its budgets, the smallest one that reaches the target, and what the pilot leaves open.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import paretopick as pp
from paretopick.policies import policy_options

POLICIES = ["ege-sr", "ege-sh", "apt", "uniform"]
PILOT = 20
TARGET = 0.2


def timed(work: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def pilot_of(bandit: pp.Bandit, folder: str) -> pp.Pilot:
    arms = np.repeat(np.arange(bandit.n_arms), PILOT)
    rows = bandit.sample(arms, np.random.default_rng(3)).tolist()
    lines = [",".join(["option", *bandit.objective_names])]
    lines += [",".join([f"option {arm}", *map(repr, row)]) for arm, row in zip(arms, rows, strict=True)]
    file = Path(folder) / "pilot.csv"
    file.write_text("\n".join(lines))
    return pp.Pilot.of_table(file, dict.fromkeys(bandit.objective_names, "max"))


def simulated(source: pp.Pilot, budgets: tuple[int, ...]) -> object:
    specs = [(policy, {"spend": "all"} if "spend" in policy_options(policy) else {}) for policy in POLICIES]
    return pp.simulate(source.bandit, specs, budgets=budgets, runs=2000, rng=0, scale=source.scale, hypervolume=False)


def main() -> None:
    bandit = pp.instance("cov-boost")
    with tempfile.TemporaryDirectory() as folder:
        sources = {"known means": pp.Pilot.guess(bandit), f"pilot, {PILOT} of each": pilot_of(bandit, folder)}
    for source in sources.values():  # compiles
        pp.plan(source, policies=POLICIES, budgets=200, runs=40)
    print("| plan from | seconds | largest budget | simulate alone, seconds | ratio |")
    print("|---|---:|---:|---:|---:|")
    for name, source in sources.items():
        seconds, made = timed(lambda source=source: pp.plan(source, policies=POLICIES, target=TARGET))
        assert isinstance(made, pp.Plan)
        alone, _ = timed(lambda source=source, made=made: simulated(source, made.budgets))
        print(f"| {name} | {seconds:.1f} | {made.budgets[-1]:,} | {alone:.1f} | {seconds / alone:.1f} |")


if __name__ == "__main__":
    main()
