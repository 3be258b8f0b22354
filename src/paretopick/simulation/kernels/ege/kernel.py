"""The kernel of Empirical Gap Elimination with any schedule (Algorithm 1), and of EGE-SR-k (Algorithm 2)."""

from __future__ import annotations

from typing import NamedTuple

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.draws.counters import run_key
from paretopick.simulation.kernels.draws.pulls import BanditArrays, from_run
from paretopick.simulation.kernels.ege.eight_fronts import MOST_ARMS
from paretopick.simulation.kernels.ege.eight_runs import Together, make_together, run_together
from paretopick.simulation.kernels.ege.one_run import Alone, make_alone, run_alone
from paretopick.simulation.kernels.vectors import WIDTH, kernel


class Memory(NamedTuple):
    """What the runs work in; without ``eight_runs`` it is too small for eight."""

    eight_runs: bool
    together: Together
    alone: Alone


def make_memory(bandit: BanditArrays, *, eight_runs: bool) -> Memory:
    """Memory for runs side by side, of at most ``MOST_ARMS`` arms, or for one after the other, which gives the same."""
    assert bandit.n_arms <= MOST_ARMS or not eight_runs
    return Memory(eight_runs, make_together(bandit, bandit.n_arms if eight_runs else 1), make_alone(bandit))


@kernel
def run_ege(bandit, schedule, seed, first, last, memory, outcome, sources=SOURCES):
    """Makes the runs ``first`` to ``last - 1``."""
    if memory.eight_runs:
        for run in range(first, last, WIDTH):
            n_runs = min(WIDTH, last - run)
            run_together(bandit, schedule, seed, run, n_runs, memory.together, memory.alone, outcome, run - first)
    else:
        for run in range(first, last):
            run_alone(from_run(bandit, run - first), schedule, run_key(seed, run), memory.alone, outcome, run - first)
