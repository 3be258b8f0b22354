"""Vectors of eight numbers: what their functions do, in NumPy's words."""

import numpy as np
import pytest

from paretopick.simulation.kernels import SOURCES
from paretopick.simulation.kernels.compiling import kernel
from paretopick.simulation.kernels.vector_memory import gather_listed, scatter_listed
from paretopick.simulation.kernels.vectors import bits, first_lanes


@kernel
def move(array, places, start, offset, to, out, sources=SOURCES):
    """Reads from the places that are listed from ``start`` on, each moved by ``offset``, and writes where ``to`` says."""
    scatter_listed(out, to, start, gather_listed(array, places, start, offset))


@kernel
def mask_of(n, sources=SOURCES):
    """The first n lanes as bits."""
    return bits(first_lanes(n))


@pytest.mark.parametrize("start, offset", [(0, 0), (0, 30), (5, 0), (3, 17)])
def test_listed_places_are_read_and_written_one_by_one(start, offset):
    rng = np.random.default_rng(start + offset)
    array, places, to = rng.random(80), rng.integers(40, size=16).astype(np.uint64), rng.permutation(40)[:16].astype(np.uint64)
    out, expected = np.zeros(40), np.zeros(40)
    move(array, places, start, offset, to, out)
    expected[to[start : start + 8]] = array[places[start : start + 8] + np.uint64(offset)]
    assert out.tolist() == expected.tolist()


def test_the_first_lanes_are_as_many_as_there_can_be():
    assert [mask_of(n) for n in range(-2, 11)] == [0, 0, 0, 1, 3, 7, 15, 31, 63, 127, 255, 255, 255]
