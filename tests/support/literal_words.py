"""The random numbers of the kernels in whole numbers of any size and with the functions of the standard library."""

from __future__ import annotations

import math

import numpy as np

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def moremur(z: int) -> int:
    z = (z ^ (z >> 27)) * 0x3C79AC492BA7B653 & MASK
    z = (z ^ (z >> 33)) * 0x1C69B3F74AC4AE35 & MASK
    return z ^ (z >> 27)


def literal_word(seed, run: int, counter: int) -> int:
    weyl = (run + 1) * GOLDEN & MASK
    start = moremur((int(seed.start) + weyl) & MASK)
    middle = moremur(int(seed.middle) ^ weyl)
    z = (start + counter * GOLDEN) & MASK
    z = (z ^ (z >> 27)) * 0x3C79AC492BA7B653 & MASK
    z = (z ^ (z >> 33) ^ middle) * 0x1C69B3F74AC4AE35 & MASK
    return z ^ (z >> 27)


def literal_pair(word: int) -> tuple[float, float]:
    second = (word ^ (word >> 31)) * 0x9FB21C651E98DF25 & MASK
    second ^= second >> 32
    radius = math.sqrt(-2 * math.log(1 - (word >> 12) / 2**52))
    angle = math.pi / 2 * ((second >> 12) / 2**52 - 0.5)
    cosine, sine = radius * math.cos(angle) * (-1 if second & 1 else 1), radius * math.sin(angle)
    return (cosine, sine) if second & 2 else (sine, cosine)


def literal_normals(seed, run: int, counter: int, n: int) -> np.ndarray:
    """So many normals from a counter on, of which two come from one word."""
    pairs = [literal_pair(literal_word(seed, run, (counter + d) & MASK)) for d in range(0, n, 2)]
    return np.array(pairs).ravel()[:n]


def literal_sum(bandit, seed, run: int, arm: int, before: int, pulls: int) -> np.ndarray:
    """The sum of so many pulls of an arm that had ``before``, drawn at once: its own noise, and the effect of its block."""
    K, D = bandit.means.shape
    noise = bandit.noise
    cov = np.diag(np.broadcast_to(noise.std, (D,)) ** 2) if noise.cov is None else np.asarray(noise.cov)
    covs = np.broadcast_to(cov, (K, D, D))
    own = literal_normals(seed, run, (before * K + arm) * D, D)
    common = literal_normals(seed, run, 2**63 + before * D, D)
    scatter = math.sqrt(1 - noise.shared) * (_root(covs[arm]) @ own)
    effect = math.sqrt(noise.shared) * (_root(covs.mean(axis=0)) @ common)
    return pulls * bandit.means[arm] + math.sqrt(pulls) * (scatter + effect)


def _root(cov: np.ndarray) -> np.ndarray:
    if (cov == np.diag(np.diag(cov))).all():
        return np.sqrt(cov)
    values, vectors = np.linalg.eigh(cov)
    return vectors * np.sqrt(np.maximum(values, 0.0))
