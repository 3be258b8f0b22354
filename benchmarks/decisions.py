"""What margins, limits and stopping when sure are worth: simulated studies whose truth is known, and one that was recorded.

Run with ``make decisions``, which writes ``docs/decisions.md``.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # there is a process for every core

import codecs_study
import numpy as np
from decisions_page import Limited, Resolved, Stopped, Tied, page
from kept import simulated
from populations import FRONTS, POPULATIONS, Drawn, draw

import paretopick as pp
from paretopick.estimates import Estimates, estimate
from paretopick.studies.aims import Aim, last_look
from paretopick.studies.certainty import judge
from paretopick.studies.stopping import is_reached
from paretopick.theory.requirements import Requirements, is_right

PAGE = Path(__file__).parents[1] / "docs" / "decisions.md"
SEED = 60_000
"""Other numbers than any with which the rule of stopping was chosen."""
CONFIDENCES = (0.9, 0.95)
MARGIN = 0.3
"""Of most studies, in units of the noise of a measurement."""
CHANCES = 0.1
"""Of metrics that are 0 or 1."""
EXACT = 0.02
"""Of metrics without noise."""
DRAWS = 2000
MOST = 60
"""Measurements of each option, at least ``LEAST`` in all, after which a study ends unsure."""
LEAST = 1500
TIED_LIMIT = 4000
PROBLEMS, RUNS, BUDGETS = 16, 1000, (2500, 10_000)
"""With limits: the paper's budget for the trial, and four times as much."""
SIZES = (10, 20, 40)
"""Measurements of each option, on average, after which studies without margins say what they resolve."""
FINE = 0.5
"""What such a study stops at, in units of the noise."""


class Look(NamedTuple):
    """A study at one moment."""

    used: int
    estimates: Estimates


def looks(drawn: Drawn, required: Requirements, budget: int, rng: np.random.Generator) -> Iterable[Look]:
    """Yields a study that ``doubt`` measures, whenever a study would be looked at."""
    bandit = drawn.bandit
    K, D = bandit.means.shape
    exact = np.isin(np.arange(D), drawn.exact)
    policy = pp.policy("doubt", n_arms=K, n_objectives=D, budget=budget)
    policy.rescale(np.where(exact, 0.0, 1.0))
    policy.require(required)
    binary = isinstance(bandit.noise, pp.Bernoulli) & ~exact
    counts, sums, products = np.zeros(K, dtype=np.int64), np.zeros((K, D)), np.zeros((K, D, D))
    last = 0
    while len(arms := policy.ask()):
        rows = drawn.sample(arms, rng)
        policy.tell(arms, rows)
        for arm, row in zip(arms.tolist(), rows, strict=True):
            counts[arm] += 1
            sums[arm] += row
            products[arm] += np.outer(row, row)
        used = int(counts.sum())
        if last_look(used) > last:
            last, means = used, sums / counts[:, None]
            spread = products - counts[:, None, None] * means[:, :, None] * means[:, None, :]
            yield Look(used, estimate(counts, means, spread, binary=binary, exact=exact, signs=np.ones(D)))


def margins_of(drawn: Drawn, times: float) -> Requirements:
    """Margins in units of the noise; without limits."""
    bandit = drawn.bandit
    D = bandit.n_objectives
    noisy = (
        np.full(D, CHANCES * times / MARGIN)
        if isinstance(bandit.noise, pp.Bernoulli)
        else times * np.broadcast_to(drawn.noise, D)
    )
    margins = np.where(np.isin(np.arange(D), drawn.exact), EXACT, noisy)
    return Requirements(margins, np.full(D, -np.inf), np.ones(D, dtype=np.bool_))


def stopped(job: tuple[str, int]) -> list[Stopped]:
    """Lets a study of a population stop at each confidence."""
    name, number = job
    rng = np.random.default_rng([SEED, number, *name.encode()])
    drawn = draw(name, rng)
    required = margins_of(drawn, MARGIN)
    budget = max(LEAST, MOST * drawn.bandit.n_arms)
    left, found = list(CONFIDENCES), []
    metrics = [pp.Metric(f"m{d}", "max") for d in range(drawn.bandit.n_objectives)]
    for look in looks(drawn, required, budget, rng):
        while left:
            judged = judge(look.estimates, required=required, enough=Aim(left[0]).needed, n_draws=DRAWS)
            if not is_reached(Aim(left[0]), judged, metrics):
                break
            right = bool(is_right(drawn.bandit.means, judged.answer, required))
            found.append(Stopped(name, left.pop(0), look.used, drawn.bandit.n_arms, right))
        if not left:
            break
    return found + [Stopped(name, confidence, None, drawn.bandit.n_arms, None) for confidence in left]


def resolved(job: tuple[str, int]) -> list[Resolved]:
    """Asks a study without margins what it resolves after some measurements, and when it resolves what was asked for."""
    name, number = job
    rng = np.random.default_rng([SEED, 3, number, *name.encode()])
    drawn = draw(name, rng)
    K, D = drawn.bandit.means.shape
    metrics = [pp.Metric(f"m{d}", "max", exact=d in drawn.exact) for d in range(D)]
    left, fine, found = list(SIZES), True, []
    for look in looks(drawn, Requirements.none(D), (SIZES[-1] + 4) * K, rng):
        due = [size for size in left if look.used >= size * K]
        if not (fine or due):
            continue
        judged = judge(look.estimates, n_draws=DRAWS)
        said = [(size, judged.resolution(metrics)) for size in due]
        left = left[len(due) :]
        if fine and is_reached(Aim(0.95, FINE), judged, metrics):
            said.append((None, judged.cautious_resolution(metrics, 0.95)))
            fine = False
        for size, resolution in said:
            if resolution is not None:
                margins = np.array([resolution.widths[metric.name] for metric in metrics])
                required = Requirements(margins, np.full(D, -np.inf), np.ones(D, dtype=np.bool_))
                right = bool(is_right(drawn.bandit.means, judged.answer, required))
                exactly = bool((judged.answer == drawn.bandit.optimal).all())
                found.append(Resolved(name, size, look.used / K, resolution.factor, right, exactly))
    return found


def tied(number: int) -> list[Tied]:
    """Counts measurements to 95% of 20 options, the best of which is there twice, with a margin and without."""
    rng = np.random.default_rng([SEED, 1, number])
    means = rng.normal(size=(20, 2))
    means[1] = means[0] = means.max(axis=0) + np.array([0.2, -0.5])
    drawn, found = Drawn(pp.Bandit(means, pp.Gaussian(std=1.0))), []
    metrics = [pp.Metric("x", "max"), pp.Metric("y", "max")]
    for times in (0.0, MARGIN):
        required = margins_of(drawn, times)
        for look in looks(drawn, required, TIED_LIMIT, rng):
            judged = judge(look.estimates, required=required, n_draws=DRAWS)
            if is_reached(Aim(0.95), judged, metrics):
                found.append(Tied(times, look.used, bool(is_right(means, judged.answer, required))))
                break
        else:
            found.append(Tied(times, None, None))
    return found


def limited(number: int) -> list[Limited]:
    """Counts wrong answers about the options that keep limits, on variations of the COV-BOOST trial."""
    trial = pp.instance("cov-boost")
    rng = np.random.default_rng([SEED, 2, number])
    spread = trial.means.std(axis=0)
    means = trial.means + (0.2 * spread * rng.normal(size=trial.means.shape) if number else 0.0)
    at = number % means.shape[1]
    limits: list[float | None] = [None] * means.shape[1]
    limits[at] = float(np.quantile(means[:, at], 0.4) + 0.001)
    curves = pp.simulate(
        pp.Bandit(means, trial.noise),
        ["doubt", "apt", ("apt", {"gamma": 1.0})],
        budgets=BUDGETS,
        runs=RUNS,
        rng=number,
        limits=limits,
        workers=1,
        hypervolume=False,
    )
    names = ("doubt", "apt", "uniform")  # the last one pulls all equally often, and its answer regards the limits as apt's does
    return [
        Limited(number, name, budget, int(errors), curve.runs)
        for name, curve in zip(names, curves, strict=True)
        for budget, errors in zip(BUDGETS, curve.errors, strict=True)
    ]


Job = tuple[str, Any]


def worked(job: Job) -> tuple[Job, list[Any]]:
    """One piece of work."""
    kind, rest = job
    return job, MAKERS[kind](rest)


MAKERS: dict[str, Callable[[Any], list[Any]]] = {"stopped": stopped, "resolved": resolved, "tied": tied, "limited": limited}
ROWS: dict[str, Callable[..., Any]] = {"stopped": Stopped, "resolved": Resolved, "tied": Tied, "limited": Limited}


def jobs_of(n: int) -> list[Job]:
    """Returns what there is to do with so many studies of each population."""
    jobs: list[Job] = [("limited", number) for number in range(PROBLEMS)]
    jobs += [("tied", number) for number in range(max(n // 5, 1))]
    for number in range(n):
        jobs += [("stopped", (name, number)) for name in POPULATIONS | FRONTS]
        jobs += [("resolved", (name, number)) for name in POPULATIONS | FRONTS if number % 3 == 0]
    return jobs


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes the page, from new simulations and from those that were kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=75, help="of each population; fewer of the others")
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.add_argument(
        "--kept",
        type=Path,
        default=Path("decisions-results.jsonl"),
        help="a file that keeps what was simulated: interrupted, it goes on; after a change of the code, remove it",
    )
    chosen = parser.parse_args(arguments)
    jobs = jobs_of(chosen.studies)
    kept = simulated(jobs, worked, chosen.kept)
    done = {kind: [row(*each) for job in jobs if job[0] == kind for each in kept[json.dumps(job)]] for kind, row in ROWS.items()}
    names = {name: told for name, (told, _) in (POPULATIONS | FRONTS).items()}
    chosen.out.write_text(page(**done, populations=names, recorded=codecs_study.lines()))
    print(chosen.out.read_text())


if __name__ == "__main__":
    main()
