"""Times of an ask and a tell with the policies that choose pull after pull, beside apt in the same process: read the ratios.

Run with ``make bench``. Policies take turns, so that a machine that is busy for a while is so for all of them; the same
pulls are made several times, and of each few the best time counts.
"""

from __future__ import annotations

import time

import numpy as np

import paretopick as pp

NAMES = ("apt", "doubt")
FEW, REPEATS = 5, 8
"""So many pulls are timed together, and so often."""

PULLS = {"first": 250, "all": 2000}
"""The first ones, before arms get several in a row, and as many as a study has."""


def started(name: str, means: np.ndarray, batch: int, rng: np.random.Generator) -> pp.Policy:
    """A policy whose first round has been told."""
    policy = pp.policy(name, n_arms=len(means), n_objectives=means.shape[1], batch=batch)
    arms = policy.ask()
    policy.tell(arms, means[arms] + 0.3 * rng.normal(size=(len(arms), means.shape[1])))
    return policy


def seconds_per_batch(policy: pp.Policy, means: np.ndarray, rng: np.random.Generator, batches: int) -> float:
    took = 0.0
    for _ in range(batches):
        noise = 0.3 * rng.normal(size=(policy.batch, means.shape[1]))
        began = time.process_time()
        arms = policy.ask()
        policy.tell(arms, means[arms] + noise)
        took += time.process_time() - began
    return took / batches


def microseconds_per_pull(means: np.ndarray) -> np.ndarray:
    """Of every policy, for each few pulls."""
    best = np.full((PULLS["all"] // FEW, len(NAMES)), np.inf)
    for _ in range(REPEATS):
        rng = [np.random.default_rng(0) for _ in NAMES]
        players = [started(name, means, 1, own) for name, own in zip(NAMES, rng, strict=True)]
        for row in best:
            row[:] = np.minimum(row, [seconds_per_batch(*one, FEW) for one in zip(players, [means] * len(rng), rng, strict=True)])
    return 1e6 * best


def bench_single_pulls() -> None:
    print("one pull after the other    arms  objectives  pulls" + "".join(f"{name:>12}" for name in NAMES) + "  (us)   ratio")
    for n_arms, n_objectives in [(20, 3), (20, 10), (200, 2), (200, 5)]:
        times = microseconds_per_pull(np.random.default_rng(0).random((n_arms, n_objectives)))
        for n in PULLS.values():
            apt, doubt = times[: n // FEW].mean(axis=0)
            print(f"{n_arms:32} {n_objectives:11} {n:6} {apt:11.0f} {doubt:11.0f} {doubt / apt:14.2f}")


def bench_many_arms() -> None:
    print("\nbatches of 100              arms  objectives  front   start (s)   batch (s)   of apt (s)")
    for n_arms, n_objectives, shape in [(10_000, 2, "cube"), (10_000, 3, "cube"), (2_000, 3, "sphere")]:
        rng = np.random.default_rng(0)
        means = rng.random((n_arms, n_objectives))
        if shape == "sphere":  # all optimal
            means = np.abs(rng.normal(size=means.shape))
            means /= np.linalg.norm(means, axis=1, keepdims=True)
        taken = []
        for name in NAMES:
            began = time.perf_counter()
            policy = started(name, means, 100, rng)
            start = time.perf_counter() - began
            taken.append((start, min(seconds_per_batch(policy, means, rng, 1) for _ in range(3))))
        (_, apt), (start, batch) = taken
        front = int(pp.pareto_mask(policy.means).sum())
        print(f"{shape:20} {n_arms:11} {n_objectives:11} {front:6} {start:11.2f} {batch:11.2f} {apt:12.2f}")


if __name__ == "__main__":
    bench_single_pulls()
    bench_many_arms()
