"""Further scores of a clustering against the classes, and scores against several reference labellings.

Samples whose class is noise are left out of every score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import fowlkes_mallows_score, homogeneity_completeness_v_measure
from sklearn.metrics.cluster import contingency_matrix

from .measures import ami, ari, without_noise

FURTHER = ("fowlkes_mallows", "clustering_accuracy", "homogeneity", "completeness")
ALL = ("ari", "ami", *FURTHER)


def clustering_accuracy(y: Any, labels: Any) -> float:
    """Normalised clustering accuracy: mean share of each class in its own cluster, 0 for equal shares.

    Each class is matched with at most one cluster, so that the sum of the shares is largest; with K classes
    and c_i of them matched, (mean of c_i / |class i| − 1/K) / (1 − 1/K). It is 1 for equal partitions, and
    every class counts the same, whatever its size. Gagolewski, Normalised clustering accuracy: an asymmetric
    external cluster validity measure, arXiv 2209.02935.

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
        Classes and clusters.

    Returns
    -------
    score : float
        With a single class 1 for a single cluster, else 0.

    Examples
    --------
    >>> from everclust.benchmark.run.partitions import clustering_accuracy
    >>> clustering_accuracy([0, 0, 1, 1], [5, 5, 7, 5])
    0.5
    """
    counts = np.asarray(contingency_matrix(*without_noise(y, labels)), dtype=float)
    n_classes, n_clusters = counts.shape
    if n_classes == 1:
        return float(n_clusters == 1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    of_class = shares[linear_sum_assignment(shares, maximize=True)].sum() / n_classes
    return float((of_class - 1 / n_classes) / (1 - 1 / n_classes))


def further_scores(y: Any, labels: Any) -> dict[str, float]:
    """The scores beside ARI and AMI.

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
        Classes and clusters.

    Returns
    -------
    scores : dict
        By the names in `FURTHER`.
    """
    known = without_noise(y, labels)
    homogeneity, completeness, _ = homogeneity_completeness_v_measure(*known)
    return {
        "fowlkes_mallows": float(fowlkes_mallows_score(*known)),
        "clustering_accuracy": clustering_accuracy(*known),
        "homogeneity": float(homogeneity),
        "completeness": float(completeness),
    }


def labelling_scores(labellings: Sequence[Any], labels: Any) -> dict[str, list[float]]:
    """All scores against each of several reference labellings.

    Parameters
    ----------
    labellings : sequence of array-like of shape (n_samples,)
    labels : array-like of shape (n_samples,)
        Clusters.

    Returns
    -------
    scores : dict of list
        By the names in `ALL`, one value per labelling.
    """
    rows = [{"ari": ari(y, labels), "ami": ami(y, labels)} | further_scores(y, labels) for y in labellings]
    return {name: [row[name] for row in rows] for name in ALL}
