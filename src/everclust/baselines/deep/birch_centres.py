"""Initial centres of clusters, from a BIRCH tree."""

from __future__ import annotations

import math

import numpy as np
from sklearn.cluster import Birch

THRESHOLD, BRANCHING = 0.5, 50  # scikit-learn's defaults
MOST_FITS = 60


def _tree(codes: np.ndarray, threshold: float) -> Birch:
    return Birch(threshold=threshold, branching_factor=BRANCHING, n_clusters=None, compute_labels=False).fit(
        codes
    )


def _merged(tree: Birch, codes: np.ndarray, n_clusters: int) -> np.ndarray:
    """Means of the codes in groups of subclusters that agglomerative clustering merges."""
    labels = tree.set_params(n_clusters=n_clusters).partial_fit(None).predict(codes)
    return np.array([codes[labels == label].mean(axis=0) for label in np.unique(labels)])


def birch(codes: np.ndarray, n_clusters: int) -> np.ndarray:
    """n_clusters centres: the subclusters at a fixed threshold, merged by agglomerative clustering."""
    tree = _tree(codes, THRESHOLD)
    n_found = len(tree.subcluster_centers_)
    if n_found < n_clusters:
        raise ValueError(
            f"BIRCH finds {n_found} subclusters in the codes, fewer than n_clusters={n_clusters}; use "
            "init='adaptive_birch', which adapts its threshold to the scale of the codes."
        )
    return _merged(tree, codes, n_clusters)


def adaptive_birch(codes: np.ndarray, n_clusters: int) -> np.ndarray:
    """n_clusters to 2 n_clusters - 1 centres: all subclusters, at the first threshold that gives that many.

    The threshold is doubled or halved until it is bracketed, then bisected.
    """
    n_found = len(np.unique(codes, axis=0))
    if n_found < n_clusters:
        raise ValueError(_too_alike(n_found, n_clusters))
    too_low, too_high, threshold = 0.0, math.inf, THRESHOLD
    fine_tree = None  # the coarsest tree so far that is too fine
    for _ in range(MOST_FITS):
        tree = _tree(codes, threshold)
        n_found = len(tree.subcluster_centers_)
        if n_clusters <= n_found < 2 * n_clusters:
            return np.array(tree.subcluster_centers_)
        if n_found < n_clusters:
            too_high = threshold
        else:
            too_low, fine_tree = threshold, tree
        threshold = _between(too_low, too_high, threshold)
    if fine_tree is None:
        raise ValueError(_too_alike(n_found, n_clusters))
    # No threshold fits, because many codes are equal: merge the subclusters, as `birch` does.
    return _merged(fine_tree, codes, n_clusters)


def _between(too_low: float, too_high: float, threshold: float) -> float:
    """The next threshold to try."""
    if too_high == math.inf:
        return 2 * threshold
    return threshold / 2 if too_low == 0 else (too_low + too_high) / 2


def _too_alike(n_distinct: int, n_clusters: int) -> str:
    return (
        f"The rows of X have only {n_distinct} distinct codes, fewer than n_clusters={n_clusters}; ask for "
        "fewer clusters."
    )
