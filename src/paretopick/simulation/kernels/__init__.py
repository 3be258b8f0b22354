"""Compiled simulation: arrays in, arrays out. Only the engine's ``compiled`` module imports this package, when a run starts.

===================  ===================================================================
``compiling``        how functions are compiled, and that kernels are kept on disk
``vectors``          vectors of eight numbers, which everything below is written with;
                     ``vector_memory``, where they are read and written;
                     ``array_functions``, functions of NumPy for them
``fronts``           Pareto set and gaps of one run, eight arms in a vector
``certain_gaps``     the same with objectives that are without noise
``gaps_within``      the same within margins and limits
``planar``           the Pareto set of points in the plane, for long fronts
``outcomes``         what is written down about each run
``draws``            ``counters``: random words; ``normals``; ``binomials``: sums of Bernoulli
                     pulls; ``blocks``: what arms have in common; ``pulls``: those of
                     many arms, or of one arm
``ege``              EGE: ``one_run``; ``eight_runs`` at once, with ``eight_fronts``,
                     ``decisions`` about who leaves, and ``leaving``; ``kernel``, which
                     chooses between them; ``exact_runs``, with objectives without noise
``stepwise``         policies that pull one arm at a time: what they share in ``one_run``,
                     ``eight_runs`` and ``moving_gaps``; what doubt goes by in
                     ``moving_pairs`` and the modules that it names; their kernels
===================  ===================================================================

Functions marked ``@kernel`` are called from Python and cached on disk. To see whether the cache is still good Numba looks at the
file of the function alone; ``SOURCES``, the default of an argument of every kernel, makes it look at all of them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

_SOURCES = [
    *(Path(__file__).parents[2] / name for name in ("_doubting.py", "_normals.py")),
    *sorted(Path(__file__).parent.rglob("*.py")),
]

SOURCES = int.from_bytes(hashlib.sha256(b"".join(source.read_bytes() for source in _SOURCES)).digest()[:7], "big")
"""A number that changes with any source file of the kernels, and with the functions that they share with policies."""
