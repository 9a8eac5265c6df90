"""Torque clustering, first part: every cluster joins its nearest one if that is no lighter, layer by layer.

Distances between clusters are the shortest between their members, so the connections form a minimum spanning
tree. As clusters only ever grow, what is nearest to a sample outside its own cluster only ever gets farther:
an old answer is a lower bound, and most samples need not be looked at again.
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
        ("mass_a", np.int64),  # samples in the clusters that they were in
        ("mass_b", np.int64),
        ("distance", np.float64),
        ("torque", np.float64),
        ("layer", np.int64),  # from 1
    ]
)


class Nearest(NamedTuple):
    """For each sample the nearest one of another cluster, as it was when last looked for."""

    distance: np.ndarray
    other: np.ndarray
    tied: np.ndarray  # were there several at that distance?


#: Look for the nearest of other clusters: samples, cluster of every sample, what to write the answer into.
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
    """Steps 1 to 5: merge until one cluster is left, and remember every connection.

    Parameters
    ----------
    search : Search
    weight : ndarray of shape (n_samples,)
        How many equal samples each one stands for. In the first layer they would connect to each other,
        and not to others; what connects to one of them meets a mass of 1.

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
    """Step 2: of each cluster, the sample nearest to another cluster; ties go to the lowest such cluster."""
    stale = label[nearest.other] == label  # what was nearest has joined: the distance is a lower bound
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
    """Index of the least element of every label by the keys in turn; of equal ones, the lowest index."""
    order = np.lexsort((*keys[::-1], label))
    return order[np.flatnonzero(np.diff(label[order], prepend=-1))]


def _single(joins: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """Step 3: which clusters connect to their nearest one, unless that lower one connects to them already."""
    cluster = np.arange(len(goal))
    returned = joins[goal] & (goal[goal] == cluster) & (goal < cluster)
    return np.flatnonzero(joins & ~returned)


def _record(
    source: np.ndarray, goal: np.ndarray, sample: np.ndarray, nearest: Nearest, mass: np.ndarray
) -> np.ndarray:
    """The connections of one layer, the lower of the two clusters first, in the order of these."""
    from_low = source < goal
    low, high = np.where(from_low, source, goal), np.where(from_low, goal, source)
    near, far = sample[source], nearest.other[sample[source]]
    found = np.zeros(len(source), CONNECTION)
    found["a"], found["b"] = np.where(from_low, near, far), np.where(from_low, far, near)
    found["mass_a"], found["mass_b"] = mass[low], mass[high]
    found["distance"] = nearest.distance[near]
    return found[np.lexsort((high, low))]


def components(a: np.ndarray, b: np.ndarray, n: int) -> np.ndarray:
    """Connected component of every node, numbered in the order of their lowest nodes."""
    graph = coo_array((np.ones(len(a), np.int8), (a, b)), shape=(n, n))
    component = connected_components(graph, directed=False)[1]
    return number_clusters(component, component[:0])
