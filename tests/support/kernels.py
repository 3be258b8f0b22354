"""Compiles every kernel once and keeps it on disk, a process for each: ``make test`` does so before tests start.

Each process of the tests would otherwise compile all of them for itself, at the same time as the others.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from paretopick.bandits import Bandit, Bernoulli
from paretopick.simulation.compiled import CompiledRunner
from paretopick.simulation.tasks import make_task

FEW, MANY = 3, 300
"""Arms: with few of them eight runs are made at once, with many one run."""

RUNS = [
    ("doubt", FEW),
    ("apt", MANY),
    ("ege-sr", FEW),
    ("ape-fb-adapt", MANY),
    ("ape-fb-adapt", FEW),
    ("apt", FEW),
    ("apt within", FEW),
    ("doubt within", FEW),
    ("apt exact", FEW),
    ("ege-sr exact", FEW),
]
"""Policies, within margins or with an objective without noise, and numbers of arms that need all kernels between them."""


def compile_for(policy: str, n_arms: int) -> None:
    """Compiles what runs of a policy need, or reads it from the disk."""
    means = np.random.default_rng(0).random((n_arms, 2))
    name, _, kind = policy.partition(" ")
    options = {"": {}, "within": {"margins": 0.1}, "exact": {"scale": [0.0, 1.0]}}[kind]
    CompiledRunner(make_task(Bandit(means, Bernoulli()), name, budgets=20 * n_arms, **options))


if __name__ == "__main__":
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_for, *zip(*RUNS, strict=True)))
