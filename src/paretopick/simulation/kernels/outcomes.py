"""What the kernels write down about each run."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from paretopick.simulation.kernels.compiling import inlined


class Outcome(NamedTuple):
    """What is kept of each run: the answer, arm a in bit a % 64 of word a // 64; the pulls used; the rounds."""

    answers: NDArray[np.uint64]
    pulls: NDArray[np.int64]
    rounds: NDArray[np.int64]


@inlined
def include(arm, answer):
    """Adds an arm to an answer."""
    arm = uint64(arm)
    answer[arm // uint64(64)] |= uint64(1) << (arm % uint64(64))
