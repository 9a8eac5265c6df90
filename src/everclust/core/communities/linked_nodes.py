"""The nodes that hand-over clusters are read out from, and their links."""

import numpy as np

from ...jit.arrays import filled, highest_index, taken
from ...jit.compile import jit_allocating, kernel
from ..handovers import births_of, find_pairs
from ..layout import NONE
from ..metric import distance
from ..state import State, scalar

FEWEST_LINKED = 3
LARGEST_TOTAL = 2**31  # of hand-overs, both directions: its square fits 64 bits


def base_nodes(state: State) -> np.ndarray:
    """B: nodes used more than once, or all nodes when there is none."""
    usage = state.node["usage"][: scalar(state, "n_nodes")]
    return np.flatnonzero(usage > 1) if (usage > 1).any() else np.arange(len(usage))


def named_by_lowest(base: np.ndarray, label: np.ndarray, n_nodes: int) -> np.ndarray:
    """Community of every node, named by its lowest node. Nodes outside the base are alone."""
    group = np.arange(n_nodes)
    group[base] = base[np.unique(label, return_index=True)[1][label]]
    return group


def links_of(state: State, base: np.ndarray) -> np.ndarray:
    """(i, j, count) of the pairs of base nodes with hand-overs."""
    links = find_pairs(state.handover, births_of(state)[base])
    links[:, 2] = _bounded(links[:, 2])
    return links


def _bounded(count: np.ndarray) -> np.ndarray:
    """Counts halved until products of their sums fit 64 bits; after two thousand million samples only."""
    while 2 * count.sum() > LARGEST_TOTAL:
        count = (count + 1) // 2
    return count


@jit_allocating
def by_first_node(group):
    """The same groups, numbered in the order of their first nodes."""
    rank, n = filled(highest_index(group) + 1, NONE), 0
    for k in range(group.shape[0]):
        if rank[group[k]] == NONE:
            rank[group[k]] = n
            n += 1
    return taken(rank, group)


def label_others(
    strength: np.ndarray, prototype: np.ndarray, weight: np.ndarray, linked: np.ndarray, label: np.ndarray
) -> None:  # INOUT label
    """Nodes without hand-overs go with the nearest node that has some, the lowest on ties."""
    others = np.flatnonzero(strength == 0)
    if len(others):
        label[others] = label[linked[nearest_rows(prototype[others], prototype[linked], weight)]]


@kernel
def nearest_rows(X, points, weight):
    """Index of the nearest point of every row, the lowest on ties."""
    index = np.empty(X.shape[0], np.int64)
    for i in range(X.shape[0]):
        nearest = np.inf
        for k in range(points.shape[0]):
            away = distance(X[i], points[k], weight)
            if away < nearest:
                nearest, index[i] = away, k
    return index
