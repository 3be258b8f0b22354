"""Whether studies reach what their continuations say: the share of right answers that is said, and the share that comes true.

Run with ``python benchmarks/continuation.py``. Studies of 5 to 12 options in two or three metrics, every third with an exact one,
are measured 8 times per option with ``doubt``; then it is said what half as many more, as many, three times and nine times as
many will bring, and the studies go on with their own truth, 16 times each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import paretopick as pp
from paretopick.estimates import estimate_tables
from paretopick.metrics import Metric
from paretopick.policies import PolicyChoice
from paretopick.studies.continuation import continuation
from paretopick.theory.dominance import optimal_in_each

STUDIES, EACH, RUNS, AGAIN, NOISE = 150, 8, 200, 16, 0.6
FURTHER = (0.5, 1.0, 3.0, 9.0)


def on_a_front(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    points = np.abs(rng.normal(size=shape))
    return 1.5 * points / np.linalg.norm(points, axis=1, keepdims=True) * (1 + 0.15 * rng.normal(size=(shape[0], 1)))


POPULATIONS: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "independent": lambda rng, shape: rng.normal(size=shape),
    "metrics go together": lambda rng, shape: (rng.normal(size=(shape[0], 1)) + 0.7 * rng.normal(size=shape)) / 1.2,
    "along a front": on_a_front,
}


def measured(means: np.ndarray, exact: np.ndarray, rng: np.random.Generator) -> tuple[pp.Policy, list[np.ndarray]]:
    """A policy that has been told all it asked for, and that."""
    n_options, n_metrics = means.shape
    player = pp.policy("doubt", n_arms=n_options, n_objectives=n_metrics, budget=EACH * n_options)
    if exact.any():
        player.rescale(np.where(exact, 0.0, 1.0))
    rows: list[list[np.ndarray]] = [[] for _ in means]
    while not player.done:
        arms = player.ask()
        values = means[arms] + np.where(exact, 0.0, NOISE) * rng.normal(size=(len(arms), n_metrics))
        player.tell(arms, values)
        for arm, value in zip(arms, values, strict=True):
            rows[arm].append(value)
    return player, [np.array(row) for row in rows]


def said_and_true(make: Callable[..., np.ndarray], seed: int) -> tuple[list[float], list[float]]:
    """What one study says about itself, now and further on, and what comes true."""
    rng = np.random.default_rng([seed, len(FURTHER)])
    shape = int(rng.choice([5, 8, 12])), int(rng.choice([2, 3]))
    means, exact = make(rng, shape), np.zeros(shape[1], dtype=bool)
    if seed % 3 == 0:
        exact[-1] = True
        means[:, -1] = np.unique(means[:, -1].round(1), return_inverse=True)[1]
    player, tables = measured(means, exact, rng)
    estimates = estimate_tables(tables, exact=exact, signs=np.ones(shape[1]))
    estimates = replace(estimates, means=np.where(exact, means, estimates.means))
    sums = np.array([table.sum(axis=0) for table in tables])
    squares = np.where(exact, 0.0, [((table - table.mean(axis=0)) ** 2).sum(axis=0) for table in tables])
    answer = np.isin(np.arange(shape[0]), player.recommend())
    now = float((optimal_in_each(estimates.draws(1000, rng)) == answer).all(axis=1).mean())
    used = EACH * shape[0]
    more = [int(part * used) for part in FURTHER]
    ahead = continuation(
        estimates,
        counts=player.counts,
        sums=sums,
        squares=squares,
        choice=PolicyChoice("doubt"),
        names=[str(option) for option in range(shape[0])],
        metrics=[Metric(f"m{d}", "max", exact=bool(exact[d])) for d in range(shape[1])],
        present_probability=now,
        more=more,
        runs=RUNS,
    )
    true = pp.simulate(
        pp.Bandit(means, pp.Gaussian(std=np.where(exact, 0.0, NOISE).tolist())),
        "doubt",
        budgets=[used + n for n in more],
        runs=AGAIN,
        rng=seed,
        known=(player.counts, np.where(exact, means * player.counts[:, None], sums), squares),
        scale=np.where(exact, 0.0, 1.0),
        hypervolume=False,
    )
    right = float((answer == optimal_in_each(means[None])[0]).all())
    return [now, *(step.right for step in ahead.shown)], [right, *(1.0 - true.rate)]


def main(studies: int) -> None:
    print("| options | now | " + " | ".join(f"{1 + part:g} times as many" for part in FURTHER) + " |")
    print("|---|" + "---|" * (1 + len(FURTHER)))
    for name, make in POPULATIONS.items():
        said, true = np.array([said_and_true(make, seed) for seed in range(10_000, 10_000 + studies)]).transpose(1, 0, 2)
        cells = [f"{a:.0%} said, {b:.0%} true" for a, b in zip(said.mean(axis=0), true.mean(axis=0), strict=True)]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    errors = (true - said).std(axis=0) / np.sqrt(studies)
    print(f"\n{studies} studies each; standard errors of the differences, in the last row: {errors.round(3).tolist()}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES)
