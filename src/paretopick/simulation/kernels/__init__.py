"""Compiled simulation: arrays in, arrays out. Only the engine's ``compiled`` module imports this package, when a run starts.

=================  =====================================================================
``lanes``          vectors of eight numbers, which everything below is written with
``randoms``        random words and normals by counter
``binomials``      sums of Bernoulli pulls
``noises``         pulls of many arms at once, or of one arm
``fronts``         Pareto set and gaps of one run, eight arms side by side
``planar``         the Pareto set of points in the plane, for long fronts
``one_by_one``     EGE, one run at a time
``pivots``         Pareto sets and gaps of eight runs side by side
``decisions``      who leaves in eight runs side by side
``side_by_side``   EGE, eight runs side by side
``ege``            the kernel of EGE, which chooses between the two
``sequential``     what the policies that pull one arm at a time share
``moving``         gaps that are kept while one arm after the other moves
``ape``, ``apt``   their kernels, one run at a time
``abreast``        what eight runs of them share that advance side by side
``ape_abreast``,
``apt_abreast``    their kernels for few arms, eight runs at a time
=================  =====================================================================

Functions marked ``@kernel`` are called from Python and cached on disk. To see whether the cache is still good Numba looks at the
file of the function alone; ``SOURCES``, the default of an argument of every kernel, makes it look at all of them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

SOURCES = int.from_bytes(
    hashlib.sha256(b"".join(source.read_bytes() for source in sorted(Path(__file__).parent.rglob("*.py")))).digest()[:7], "big"
)
"""A number that changes with any source file of the kernels."""
