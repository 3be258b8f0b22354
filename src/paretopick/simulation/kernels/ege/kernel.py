"""The kernel of Empirical Gap Elimination with any schedule (Algorithm 1), and of EGE-SR-k (Algorithm 2)."""

from __future__ import annotations

from typing import NamedTuple

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.compiling import kernel
from paretopick.simulation.kernels.draws.counters import run_key
from paretopick.simulation.kernels.draws.pulls import BanditArrays, from_run
from paretopick.simulation.kernels.ege.eight_fronts import MOST_ARMS
from paretopick.simulation.kernels.ege.eight_runs import EightRuns, memory_of_eight_runs, run_eight
from paretopick.simulation.kernels.ege.one_run import OneRun, memory_of_one_run, run_one
from paretopick.simulation.kernels.outcomes import Outcome
from paretopick.simulation.kernels.vectors import WIDTH


class Memory(NamedTuple):
    """What the runs work in; if it is not for eight runs at once, ``eight`` is too small for them."""

    eight_runs: bool
    eight: EightRuns
    one: OneRun


def make_memory(bandit: BanditArrays, *, eight_runs: bool) -> Memory:
    """Memory for eight runs at once, of at most ``MOST_ARMS`` arms, or for one run after the other, which gives the same."""
    assert bandit.n_arms <= MOST_ARMS or not eight_runs
    return Memory(eight_runs, memory_of_eight_runs(bandit, bandit.n_arms if eight_runs else 1), memory_of_one_run(bandit))


@kernel
def run_ege(bandit, schedule, runs, memory, outcome, sources=SOURCES):
    """Makes runs."""
    if memory.eight_runs:
        for run in range(runs.first, runs.last, WIDTH):
            row = run - runs.first
            stop = min(row + WIDTH, runs.last - runs.first)
            rows = Outcome(outcome.answers[row:stop], outcome.pulls[row:stop], outcome.rounds[row:stop])
            run_eight(from_run(bandit, row), schedule, runs.seed, run, memory, rows)
    else:
        for run in range(runs.first, runs.last):
            row = run - runs.first
            run_one(from_run(bandit, row), schedule, run_key(runs.seed, run), memory.one, outcome, row)
