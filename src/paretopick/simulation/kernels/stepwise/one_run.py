"""What the policies that pull one arm at a time share: empirical means, and the pulls that change them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretopick.simulation.kernels.compiling import inlined, inner
from paretopick.simulation.kernels.draws.pulls import BanditArrays, draw_ahead
from paretopick.simulation.kernels.fronts import find_gaps, is_optimal
from paretopick.simulation.kernels.outcomes import include
from paretopick.simulation.kernels.vector_memory import float_memory
from paretopick.simulation.kernels.vectors import WIDTH


class Arms(NamedTuple):
    """Counts and sums of every arm, and in slots, as ``fronts`` reads them, the means and once more the counts, as ``pulls``.

    ``ahead`` holds the next pulls. In objectives that are ``exact``, without noise, ``sums`` are the means themselves: sums
    divided by counts may miss them by a rounding.
    """

    stride: int
    counts: NDArray[np.int64]
    sums: NDArray[np.float64]
    means: NDArray[np.float64]
    pulls: NDArray[np.float64]
    ahead: NDArray[np.float64]
    normals: NDArray[np.float64]
    exact: NDArray[np.bool_]


class Known(NamedTuple):
    """What all runs start from: pulls of every arm, their sums and squared deviations, flat; all 0 if nothing is known.

    In objectives without noise, means instead of sums.
    """

    counts: NDArray[np.int64]
    sums: NDArray[np.float64]
    squares: NDArray[np.float64]


def make_arms(noise: BanditArrays, behind: float) -> Arms:
    """Memory for one run; the means of slots behind the last arm are ``behind``."""
    n_arms, n_objectives = noise.n_arms, noise.n_objectives
    stride = -(-n_arms // WIDTH) * WIDTH
    means = float_memory(n_objectives * stride)
    means[:] = behind
    pulls = float_memory(stride)
    pulls[n_arms:] = np.inf
    return Arms(
        stride,
        np.zeros(n_arms, np.int64),
        float_memory(n_arms * n_objectives),
        means,
        pulls,
        float_memory(n_arms * n_objectives * WIDTH),
        float_memory((n_objectives + 1) * WIDTH),
        noise.exact,
    )


@inlined
def forget(arms):
    """Starts a run: no arm has been pulled."""
    arms.counts[:] = 0
    arms.sums[:] = 0.0


@inlined
def recall(noise, key, known, arms):
    """Starts a run from what is known; the pulls of an arm go on with the numbers behind those that it had."""
    D = noise.n_objectives
    for i in range(noise.n_arms):
        count = known.counts[i]
        arms.counts[i] = count
        arms.pulls[i] = count
        for d in range(D):
            arms.sums[i * D + d] = known.sums[i * D + d]
            arms.means[d * arms.stride + i] = known.sums[i * D + d] / max(count, 1)
        if count % WIDTH != 0:
            draw_ahead(noise, key, i, count - count % WIDTH, arms.ahead, arms.normals)


@inlined
def pull_once(noise, key, arm, arms):
    """Pulls an arm and brings its mean up to date."""
    D = noise.n_objectives
    place = arms.counts[arm] % WIDTH
    if place == 0:
        draw_ahead(noise, key, arm, arms.counts[arm], arms.ahead, arms.normals)
    arms.counts[arm] += 1
    arms.pulls[arm] = arms.counts[arm]
    for d in range(D):
        arms.sums[arm * D + d] += arms.ahead[(arm * D + d) * WIDTH + place]
        arms.means[d * arms.stride + arm] = arms.sums[arm * D + d] / arms.counts[arm]


@inlined
def add_pulls(arms, spent):
    """Adds the pulls of every arm to what runs before had."""
    for i in range(arms.counts.size):
        spent[i] += arms.counts[i]


@inner
def answer_now(n_arms, n_objectives, arms, front, answer):
    """Writes down which arms look optimal now."""
    answer[:] = 0
    find_gaps(arms.means, arms.stride, n_objectives, n_arms, 0, front)
    for i in range(n_arms):
        if is_optimal(arms.means, arms.stride, n_objectives, front, i):
            include(i, answer)
