"""Scores of a clustering, and measures of continual learning."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from ..data.entry import NOISE

FIRST_STEP_SCORE = 1.0  # with one class there is nothing to separate: set, not measured


def ari(y: Any, labels: Any) -> float:
    """Adjusted Rand index, 1 at best and about 0 for chance.

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
        Classes and clusters.

    Returns
    -------
    score : float
    """
    return _score(adjusted_rand_score, y, labels)


def ami(y: Any, labels: Any) -> float:
    """Adjusted mutual information, 1 at best and about 0 for chance.

    Parameters
    ----------
    y, labels : array-like of shape (n_samples,)
        Classes and clusters.

    Returns
    -------
    score : float
    """
    return _score(adjusted_mutual_info_score, y, labels)


def without_noise(y: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Classes and clusters of the samples that belong to a class."""
    y, labels = np.asarray(y), np.asarray(labels)
    is_noise = y == NOISE if y.dtype.kind == "i" else np.zeros(len(y), dtype=bool)
    return (y[~is_noise], labels[~is_noise]) if is_noise.any() else (y, labels)


def _score(measure: Any, y: Any, labels: Any) -> float:
    y, labels = without_noise(y, labels)
    with warnings.catch_warnings():  # nearly as many clusters as samples is a legitimate result here
        warnings.filterwarnings("ignore", message="The number of unique classes", category=UserWarning)
        return float(measure(y, labels))


def average_incremental(step_scores: Sequence[float]) -> float:
    """AI: mean of the scores after each class, on all classes so far.

    Parameters
    ----------
    step_scores : sequence of float
        One per class in the order learnt; the first is `FIRST_STEP_SCORE`.

    Returns
    -------
    score : float

    Examples
    --------
    >>> from everclust.benchmark.run.measures import average_incremental, backward_transfer
    >>> round(average_incremental([1.0, 0.8, 0.6]), 6)
    0.8
    >>> round(backward_transfer([1.0, 0.8, 0.6]), 6)
    -0.3
    """
    return float(np.mean(step_scores))


def backward_transfer(step_scores: Sequence[float]) -> float:
    """BWT as the authors' program computes it: the last score minus the mean of the earlier ones.

    The set of classes grows with every score, so BWT is mostly negative because the task gets harder, not
    only because of forgetting. It equals C/(C−1) · (last score − AI) for C classes.

    Parameters
    ----------
    step_scores : sequence of float
        One per class in the order learnt; the first is `FIRST_STEP_SCORE`.

    Returns
    -------
    score : float
        0 if there is only one class.
    """
    if len(step_scores) == 1:
        return 0.0
    return float(step_scores[-1] - np.mean(step_scores[:-1]))


def backward_transfer_printed(class_scores: Any) -> float:
    """BWT by the paper's formula: mean change of the score of each class since it was learnt.

    It is not informative with ARI and AMI, which can only be 0 or 1 on a single class.

    Parameters
    ----------
    class_scores : array-like of shape (n_classes, n_classes)
        Entry (i, j) is the score on the i-th class after the j-th; entries below the diagonal are not used.

    Returns
    -------
    score : float
        0 if there is only one class.
    """
    scores = np.asarray(class_scores, dtype=float)
    if len(scores) == 1:
        return 0.0
    return float(np.mean(scores[:-1, -1] - np.diag(scores)[:-1]))


def cluster_error(mean_clusters: float, n_classes: int) -> float:
    """Relative difference between the mean number of clusters over runs and the number of classes.

    Parameters
    ----------
    mean_clusters : float
    n_classes : int

    Returns
    -------
    error : float
    """
    return abs(mean_clusters - n_classes) / n_classes


def average_cluster_error(errors: Iterable[float | None]) -> tuple[float, float]:
    """Mean and population standard deviation of the cluster error over data sets.

    Parameters
    ----------
    errors : iterable of float or None
        None or NaN for a data set without a result, which is left out.

    Returns
    -------
    mean, deviation : float
        NaN if there are no results.
    """
    known = np.array([error for error in errors if error is not None and not np.isnan(error)])
    return (float(known.mean()), float(known.std())) if len(known) else (np.nan, np.nan)
