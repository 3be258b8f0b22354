"""Random data of arms as pulls would have them, with and without ties, and margins and limits that matter to them."""

from __future__ import annotations

import numpy as np

from paretopick.theory.requirements import Requirements

UNTIED = ("normal", "noise of its own", "huge", "tiny", "all scales")
TIED = ("some exact", "few pulls", "integers", "all exact", "all equal")


def random_data(rng: np.random.Generator, kind: str, max_arms: int = 30) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts, means and squares, as pulls would have them."""
    K = int(rng.integers(1, max_arms + 1 if rng.random() < 0.2 else min(max_arms, 9) + 1))
    D = int(rng.integers(1, 7))
    counts = rng.integers(1, 3 if kind == "few pulls" else 15 if kind == "integers" else 300, K)
    if kind == "integers":
        counts[:] = rng.choice([4, 8], K)
        successes = rng.integers(0, counts[:, None] + 1, (K, D))
        return counts, successes / counts[:, None], successes * (1 - successes / counts[:, None])
    if kind == "all equal":
        return np.full(K, counts[0]), np.full((K, D), 0.1), np.full((K, D), rng.choice([0.0, 1.0]) * (counts[0] - 1))
    if kind == "all exact":
        return counts, rng.integers(0, 4, (K, D)).astype(float), np.zeros((K, D))
    stds = np.exp(rng.normal(size=(K, D))) if kind == "noise of its own" else np.full((K, D), 0.5)
    if kind == "some exact":
        stds[:, rng.random(D) < 0.5] = 0.0
    scale = {"huge": 1e100, "tiny": 1e-100, "all scales": 10.0 ** rng.integers(-90, 90, D)}.get(kind, 1.0)
    means = rng.normal(size=(K, D)) * rng.choice([0.1, 1.0, 5.0]) + rng.normal(size=(K, D)) * stds / np.sqrt(counts[:, None])
    return counts, means * scale, rng.chisquare(np.maximum(counts - 1, 1e-9)[:, None], (K, D)) * (stds * scale) ** 2


def random_requirements(rng: np.random.Generator, means: np.ndarray, kind: str) -> Requirements:
    """Margins of the size of the differences, limits among the means, some of which equal one, and objectives left out."""
    D = means.shape[1]
    wide = np.ptp(means, axis=0)
    margins = (
        rng.choice([0.0, 0.125, 0.25, 1.0], D) if kind in ("integers", "all exact") else rng.choice([0.0, 0.05, 0.3], D) * wide
    )
    limits = np.full(D, -np.inf)
    if rng.random() < 0.7:
        limits = np.where(rng.random(D) < 0.5, np.quantile(means, rng.choice([0.1, 0.3, 0.7, 1.0]), axis=0), limits)
        if rng.random() < 0.2:
            limits += 0.5 * wide  # nobody keeps them
    compared = rng.random(D) < 0.8
    compared[rng.integers(D)] = True
    return Requirements(margins, limits, compared)
