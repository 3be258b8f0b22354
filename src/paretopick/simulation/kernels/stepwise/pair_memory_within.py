"""What the kernel of doubt with margins and limits keeps about arms and pairs of arms in one run.

Slots and pairs are laid out as in ``pair_memory``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from paretopick.simulation.kernels.gaps_within import Required
from paretopick.simulation.kernels.vector_memory import float_memory, word_memory
from paretopick.simulation.kernels.vectors import WIDTH

OUTDO_F, COVER_F, OUTDONE, COVERED = 0, 1, 2, 3
"""Places in ``numbers``."""


class Relation(NamedTuple):
    """Of each pair: the odds that j outdoes i, or covers it, and what a pull of i, and of j, takes away of the doubt."""

    odds: NDArray[np.float64]
    shares: NDArray[np.float64]
    others: NDArray[np.float64]


class PairsWithin(NamedTuple):
    """What is known of arms and pairs.

    Which objectives are ``compared`` and which are ``limited``, and the ``margins`` and ``limits`` of all. Of each arm, what
    ``pair_data`` keeps, under the same names; whether it keeps all limits at the means (``able``), and is one of the ``front``
    (``in_front``), of which ``size[0]`` is the size; how likely it keeps the limits (``fit``) and does not (``unfit``), and the
    odds of that; who of the front most likely covers it (``place``), and how likely this one does not (``uncovered``); whether
    it is thought not to belong to the answer (``out``), and then what a pull of it is worth (``own_value``), and of who covers
    it (``its_value``); and what a pull of it is worth for its limits (``limit_value``).

    Of each pair, two relations, if ``looked`` says that those of j with all arms are up to date; and what pulls are worth if i
    is in the answer (``values``, ``other_values``), unless that is ``stale``. ``numbers`` are F of both relations, and of how
    many pairs one arm outdoes or covers the other. The rest is for work that is done eight at a time.
    """

    stride: int
    compared: NDArray[np.int64]
    limited: NDArray[np.int64]
    margins: NDArray[np.float64]
    limits: NDArray[np.float64]
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
    able: NDArray[np.float64]
    in_front: NDArray[np.float64]
    front: NDArray[np.int64]
    size: NDArray[np.int64]
    fit: NDArray[np.float64]
    unfit: NDArray[np.float64]
    fit_odds: NDArray[np.float64]
    place: NDArray[np.uint64]
    uncovered: NDArray[np.float64]
    out: NDArray[np.float64]
    own_value: NDArray[np.float64]
    its_value: NDArray[np.float64]
    limit_value: NDArray[np.float64]
    outdo: Relation
    cover: Relation
    looked: NDArray[np.bool_]
    values: NDArray[np.float64]
    other_values: NDArray[np.float64]
    stale: NDArray[np.bool_]
    numbers: NDArray[np.float64]
    listed: NDArray[np.uint64]
    at: NDArray[np.uint64]
    scores: NDArray[np.float64]
    lanes: NDArray[np.float64]


def make_pairs_within(n_arms: int, n_objectives: int, required: Required) -> PairsWithin:
    """Memory for one run."""
    n, D = -(-n_arms // WIDTH) * WIDTH, n_objectives
    return PairsWithin(
        stride=n,
        compared=np.flatnonzero(required.compared),
        limited=np.flatnonzero(required.limits > -np.inf),
        margins=required.margins,
        limits=required.limits,
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
        able=float_memory(n),
        in_front=float_memory(n),
        front=np.zeros(n, np.int64),
        size=np.zeros(1, np.int64),
        fit=float_memory(n),
        unfit=float_memory(n),
        fit_odds=float_memory(n),
        place=word_memory(n),
        uncovered=float_memory(n),
        out=float_memory(n),
        own_value=float_memory(n),
        its_value=float_memory(n),
        limit_value=float_memory(n),
        outdo=Relation(float_memory(n * n), float_memory(n * n), float_memory(n * n)),
        cover=Relation(float_memory(n * n), float_memory(n * n), float_memory(n * n)),
        looked=np.zeros(n, np.bool_),
        values=float_memory(n * n),
        other_values=float_memory(n * n),
        stale=np.zeros(n * n, np.bool_),
        numbers=np.zeros(4),
        listed=word_memory(n * n + WIDTH),
        at=word_memory(n + WIDTH),
        scores=float_memory(n),
        lanes=float_memory(n * WIDTH),
    )
