"""The pulls of one run as the kernels draw them one by one, in NumPy: for policies that run through ask and tell.

Pull n of an arm is a function of the seed, the run, the arm and n, whoever asks and whatever was asked before, so that policies
are compared on the same pulls. ``simulation/kernels/draws/`` says how a number is made; these are the same but for roundings,
since NumPy has no fused multiplication. The kernels of EGE draw the pulls of a round as one sum instead.
"""

from __future__ import annotations

import operator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from paretopick._arrays import FloatArray, IntArray
from paretopick._words import short
from paretopick.bandits import Bandit, Bernoulli, Gaussian, Noise, Seed
from paretopick.errors import InvalidInput

Words: TypeAlias = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2, MIX_3 = np.uint64(0x3C79AC492BA7B653), np.uint64(0x1C69B3F74AC4AE35), np.uint64(0x9FB21C651E98DF25)
FIRST_OF_BLOCKS = np.uint64(1 << 63)
"""From this counter on, what arms share."""

AHEAD = 64
"""So many pulls of an arm are drawn at once for a policy that asks for one after the other."""


def by_counter(noise: Noise) -> bool:
    """Returns whether pulls of such noise are drawn so."""
    return type(noise) in (Gaussian, Bernoulli)


class CommonPulls:
    """Draws the pulls of one run; ``pull(arms)`` is that of ``bandits.Run``.

    Args:
        bandit: with Gaussian or Bernoulli noise.
        seed: the entropy and the spawn key of a SeedSequence.
        run: the number of the run.
        counts: how often each arm was pulled before.
    """

    def __init__(self, bandit: Bandit, seed: tuple[int, ...], run: int, counts: IntArray) -> None:
        self._bandit, self._counts = bandit, counts.copy()
        entropy, *key = seed
        start, middle = np.random.SeedSequence(entropy, spawn_key=key).generate_state(2, np.uint64)[:, None]
        weyl = np.array([run + 1], dtype=np.uint64) * GOLDEN
        self._start, self._middle = _mixed(start + weyl), _mixed(middle ^ weyl)
        self._ahead: dict[int, tuple[int, FloatArray]] = {}
        """Of an arm, the number of a pull, and this pull and those behind it."""

    def pull(self, arms: IntArray) -> FloatArray:
        """Returns the next pull of each of ``arms``, ``(len(arms), n_objectives)``; an arm may be named several times."""
        if len(arms) == 1:
            return self._next(int(arms[0]))
        order = np.argsort(arms, kind="stable")
        placed = arms[order]
        firsts = np.searchsorted(placed, placed)
        numbers = np.empty_like(arms)
        numbers[order] = self._counts[placed] + np.arange(len(arms)) - firsts
        self._counts += np.bincount(arms, minlength=len(self._counts))
        return self._values(arms, numbers)

    def _next(self, arm: int) -> FloatArray:
        number = int(self._counts[arm])
        first, rows = self._ahead.get(arm, (0, np.empty((0, 0))))
        if not first <= number < first + len(rows):
            numbers = np.arange(number, number + min(max(number, 4), AHEAD))
            first, rows = number, self._values(np.full(len(numbers), arm), numbers)
            self._ahead[arm] = first, rows
        self._counts[arm] += 1
        return rows[number - first : number - first + 1]

    def _values(self, arms: IntArray, numbers: IntArray) -> FloatArray:
        """The pulls of these numbers."""
        noise = self._bandit.noise
        means = self._bandit.means[arms]
        n_arms, n_objectives = self._bandit.means.shape
        counters = (numbers.astype(np.uint64) * np.uint64(n_arms) + arms.astype(np.uint64)) * np.uint64(n_objectives)
        if isinstance(noise, Bernoulli):
            chances = _unit_interval(self._words(_followed_by(counters, n_objectives, step=1)))
            return (chances < means).astype(np.float64)
        assert isinstance(noise, Gaussian)
        values = means + _spread(self._normals(counters), noise.root[arms] if noise.root.ndim == 3 else noise.root)
        if noise.shared:
            effects = self._normals(FIRST_OF_BLOCKS + numbers.astype(np.uint64) * np.uint64(n_objectives))
            values += _spread(effects, noise.block_root)
        return values

    def _words(self, counters: Words) -> Words:
        z = self._start + counters * GOLDEN
        z = (z ^ (z >> np.uint64(27))) * MIX_1
        z = (z ^ (z >> np.uint64(33)) ^ self._middle) * MIX_2
        return np.asarray(z ^ (z >> np.uint64(27)), dtype=np.uint64)

    def _normals(self, counters: Words) -> FloatArray:
        """``(len(counters), n_objectives)`` standard normals, of which two come from one word (Box and Muller)."""
        n_objectives = self._bandit.n_objectives
        first = self._words(_followed_by(counters, n_objectives, step=2))
        second = (first ^ (first >> np.uint64(31))) * MIX_3
        second ^= second >> np.uint64(32)
        radius = np.sqrt(-2.0 * np.log(1.0 - _unit_interval(first)))
        angle = np.pi / 2 * (_unit_interval(second) - 0.5)  # an eighth of a turn to each side; two low bits make it a whole one
        sine = radius * np.sin(angle)
        cosine = np.where(second & np.uint64(1), -radius, radius) * np.cos(angle)
        swapped = (second & np.uint64(2)) == 0
        pairs = np.stack((np.where(swapped, sine, cosine), np.where(swapped, cosine, sine)), axis=-1)
        return pairs.reshape(len(counters), -1)[:, :n_objectives]


def seed_of(rng: Seed) -> tuple[int, ...]:
    """Returns a seed as plain integers: the entropy and the spawn key of a SeedSequence."""
    if isinstance(rng, np.random.Generator):
        rng = int(rng.integers(2**63))
    try:
        sequence = rng if isinstance(rng, np.random.SeedSequence) else np.random.SeedSequence(rng)
    except (TypeError, ValueError) as problem:
        raise InvalidInput(f"rng={short(rng)} is not a seed ({problem}); pass an int, SeedSequence or Generator.") from None
    try:
        entropy = operator.index(sequence.entropy)  # type: ignore[arg-type]
    except TypeError:
        # Several words of entropy become one number, so that every seed is written the same way.
        entropy = int.from_bytes(sequence.generate_state(4).tobytes(), "little")
    return (entropy, *map(int, sequence.spawn_key))


def _followed_by(counters: Words, n: int, *, step: int) -> Words:
    """``(len(counters), n)``: each counter and those behind it, every one or every second."""
    return np.asarray(counters[:, None] + np.arange(0, n, step, dtype=np.uint64), dtype=np.uint64)


def _mixed(z: Words) -> Words:
    z = (z ^ (z >> np.uint64(27))) * MIX_1
    z = (z ^ (z >> np.uint64(33))) * MIX_2
    return z ^ (z >> np.uint64(27))


def _unit_interval(words: Words) -> FloatArray:
    """Uniform in [0, 1), in steps of 2^-52."""
    return (words >> np.uint64(12)) / 2.0**52


def _spread(normals: FloatArray, root: FloatArray) -> FloatArray:
    """Standard normals times stds, or times one root of a covariance, or one for each of them."""
    return normals * root if root.ndim < 2 else np.einsum("...de,...e->...d", root, normals)
