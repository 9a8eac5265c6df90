"""Density peaks: dense samples that are far from denser ones."""

from __future__ import annotations

import math

import numpy as np

from ..distances import chunks, distances, points


def dense_points(X: np.ndarray, n_points: int) -> np.ndarray:
    """Steps 1 to 4: ascending indices of the samples with the largest ρ·δ, ties to the lowest."""
    density = densities(X)
    separation = separations(X, density)
    with np.errstate(invalid="ignore"):
        peak = np.nan_to_num(density * separation, nan=0.0, posinf=np.inf)  # ∞ · 0 counts as 0
    return np.sort(np.argsort(-peak, kind="stable")[:n_points])


def densities(X: np.ndarray) -> np.ndarray:
    """ρ = K / Σ of the K + 1 smallest distances, including the one to the sample itself; K = ⌊√n⌋."""
    n, to = len(X), points(X)
    n_near = math.isqrt(n)
    total = np.empty(n)
    for part in chunks(n, n):
        away = distances(X[part], to)
        if n_near + 1 < n:
            away.partition(n_near, axis=1)
        total[part] = np.sort(away[:, : n_near + 1], axis=1).sum(axis=1)
    with np.errstate(divide="ignore"):
        return n_near / total


def separations(X: np.ndarray, density: np.ndarray) -> np.ndarray:
    """δ = distance to the nearest denser sample, ties by index; for the densest, the largest distance."""
    order = np.argsort(-density, kind="stable")
    ranked, separation = X[order], np.empty(len(X))
    to = points(ranked)
    for part in chunks(len(X), len(X)):
        away = distances(ranked[part], to, np.empty((part.stop - part.start, part.stop)))
        away[:, part][np.triu_indices(part.stop - part.start)] = np.inf  # not denser, or the sample itself
        separation[order[part]] = away.min(axis=1)
    separation[order[0]] = distances(ranked[:1], to).max()
    return separation
