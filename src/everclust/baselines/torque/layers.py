"""Torque clustering, first part: layer by layer, each cluster joins its nearest one if that is no lighter.

The distance of two clusters is the shortest between their members, so the connections form a minimum spanning
tree. Clusters only grow, so the distance from a sample to the nearest sample of another cluster never falls:
an old result is a lower bound, and most samples need no new search.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ...core.readout import number_clusters
from ...jit.compile import kernel

CONNECTION = np.dtype(
    [
        ("a", np.int64),  # the two samples
        ("b", np.int64),
        ("mass_a", np.int64),  # number of samples in their clusters
        ("mass_b", np.int64),
        ("distance", np.float64),
        ("torque", np.float64),
        ("layer", np.int64),  # from 1
    ]
)


class Nearest(NamedTuple):
    """The nearest sample of another cluster for each sample, at the time of the last search."""

    distance: np.ndarray
    other: np.ndarray
    tied: np.ndarray  # True if several were at that distance


#: Find the nearest samples of other clusters: samples, cluster of each sample, where to write the result.
Search = Callable[[np.ndarray, np.ndarray, Nearest], None]


@kernel
def find_nearest(matrix, place, samples, label, nearest):  # INOUT nearest
    """Rows `place` of the matrix hold distances of `samples`; ties go to the lowest cluster, then sample."""
    for s in range(samples.shape[0]):
        i, row = samples[s], matrix[place[s]]
        best, other, tied = np.inf, i, False
        for j in range(label.shape[0]):
            if row[j] <= best and label[j] != label[i]:
                tied = row[j] == best
                if not tied or label[j] < label[other]:
                    other = j
                best = row[j]
        nearest.distance[i], nearest.other[i], nearest.tied[i] = best, other, tied


def connect(search: Search, weight: np.ndarray) -> np.ndarray:
    """Steps 1 to 5: merge until one cluster is left, and record every connection.

    Parameters
    ----------
    search : Search
    weight : ndarray of shape (n_samples,)
        Number of duplicates that each sample stands for. In the first layer, duplicates would connect to each
        other only; a sample that connects to one of them meets a mass of 1.

    Returns
    -------
    connections : ndarray of shape (n_samples - 1,)
        In order of creation; torques are not set.
    """
    label, mass = np.arange(len(weight)), weight
    nearest = Nearest(np.zeros(len(weight)), label.copy(), np.zeros(len(weight), bool))
    layers = [np.empty(0, CONNECTION)]
    while len(mass) > 1:
        sample = _nearest_members(search, label, nearest)
        goal = label[nearest.other[sample]]  # N(i)
        if len(layers) == 1:
            joins, mass_then = weight == 1, np.ones_like(mass)
        else:
            joins, mass_then = mass <= mass[goal], mass
        source = _single(joins, goal)
        layers.append(_record(source, goal[source], sample, nearest, mass_then))
        layers[-1]["layer"] = len(layers) - 1
        merged = components(source, goal[source], len(mass))
        label, mass = merged[label], np.bincount(merged, mass).astype(np.int64)
    return np.concatenate(layers)


def _nearest_members(search: Search, label: np.ndarray, nearest: Nearest) -> np.ndarray:
    """Step 2: the sample of each cluster nearest to another cluster; ties go to the lowest other cluster."""
    stale = label[nearest.other] == label  # merged with its nearest: the distance is a lower bound
    first = _first_of_each(label, nearest.distance)
    fresh = first[stale[first]]
    search(fresh, label, nearest)
    stale[fresh] = False
    reach = np.full(len(first), np.inf)
    np.minimum.at(reach, label[~stale], nearest.distance[~stale])
    due = (stale | nearest.tied) & (nearest.distance <= reach[label])
    due[fresh] = False
    search(np.flatnonzero(due), label, nearest)
    known = np.flatnonzero(~stale | due)
    return known[_first_of_each(label[known], nearest.distance[known], label[nearest.other[known]])]


def _first_of_each(label: np.ndarray, *keys: np.ndarray) -> np.ndarray:
    """Index of the first element of each label in the order of the keys; ties go to the lowest index."""
    order = np.lexsort((*keys[::-1], label))
    return order[np.flatnonzero(np.diff(label[order], prepend=-1))]


def _single(joins: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """Step 3: the clusters that connect to their nearest one, unless that connects to them already."""
    cluster = np.arange(len(goal))
    returned = joins[goal] & (goal[goal] == cluster) & (goal < cluster)
    return np.flatnonzero(joins & ~returned)


def _record(
    source: np.ndarray, goal: np.ndarray, sample: np.ndarray, nearest: Nearest, mass: np.ndarray
) -> np.ndarray:
    """The connections of one layer, lower cluster first, sorted by cluster."""
    from_low = source < goal
    low, high = np.where(from_low, source, goal), np.where(from_low, goal, source)
    near, far = sample[source], nearest.other[sample[source]]
    found = np.zeros(len(source), CONNECTION)
    found["a"], found["b"] = np.where(from_low, near, far), np.where(from_low, far, near)
    found["mass_a"], found["mass_b"] = mass[low], mass[high]
    found["distance"] = nearest.distance[near]
    return found[np.lexsort((high, low))]


def components(a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    """Connected component of each node, numbered by lowest node."""
    graph = coo_array((np.ones(len(a), np.int8), (a, b)), shape=(n, n))
    component = connected_components(graph, directed=False)[1]
    return number_clusters(component, component[:0])
