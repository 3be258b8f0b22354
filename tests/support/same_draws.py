"""The policies themselves, through ask and tell, fed with the very draws that the kernels make."""

from __future__ import annotations

import numpy as np

import paretopick as pp
from paretopick.policies.base import Policy
from paretopick.policies.ege import EGE
from paretopick.simulation import make_task
from paretopick.simulation.compiled import bandit_arrays, seed_key
from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.compiling import kernel
from paretopick.simulation.kernels.draws import binomials, counters
from paretopick.simulation.kernels.draws import pulls as kernel_pulls
from paretopick.simulation.kernels.vectors import spread
from paretopick.simulation.tasks import Task


@kernel
def draw_sums(bandit, seed, run, draw, slots, sources=SOURCES):
    """Adds the sums of new pulls of every arm to what the slots hold."""
    key = counters.run_key(seed, run)
    for arm in range(bandit.n_arms):
        kernel_pulls.fill_slot(bandit, slots, arm, arm, arm)
    n_vectors = slots.stride // 8
    n_lanes = bandit.n_arms - (n_vectors - 1) * 8
    keys = counters.Key(spread(key.start), spread(key.middle))
    kernel_pulls.pull(bandit, keys, draw, n_vectors, n_lanes, slots)


@kernel
def draw_singles(bandit, seed, run, arm, before, values, normals, sources=SOURCES):
    kernel_pulls.draw_ahead(bandit, counters.run_key(seed, run), arm, before, values, normals)


class Draws:
    """What the kernels would draw for a task, at one budget."""

    def __init__(self, task: Task, budget: int, seed: int) -> None:
        player = task.player(budget)
        self.columns = np.unique(np.array(player.schedule.pulls, dtype=np.int64)) if isinstance(player, EGE) else None
        self.bandit = bandit_arrays(task, self.columns)
        self.seed = seed_key((seed,))
        self._eights: dict[tuple[int, int, int], np.ndarray] = {}

    def sums(self, run: int, pulls: int, before: int) -> np.ndarray:
        """The sums ``(n_arms, n_objectives)`` of so many pulls of arms that had ``before``."""
        bandit = self.bandit
        slots = kernel_pulls.slots_of_one_run(bandit.n_arms, bandit.n_objectives, bandit.kind)
        slots.sums[:] = 0.0
        column = int(np.searchsorted(self.columns, pulls))
        draw_sums(bandit, self.seed, run, kernel_pulls.Draw(pulls, before, column), slots)
        return slots.sums.reshape(bandit.n_objectives, slots.stride)[:, : bandit.n_arms].T

    def single(self, run: int, arm: int, number: int) -> np.ndarray:
        """Pull ``number`` of an arm, of which eight are drawn at a time."""
        key = (run, arm, number // 8)
        if key not in self._eights:
            bandit = self.bandit._replace(means=self.bandit.means[run * self.bandit.step :])
            values = np.zeros(bandit.n_arms * bandit.n_objectives * 8)
            draw_singles(bandit, self.seed, run, arm, number // 8 * 8, values, np.zeros((bandit.n_objectives + 1) * 8))
            self._eights[key] = values.reshape(bandit.n_arms, bandit.n_objectives, 8)[arm].copy()
        return self._eights[key][:, number % 8]


def follow(task: Task, budget: int, draws: Draws, run: int) -> Policy:
    """One run of the policy itself on the kernel's draws.

    A sum is told as the first of its pulls, and the others as zeros: adding them up gives exactly the sum.
    """
    player = task.player(budget)
    exact = task.exact
    if exact.any() and task.known is None:  # else it is told when it starts from what is known
        player.rescale(task.scale)
    truth = task.bandit_of(run).means
    while not player.done:
        arms, counts = player.ask(), player.counts
        values = np.zeros((len(arms), player.n_objectives))  # not divided by what the policy divides by itself
        firsts = np.flatnonzero(np.diff(arms, prepend=-1))
        if isinstance(player, EGE):
            before = counts[arms[0]]
            pulls = len(arms) // len(firsts)
            values[firsts] = draws.sums(run, pulls, int(before))[arms[firsts]]
        else:
            for row, arm in enumerate(arms):
                values[row] = draws.single(run, int(arm), int(counts[arm]))
                counts[arm] += 1
        values[:, exact] = truth[arms][:, exact]
        player.tell(arms, values)
    return player


_latest: dict[tuple[object, ...], tuple[Task, Draws]] = {}
"""The task and the draws that were asked for last: tests ask for one run after the other, and tables take longer than a run."""


def followed(bandit: pp.Bandit, spec, budget: int, seed: int, run: int, **options) -> tuple[list[int], int, int]:
    """The answer, the pulls and the rounds of one run."""
    key = (bandit.digest, repr(spec), budget, seed, repr(options), binomials.MOST_CELLS)
    if key not in _latest:
        task = make_task(bandit, spec, budgets=budget, **options)
        _latest.clear()
        _latest[key] = task, Draws(task, budget, seed)
    task, draws = _latest[key]
    player = follow(task, budget, draws, run)
    record = player.snapshot()
    return player.recommend().tolist(), record.pulls_used, record.round
