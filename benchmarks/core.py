"""Times of the gaps and of the policies, each beside a baseline run in the same process: read the ratios, machines are noisy.

Run with ``make bench``. The baseline of the gaps is Lemma 1 as written, over all pairs; it is left out where its matrix would not
fit. That of judging answers is who covers whom over all pairs, once. The baseline of a policy is the time it takes to draw the
pulls of one run.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import paretopick as pp
from paretopick.theory import requirements


def seconds(work: Callable[[], object], least: float = 0.3) -> float:
    """The best time of one call, over repetitions that take at least so long together."""
    best, total = float("inf"), 0.0
    while total < least or best == float("inf"):
        began = time.perf_counter()
        work()
        took = time.perf_counter() - began
        best, total = min(best, took), total + took
    return best


def gaps_over_all_pairs(means: np.ndarray) -> np.ndarray:
    """Lemma 1 with a matrix of all pairs."""
    above = (means[:, None] - means[None]).max(axis=2)
    weakly = above <= 0
    optimal = ~(weakly & ~weakly.T).any(axis=1)
    np.fill_diagonal(above, np.inf)
    below = -above.min(axis=1)
    nearest = np.minimum(above, np.maximum(above.T, 0) + np.maximum(below, 0)).min(axis=1)
    return np.where(optimal, nearest, below)


def bench_gaps() -> None:
    print("gaps                     arms  objectives  front     seconds  all pairs   ratio")
    rng = np.random.default_rng(0)
    for n_arms, n_objectives, shape in [
        (20, 3, "ball"),
        (206, 2, "ball"),
        (2000, 3, "ball"),
        (2000, 3, "sphere"),
        (20_000, 3, "ball"),
        (20_000, 3, "sphere"),
    ]:
        means = rng.normal(size=(n_arms, n_objectives))
        if shape == "sphere":  # the worst case: all optimal
            means = np.abs(means) / np.linalg.norm(means, axis=1, keepdims=True)
        ours = seconds(lambda means=means: pp.gaps(means))
        line = f"{shape:20} {n_arms:8} {n_objectives:11} {int(pp.pareto_mask(means).sum()):6} {ours:11.6f}"
        if n_arms <= 2000:
            assert (pp.gaps(means) == gaps_over_all_pairs(means)).all()
            baseline = seconds(lambda means=means: gaps_over_all_pairs(means))
            line += f" {baseline:10.6f} {ours / baseline:7.2f}"
        print(line)


def bench_margins() -> None:
    """An answer judged within margins and limits in every one of many draws, beside who covers whom in each of them."""
    print("\nright within margins      arms     draws     seconds  all pairs   ratio")
    rng = np.random.default_rng(0)
    for n_arms, n_sets in [(50, 4000), (200, 1000)]:
        centre = rng.normal(size=(n_arms, 3))
        sets = centre + 0.2 * rng.normal(size=(n_sets, n_arms, 3))
        required = requirements.check_requirements(0.1, [None, -1.0, None], 3)
        answer = requirements.optimal_and_feasible(centre, required)

        def judge(sets=sets, answer=answer, required=required) -> None:
            requirements.is_right(sets, answer, required)
            requirements.worth_keeping(sets, required)

        def compare(sets=sets) -> None:
            for part in np.array_split(sets, len(sets) // 20):
                (part[:, :, None] >= part[:, None] - 0.1).all(axis=3)

        ours, baseline = seconds(judge), seconds(compare)
        print(f"{'':20} {n_arms:9} {n_sets:9} {ours:11.6f} {baseline:10.6f} {ours / baseline:7.2f}")


def bench_policies() -> None:
    print("\npolicy (cov-boost, 2500 pulls)    seconds per run   of which drawing   ratio")
    bandit = pp.instance("cov-boost")
    cases = [
        "uniform",
        "ege-sr",
        "ege-sh",
        "ege-gg",
        ("ege-sr-k", {"max_arms": 1}),
        ("apt", {"batch": 20}),
        "apt",
        "ape-fb",
        "ape-fb-adapt",
    ]
    for case in cases:
        name, options = (case, {}) if isinstance(case, str) else case
        if name == "ape-fb":
            options = {"complexity": bandit.complexity}

        def run(name: str = name, options: dict = options) -> pp.Policy:
            player = pp.policy(name, n_arms=20, n_objectives=3, budget=2500, **options)
            pp.play(bandit, player, np.random.default_rng(0))
            return player

        pulls = np.repeat(np.arange(20), run().counts)
        whole, drawing = seconds(run), seconds(lambda pulls=pulls: bandit.sample(pulls, np.random.default_rng(0)))
        print(f"{name + (' ' + str(options) if options else ''):34.34} {whole:14.6f} {drawing:18.6f} {whole / drawing:7.1f}")


def bench_schedules() -> None:
    print("\nschedule                 arms     seconds")
    for name, n_arms in [("sr", 206), ("sh", 206), ("gg", 206), ("sr", 10_000), ("sr", 100_000)]:
        took = seconds(lambda name=name, n_arms=n_arms: pp.schedule(name, n_arms, 30 * n_arms), least=0.1)
        print(f"{name:20} {n_arms:8} {took:11.6f}")


if __name__ == "__main__":
    bench_gaps()
    bench_margins()
    bench_policies()
    bench_schedules()
