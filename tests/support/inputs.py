"""Inputs that many tests draw from: points with and without ties, and tapes of observations."""

import signal
from collections.abc import Callable, Iterator

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy


def random_points(rng: np.random.Generator, n: int, max_arms: int = 12, max_objectives: int = 6) -> Iterator[np.ndarray]:
    """``n`` arrays of points: continuous, of few integers (full of ties and twins), and eighths (ties in sums), in turn."""
    for i in range(n):
        shape = (int(rng.integers(1, max_arms + 1)), int(rng.integers(1, max_objectives + 1)))
        if i % 3 == 0:
            yield rng.normal(size=shape)
        elif i % 3 == 1:
            yield rng.integers(0, 4, size=shape).astype(float)
        else:
            yield rng.integers(-9, 10, size=shape) / 8


def tie_rich_points(max_arms: int = 8, max_objectives: int = 4) -> st.SearchStrategy[np.ndarray]:
    """Small integers as floats, for which sums, differences and shifts are exact."""
    shapes = st.tuples(st.integers(1, max_arms), st.integers(1, max_objectives))
    return shapes.flatmap(lambda shape: st_numpy.arrays(np.float64, shape, elements=st.integers(-3, 3).map(float)))


def drawn_requirements(rng: np.random.Generator, points: np.ndarray) -> tuple[list[float | None], list[float | None]]:
    """Margins and limits of which some are met exactly, some are 0 and some are not there."""
    n_arms, n_objectives = points.shape
    margins, limits = [], []
    for d in range(n_objectives):
        i, j = rng.integers(n_arms, size=2)
        margins.append([0.0, abs(points[i, d] - points[j, d]), rng.random(), None][rng.integers(4 if d else 3)])
        limits.append([None, None, points[i, d], rng.normal()][rng.integers(4)])
    return margins, limits


def tape(rng: np.random.Generator, means: np.ndarray, length: int, kind: str = "gaussian") -> np.ndarray:
    """``(n_arms, length, n_objectives)``: the n-th pull of an arm is always the same vector."""
    shape = (len(means), length, means.shape[1])
    if kind == "bernoulli":
        return (rng.random(shape) < means[:, None, :]).astype(float)
    return means[:, None, :] + rng.normal(size=shape)


def exact_squares(rows: np.ndarray) -> np.ndarray:
    """The squared deviations of integers, rounded once."""
    n = len(rows)
    return np.array([(n * int((column**2).sum()) - int(column.sum()) ** 2) / n for column in rows.astype(np.int64).T])


def drawing(observations: np.ndarray) -> Callable[[int, int], tuple[float, ...]]:
    """The tape as the oracle wants it."""
    return lambda arm, n: tuple(observations[arm, n].tolist())


def heed_interrupts() -> None:
    """For ``preexec_fn``: a process started in the background ignores SIGINT, and so would its children."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def follow(policy, observations: np.ndarray, chunk: int | None = None) -> list[int]:
    """Plays a policy on a tape, ``chunk`` pulls at a time, and returns the arms in the order they were pulled."""
    pulled = []
    while not policy.done:
        arms = policy.ask(chunk)
        counts = policy.counts
        rows = []
        for arm in arms:
            rows.append(observations[arm, counts[arm]])
            counts[arm] += 1
        policy.tell(arms, rows)
        pulled.extend(arms.tolist())
    return pulled
