"""Block effects: what pulls of all arms with the same repeat have in common; the n-th pull of every arm is repeat n - 1.

They have a stream of their own: that of repeat r begins ``r * n_objectives`` behind ``FIRST``, where no pull gets to.
"""

from __future__ import annotations

import numpy as np
from numba import uint64

from paretopick.simulation.kernels.compiling import inner
from paretopick.simulation.kernels.draws.counters import GOLDEN
from paretopick.simulation.kernels.draws.normals import normal_pair
from paretopick.simulation.kernels.vector_memory import load, store
from paretopick.simulation.kernels.vectors import WIDTH, fused, spread

FIRST = np.uint64(1 << 63)
"""The first counter of block effects, half of all counters behind the first of the pulls; ``GOLDEN`` times it is the same."""


@inner
def draw_effects(D, roots, first, start, middle, repeats, size, normals, effects, at):
    """Draws the effects of the repeats in the lanes, times ``size``, into ``effects``: objective d at ``at + 8 d``.

    What normals are multiplied by, ``(n_objectives, n_objectives)``, is at ``first`` and behind in ``roots``. ``start``
    and ``middle`` are the keys of the runs in the lanes, and ``normals`` is memory as of ``draw_ahead``.
    """
    counters = spread(FIRST) + repeats * spread(uint64(D) * GOLDEN)
    for d in range(0, D, 2):
        a, b = normal_pair(start, middle, counters + spread(uint64(d) * GOLDEN))
        store(normals, d * WIDTH, a)
        store(normals, (d + 1) * WIDTH, b)
    for d in range(D):
        effect = spread(0.0)
        for e in range(D):
            effect = fused(spread(roots[first + d * D + e]), load(normals, e * WIDTH), effect)
        store(effects, at + d * WIDTH, spread(size) * effect)
