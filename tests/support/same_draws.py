"""The policies themselves, through ask and tell, fed with the very draws that the kernels make."""

from __future__ import annotations

import numpy as np
from numba import njit

import paretopick as pp
from paretopick.policies.base import Policy
from paretopick.policies.ege import EGE
from paretopick.simulation import make_task
from paretopick.simulation.compiled import bandit_arrays, seed_key
from paretopick.simulation.kernels.draws import counters
from paretopick.simulation.kernels.draws import pulls as kernel_pulls
from paretopick.simulation.kernels.vectors import spread
from paretopick.simulation.tasks import Task


@njit
def draw_sums(noise, seed, run, column, pulls, before, slots):
    """Adds the sums of new pulls of every arm to what the slots hold."""
    key = counters.run_key(seed, run)
    for arm in range(noise.n_arms):
        kernel_pulls.fill_slot(noise, slots, arm, arm, arm)
    n_vectors = slots.stride // 8
    lanes = noise.n_arms - (n_vectors - 1) * 8
    start, middle = spread(key.start), spread(key.middle)
    kernel_pulls.pull(noise, start, middle, column, pulls, before, n_vectors, lanes, slots)


@njit
def draw_singles(noise, seed, run, arm, before, values, normals):
    kernel_pulls.draw_ahead(noise, counters.run_key(seed, run), arm, before, values, normals)


class Draws:
    """What the kernels would draw for a task, at one budget."""

    def __init__(self, task: Task, budget: int, seed: int) -> None:
        player = task.player(budget)
        self.columns = np.unique(np.array(player.schedule.pulls, dtype=np.int64)) if isinstance(player, EGE) else None
        self.noise = bandit_arrays(task, self.columns)
        self.seed = seed_key((seed,))

    def sums(self, run: int, pulls: int, before: int) -> np.ndarray:
        """The sums ``(n_arms, n_objectives)`` of so many pulls of arms that had ``before``."""
        noise = self.noise
        slots = kernel_pulls.arms_in_a_row(noise.n_arms, noise.n_objectives, noise.kind)
        slots.sums[:] = 0.0
        column = int(np.searchsorted(self.columns, pulls))
        draw_sums(noise, self.seed, run, column, pulls, before, slots)
        return slots.sums.reshape(noise.n_objectives, slots.stride)[:, : noise.n_arms].T

    def single(self, run: int, arm: int, number: int) -> np.ndarray:
        """Pull ``number`` of an arm."""
        noise = self.noise
        values = np.zeros(noise.n_arms * noise.n_objectives * 8)
        draw_singles(noise, self.seed, run, arm, number // 8 * 8, values, np.zeros((noise.n_objectives + 1) * 8))
        return values.reshape(noise.n_arms, noise.n_objectives, 8)[arm, :, number % 8]


def follow(task: Task, budget: int, seed: int, run: int) -> Policy:
    """One run of the policy itself on the kernel's draws.

    A sum is told as the first of its pulls, and the others as zeros: adding them up gives exactly the sum.
    """
    draws, player = Draws(task, budget, seed), task.player(budget)
    while not player.done:
        arms, counts = player.ask(), player.counts
        values = np.zeros((len(arms), player.n_objectives))
        firsts = np.flatnonzero(np.diff(arms, prepend=-1))
        if isinstance(player, EGE):
            before = counts[arms[0]]
            pulls = len(arms) // len(firsts)
            values[firsts] = draws.sums(run, pulls, int(before))[arms[firsts]]
        else:
            for row, arm in enumerate(arms):
                values[row] = draws.single(run, int(arm), int(counts[arm]))
                counts[arm] += 1
        player.tell(arms, values)
    return player


def followed(bandit: pp.Bandit, spec, budget: int, seed: int, run: int, **options) -> tuple[list[int], int, int]:
    """The answer, the pulls and the rounds of one run."""
    player = follow(make_task(bandit, spec, budgets=budget, **options), budget, seed, run)
    record = player.snapshot()
    return player.recommend().tolist(), record.pulls_used, record.round
