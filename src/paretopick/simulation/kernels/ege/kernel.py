"""The kernel of Empirical Gap Elimination with any schedule (Algorithm 1), and of EGE-SR-k (Algorithm 2)."""

from __future__ import annotations

from typing import NamedTuple

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.draws.counters import run_key
from paretopick.simulation.kernels.draws.pulls import Noise, from_run
from paretopick.simulation.kernels.ege.eight_fronts import MOST_ARMS
from paretopick.simulation.kernels.ege.eight_runs import Together, make_together, run_together
from paretopick.simulation.kernels.ege.one_run import Alone, make_alone, run_alone
from paretopick.simulation.kernels.vectors import WIDTH, kernel


class Memory(NamedTuple):
    """What the runs work in; without ``side_by_side`` it is too small for eight."""

    side_by_side: bool
    together: Together
    alone: Alone


def make_memory(noise: Noise, *, side_by_side: bool) -> Memory:
    """Memory for runs side by side, of at most ``MOST_ARMS`` arms, or for one after the other, which gives the same."""
    assert noise.n_arms <= MOST_ARMS or not side_by_side
    return Memory(side_by_side, make_together(noise, noise.n_arms if side_by_side else 1), make_alone(noise))


@kernel
def run_ege(noise, plan, seed, first, last, memory, outcome, sources=SOURCES):
    """Makes the runs ``first`` to ``last - 1``."""
    if memory.side_by_side:
        for run in range(first, last, WIDTH):
            n_runs = min(WIDTH, last - run)
            run_together(noise, plan, seed, run, n_runs, memory.together, memory.alone, outcome, run - first)
    else:
        for run in range(first, last):
            run_alone(from_run(noise, run - first), plan, run_key(seed, run), memory.alone, outcome, run - first)
