"""Runs of doubt with margins or limits, one after the other; for the rest, see ``doubt``."""

from __future__ import annotations

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.compiling import kernel
from paretopick.simulation.kernels.draws.pulls import BanditArrays
from paretopick.simulation.kernels.gaps_within import Required
from paretopick.simulation.kernels.stepwise.doubt import Memory, make_runs, memory_with
from paretopick.simulation.kernels.stepwise.pair_choices_within import answer_within, next_within
from paretopick.simulation.kernels.stepwise.pair_memory_within import make_pairs_within
from paretopick.simulation.kernels.stepwise.pairs_within import begin_within, change_within


def make_memory(bandit: BanditArrays, required: Required) -> Memory:
    """Memory for one run; ``required`` in the units in which the policy sees values."""
    K, D = bandit.n_arms, bandit.n_objectives
    return memory_with(bandit, make_pairs_within(K, D, required), make_pairs_within(K, D, required))


@kernel
def run_doubt_within(bandit, rule, runs, memory, answers, spent, sources=SOURCES):
    """Makes runs, as ``doubt.run_doubt`` does."""
    make_runs(bandit, rule, runs, memory, answers, spent, begin_within, change_within, next_within, answer_within)
