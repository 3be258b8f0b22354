"""What the kernel of doubt keeps about arms and pairs of arms in one run.

Arms are in slots as ``fronts`` reads them, eight in a vector; what belongs to an arm i and one of the front, j, is at
``j * stride + i``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretopick.simulation.kernels.compiling import inlined
from paretopick.simulation.kernels.vector_memory import float_memory, word_memory
from paretopick.simulation.kernels.vectors import WIDTH

F, F_IN_DEVIATIONS, DOMINATIONS, FAR_SQUARED = 0, 1, 2, 3
"""Places in ``numbers``."""

FRONT, CHANGED, ROWS = 0, 1, 2
"""Places in ``sizes``."""

NONE = -1e150
"""A bar that everybody is above."""


class Pairs(NamedTuple):
    """What is known of arms and pairs.

    Of each arm: its pulls with those that have been chosen, and their root; its means; its variances, as they are in the data
    (``ratios``), moderated (``noise``), of the mean (``variances``), and what one pull takes away from that (``falls``); of all
    of them, the mean in each objective on the grid (``pool``), and the ``lowest`` and ``highest`` mean that was seen to be that;
    how many others dominate it (``dominators``); who most likely does (``place``), the odds of that (``best``), and the ``bar``
    for others, once more with its sign and squared (``test``); whether that is as good as certain (``sure``); whether it is
    thought to be ``dominated``, and then what a pull of it is worth (``own_value``), and of its dominator (``its_value``), as
    they are for the dominator ``valued``. Of each of the front, what pulls of it are worth for those it dominates (``sums``),
    unless that is ``dirty``.

    Of each pair: the odds that j dominates i, 0 if j is below the bar; what a pull of either takes away; and what that is worth
    if i is optimal (``values``, ``other_values``), unless that is ``stale``.

    ``sizes`` are those of the front, of ``changed``, the arms that were looked at, each of them ``noted`` once, and of ``rows``,
    those of which all of the front is to be looked at; ``numbers`` are F, a bound on what F is worth in deviations, of how many
    pairs one dominates the other, and the square of deviations that are as good as certain.

    What was before a change: the means of the arm, ``old``, and the front, ``before``. For work that is done eight at a time:
    what it is done for, ``listed``, where its results belong, ``at``, and what was ``found``; the ``scores`` of all arms, and
    those that the front gets in parts, ``lanes``.
    """

    stride: int
    counts: NDArray[np.float64]
    roots: NDArray[np.float64]
    means: NDArray[np.float64]
    ratios: NDArray[np.float64]
    noise: NDArray[np.float64]
    variances: NDArray[np.float64]
    falls: NDArray[np.float64]
    pool: NDArray[np.float64]
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]
    dominators: NDArray[np.float64]
    place: NDArray[np.uint64]
    best: NDArray[np.float64]
    bar: NDArray[np.float64]
    sure: NDArray[np.float64]
    test: NDArray[np.float64]
    dominated: NDArray[np.float64]
    own_value: NDArray[np.float64]
    its_value: NDArray[np.float64]
    valued: NDArray[np.int64]
    odds: NDArray[np.float64]
    shares: NDArray[np.float64]
    others: NDArray[np.float64]
    values: NDArray[np.float64]
    other_values: NDArray[np.float64]
    stale: NDArray[np.bool_]
    front: NDArray[np.int64]
    before: NDArray[np.int64]
    changed: NDArray[np.int64]
    noted: NDArray[np.bool_]
    rows: NDArray[np.int64]
    sizes: NDArray[np.int64]
    numbers: NDArray[np.float64]
    scores: NDArray[np.float64]
    lanes: NDArray[np.float64]
    sums: NDArray[np.float64]
    dirty: NDArray[np.bool_]
    listed: NDArray[np.uint64]
    at: NDArray[np.uint64]
    found: NDArray[np.float64]
    old: NDArray[np.float64]


def make_pairs(n_arms: int, n_objectives: int) -> Pairs:
    """Memory for one run."""
    n, D = -(-n_arms // WIDTH) * WIDTH, n_objectives
    return Pairs(
        stride=n,
        counts=float_memory(n),
        roots=float_memory(n),
        means=float_memory(D * n),
        ratios=float_memory(D * n),
        noise=float_memory(D * n),
        variances=float_memory(D * n),
        falls=float_memory(D * n),
        pool=np.zeros(D),
        lowest=np.zeros(D),
        highest=np.zeros(D),
        dominators=float_memory(n),
        place=word_memory(n),
        best=float_memory(n),
        bar=float_memory(n),
        sure=float_memory(n),
        test=float_memory(n),
        dominated=float_memory(n),
        own_value=float_memory(n),
        its_value=float_memory(n),
        valued=np.zeros(n, np.int64),
        odds=float_memory(n * n),
        shares=float_memory(n * n),
        others=float_memory(n * n),
        values=float_memory(n * n),
        other_values=float_memory(n * n),
        stale=np.zeros(n * n, np.bool_),
        front=np.zeros(n, np.int64),
        before=np.zeros(n, np.int64),
        changed=np.zeros(n + 1, np.int64),
        noted=np.zeros(n, np.bool_),
        rows=np.zeros(n, np.int64),
        sizes=np.zeros(3, np.int64),
        numbers=np.zeros(4),
        scores=float_memory(n),
        lanes=float_memory(n * WIDTH),
        sums=float_memory(n),
        dirty=np.zeros(n, np.bool_),
        listed=word_memory(n * n + n + WIDTH),
        at=word_memory(2 * n + WIDTH),
        found=float_memory(n * n + n + WIDTH),
        old=np.zeros(D),
    )


@inlined
def real_arms(K, v):
    """As bits, which slots of a vector hold arms."""
    return (1 << min(WIDTH, K - v)) - 1


@inlined
def note(arm, pairs):
    """Notes that an arm has been looked at, if that is not yet noted."""
    pairs.changed[pairs.sizes[CHANGED]] = arm
    pairs.sizes[CHANGED] += not pairs.noted[arm]
    pairs.noted[arm] = True


@inlined
def ask_for_row(arm, pairs):
    """Lets all of the front be looked at for an arm of which only a part was; it then has no bar, so that this is asked once."""
    pairs.rows[pairs.sizes[ROWS]] = arm
    pairs.sizes[ROWS] += 1
    pairs.sure[arm] = 0.0
    pairs.bar[arm] = NONE
