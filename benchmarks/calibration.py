"""How often it is true what results say about themselves: thousands of simulated studies whose truth is known.

Run with ``make calibration``, which writes ``docs/calibration.md``. Options are drawn from a population and measured as a policy
asks; their measurements are judged by the function that results come from, and what it says is held against the truth.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # there is a process for every core

import numpy as np
from calibration_page import Outcome, Race, page
from populations import FRONTS, PAPER, POPULATIONS, Drawn, draw

import paretopick as pp
from paretopick.estimates import Estimates, estimate_tables
from paretopick.policies.doubt import likely_optimal
from paretopick.studies.certainty import judge
from paretopick.theory.dominance import optimal_in_each, optimal_rows

PAGE = Path(__file__).parents[1] / "docs" / "calibration.md"
POLICIES = ("doubt", "ege-sr", "ege-sh", "uniform")
BUDGETS = (10, 20, 40, 80)
"""For each option."""
DRAWS = 1000
REHEARSALS = 100
SEED = 20_000
"""Other numbers than any with which rules and priors were chosen."""


@dataclass(frozen=True)
class Data:
    """Of a study, as it is judged."""

    estimates: Estimates
    squares: np.ndarray
    own: np.ndarray
    """The policy's own answer."""


def measured(drawn: Drawn, policy: str, budgets: list[int], rng: np.random.Generator) -> Iterator[Data]:
    """Yields the data at each budget; a policy that has to know its budget starts anew for each."""
    bandit = drawn.bandit
    exact = np.isin(np.arange(bandit.n_objectives), drawn.exact)
    scale = np.where(exact, 1.0, drawn.noise)
    batch = max(1, bandit.n_arms // 5)
    for group in [budgets] if policy == "doubt" else [[budget] for budget in budgets]:
        options = {"batch": batch} if policy == "doubt" else {}
        asked = pp.policy(policy, n_arms=bandit.n_arms, n_objectives=bandit.n_objectives, budget=group[-1], **options)
        rows: list[list[np.ndarray]] = [[] for _ in range(bandit.n_arms)]
        left, used = list(group), 0
        while left:
            arms = asked.ask()
            values = drawn.sample(arms, rng)
            asked.tell(arms, values / scale)
            for arm, row in zip(arms.tolist(), values, strict=True):
                rows[arm].append(row)
            used += len(arms)
            while left and (used >= left[0] or asked.done):
                left.pop(0)
                own = np.zeros(bandit.n_arms, dtype=bool)
                own[asked.recommend()] = True
                tables = [np.array(table) for table in rows]
                squares = np.array([np.square(table - table.mean(axis=0)).sum(axis=0) for table in tables])
                yield Data(estimate_tables(tables, exact=exact, signs=np.ones(len(exact))), squares * ~exact, own)


def simulated(job: tuple[str, int]) -> Outcome:
    """Draws a population's study number so and so, and judges it."""
    name, number = job
    rng = np.random.default_rng([SEED, number, *name.encode()])
    drawn = draw(name, rng)
    bandit, policy = drawn.bandit, POLICIES[number % len(POLICIES)]
    if name in PAPER:
        assert bandit.budget is not None
        budget = max(8 * bandit.n_arms, int(min(bandit.budget, 5000) * rng.choice([0.1, 0.25, 0.5, 1.0])))
    else:
        budget = drawn.easier * bandit.n_arms * int(np.exp(rng.uniform(np.log(5), np.log(80))))
    data = next(measured(drawn, policy, [budget], rng))
    estimates = data.estimates
    judged = judge(estimates, n_draws=DRAWS)
    normal = optimal_in_each(estimates.draws(DRAWS, rng, front=False)).mean(axis=0)
    plain = optimal_in_each(estimates.draws(DRAWS, rng, population=False)).mean(axis=0)
    rehearsed = None
    if number % (2 * len(POLICIES)) < len(POLICIES) and not drawn.exact and budget <= 3000:
        curve = pp.simulate(estimates.bandit(), policy, budgets=budget, runs=REHEARSALS, rng=0, workers=1, hypervolume=False)
        rehearsed = 1.0 - float(curve.errors[0]) / REHEARSALS
    sets, often = np.unique(judged.optimal, axis=0, return_counts=True)
    answers = {
        "judged": judged.answer,
        "empirical front": optimal_rows(estimates.means),
        "rule of `doubt`": likely_optimal(estimates.counts, estimates.means * estimates.counts[:, None], data.squares),
        "most frequent set": sets[np.argmax(often)],
        "policy's own": data.own,
    }
    p = judged.probabilities
    return Outcome(
        population=name,
        said=p,
        normal=normal,
        plain=plain,
        optimal=bandit.optimal,
        whole=judged.certainty.probability or 0.0,
        right=_equal(judged.answer, bandit.optimal),
        rehearsed=rehearsed,
        own_right=_equal(data.own, bandit.optimal),
        rules={
            rule: (_equal(answer, bandit.optimal), int(((answer & (p <= 0.4)) | (~answer & (p >= 0.6))).sum()))
            for rule, answer in answers.items()
        },
        front=estimates.front_probability,
    )


def raced(job: tuple[str, int]) -> Race:
    """Lets policies measure the same options, with all budgets."""
    name, number = job
    rng = np.random.default_rng([SEED, 1, number, *name.encode()])
    drawn = draw(name, rng)
    optimal = drawn.bandit.optimal
    budgets = [drawn.easier * drawn.bandit.n_arms * each for each in BUDGETS]
    right: dict[str, list[bool]] = {}
    for policy in ("doubt", "ege-sr", "uniform") if name == "tenfold" else ("doubt", "ege-sr"):
        for data in measured(drawn, policy, budgets, rng):
            if policy == "doubt" or name == "tenfold":
                right.setdefault(policy, []).append(_equal(judge(data.estimates, n_draws=DRAWS).answer, optimal))
            right.setdefault(f"{policy}, its own answer", []).append(_equal(data.own, optimal))
    return Race(name, right)


def _equal(answer: np.ndarray, optimal: np.ndarray) -> bool:
    return bool((answer == optimal).all())


def worked(job: tuple[str, str, int]) -> Outcome | Race:
    """One piece of work."""
    kind, *rest = job
    return (raced if kind == "race" else simulated)((rest[0], rest[1]))


def main() -> None:
    """Simulates all studies on all cores and writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--studies", type=int, default=400, help="of each population; a third as many races, a quarter as many of instances"
    )
    parser.add_argument("--out", type=Path, default=PAGE)
    chosen = parser.parse_args()
    n = chosen.studies
    jobs = [("study", name, number) for number in range(n) for name in POPULATIONS | FRONTS]
    jobs += [("race", name, number) for number in range(n // 3) for name in (*POPULATIONS, "tenfold")]
    jobs += [("study", name, number) for number in range(n // 4) for name in PAPER]
    started = time.monotonic()
    done: list[Outcome | Race] = []
    with multiprocessing.Pool() as pool:
        for outcome in pool.imap_unordered(worked, jobs, chunksize=4):
            done.append(outcome)
            if len(done) % 50 == 0:
                print(f"\r{len(done):,} of {len(jobs):,} done, {time.monotonic() - started:.0f} s", end="", file=sys.stderr)
    print(file=sys.stderr)
    outcomes = [outcome for outcome in done if isinstance(outcome, Outcome)]
    races = [race for race in done if isinstance(race, Race)]
    text = page(outcomes, races, BUDGETS, REHEARSALS)
    chosen.out.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
