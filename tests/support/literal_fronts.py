"""A front that options are on or behind, found as it is defined: option by option, and side by side."""

import numpy as np
from scipy.stats import multivariate_normal

from paretopick.estimates.fronts import STEPS, THICKNESS
from paretopick.estimates.populations import TINY


def literal_front(points, noise, along, across, share, bend):
    """What ``_front`` finds, from options and noise in turned coordinates: shares, places, what is left, and the likelihood."""
    n, D = points.shape
    middle = points[:, :-1].mean(axis=0)
    curve = bend * np.sqrt(along.mean()) / along
    m, V, b, h = middle, np.diag(along), np.zeros(D - 1), None
    distance, scatter = [0.0, across], [THICKNESS * across, across]
    near, before = points.copy(), -np.inf
    for _ in range(STEPS):
        z, N = np.empty_like(points), np.empty_like(noise)
        for k in range(n):
            u = near[k, :-1] - middle
            J = np.eye(D)
            J[-1, :-1] = -2 * curve * u
            z[k] = near[k] - np.append(np.zeros(D - 1), (curve * u**2).sum()) + J @ (points[k] - near[k])
            N[k] = J @ noise[k] @ J.T
        h = z[:, -1].mean() + (1 - share) * across if h is None else h
        joint, where, left = np.zeros((2, n)), np.zeros((2, n, D)), np.zeros((2, n, D, D))
        for c in (0, 1):
            A = np.zeros((D, D))
            A[:-1, :-1], A[-1, :-1], A[:-1, -1] = V, V @ b, V @ b
            A[-1, -1] = b @ V @ b + scatter[c] ** 2
            mean = np.append(m, h - distance[c])
            for k in range(n):
                S = A + N[k] + TINY * np.eye(D)
                prior = (share, 1 - share)[c]
                joint[c, k] = prior * multivariate_normal.pdf(z[k], mean, S) * (2 * np.pi) ** (D / 2)
                gain = N[k] @ np.linalg.inv(S)
                where[c, k] = z[k] - gain @ (z[k] - mean)
                left[c, k] = N[k] - gain @ N[k]
        r = joint / joint.sum(axis=0)
        total = np.log(joint.sum(axis=0)).sum()
        if total - before < 1e-3:
            break
        before = total
        pairs = [(c, k) for c in (0, 1) for k in range(n)]
        expected = [r[0, k] * where[0, k] + r[1, k] * where[1, k] for k in range(n)]
        m = sum(x[:-1] for x in expected) / n
        V = sum(r[c, k] * (left[c, k][:-1, :-1] + np.outer(where[c, k][:-1] - m, where[c, k][:-1] - m)) for c, k in pairs)
        V = (V + np.diag(along)) / (n + 1)
        G, g = TINY * np.eye(D - 1), np.zeros(D - 1)
        for c, k in pairs:
            d = where[c, k][:-1] - m
            w = r[c, k] / scatter[c] ** 2
            G += w * (left[c, k][:-1, :-1] + np.outer(d, d))
            g += w * (left[c, k][:-1, -1] + d * (where[c, k][-1] + distance[c] - h))
        b = np.linalg.solve(G, g)
        weights = [r[c, k] / scatter[c] ** 2 for c, k in pairs]
        heights = [where[c, k][-1] + distance[c] - b @ (where[c, k][:-1] - m) for c, k in pairs]
        h = sum(w * x for w, x in zip(weights, heights, strict=True)) / sum(weights)
        lags = [h + b @ (where[1, k][:-1] - m) - where[1, k][-1] for k in range(n)]
        behind = sum(r[1])
        distance[1] = max((sum(r[1, k] * lags[k] for k in range(n)) + across) / (behind + 1), across / 2)
        e = np.append(-b, 1.0)
        wide = sum(r[1, k] * ((lags[k] - distance[1]) ** 2 + e @ left[1, k] @ e) for k in range(n))
        scatter[1] = np.sqrt((wide + across**2) / (behind + 1))
        for k in range(n):
            near[k] = expected[k]
            near[k, -1] += (curve * (expected[k][:-1] - middle) ** 2).sum()
    return r, where, left, total
