"""Distances for torque clustering: from a stored matrix, or computed on demand."""

import numpy as np

from ..distances import chunks, distances, points
from .layers import CONNECTION, Nearest, Search, connect, find_nearest


def connect_by_matrix(matrix: np.ndarray) -> np.ndarray:
    """All connections, from a matrix of distances."""

    def search(samples: np.ndarray, label: np.ndarray, nearest: Nearest) -> None:
        find_nearest(matrix, samples, samples, label, nearest)

    return connect(search, np.ones(len(matrix), np.int64))


def distance_matrix(X: np.ndarray) -> np.ndarray:
    """Matrix of all n² distances."""
    to, matrix = points(X), np.empty((len(X), len(X)))
    for part in chunks(len(X), len(X)):
        distances(X[part], to, matrix[part])
    return matrix


def connect_by_rows(X: np.ndarray) -> np.ndarray:
    """All connections between the rows of X, with memory for a few numbers per row; duplicates count as one.

    Duplicate rows connect first: to the lowest of them, which connects to the next. These connections have
    torque 0 and are in the first layer, so they affect nothing that follows.
    """
    first, group = distinct(X)
    found = connect(_computing(X[first]), np.bincount(group))
    a, b = found["a"], found["b"]
    found["a"], found["b"] = first[a], first[b]
    return _in_order_of_creation(np.concatenate([_between_equals(first, group), found]))


def distinct(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First row of each group of equal rows, in ascending order, and the group of each row."""
    _, first, group = np.unique(X + 0.0, axis=0, return_index=True, return_inverse=True)  # -0.0 is 0.0
    order = np.argsort(first)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return first[order], rank[group.reshape(-1)]


def _computing(X: np.ndarray) -> Search:
    to = points(X)

    def search(samples: np.ndarray, label: np.ndarray, nearest: Nearest) -> None:
        for part in chunks(len(samples), to.size):
            here = distances(X[samples[part]], to)
            find_nearest(here, np.arange(len(here)), samples[part], label, nearest)

    return search


def _between_equals(first: np.ndarray, group: np.ndarray) -> np.ndarray:
    repeated = np.setdiff1d(np.arange(len(group)), first)
    found = np.zeros(len(repeated), CONNECTION)
    found["a"], found["b"] = first[group[repeated]], repeated
    found["mass_a"] = found["mass_b"] = found["layer"] = 1
    return found


def _in_order_of_creation(found: np.ndarray) -> np.ndarray:
    """Sort by layer; within the first layer, in which samples are clusters, by lower and higher sample."""
    is_first = found["layer"] == 1
    return found[np.lexsort((found["b"] * is_first, found["a"] * is_first, found["layer"]))]
