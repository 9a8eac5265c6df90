"""The nodes that hand-over clusters are read out from, and their links."""

import numpy as np

from ...jit.compile import jit, jit_allocating
from ..handovers import births_of, find_pairs
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
def label_linked(group, linked, label):  # INOUT label
    """Number the groups in the order of their first nodes."""
    number = np.full(group.max() + 1, -1)
    n = 0
    for k in linked:
        if number[group[k]] < 0:
            number[group[k]] = n
            n += 1
        label[k] = number[group[k]]


@jit
def label_others(strength, prototype, weight, linked, label):  # INOUT label
    """Nodes without hand-overs go with the nearest node that has some, the lowest on ties."""
    for k in range(label.shape[0]):
        if strength[k] == 0:
            nearest = np.inf
            for i in linked:
                away = distance(prototype[k], prototype[i], weight)
                if away < nearest:
                    nearest = away
                    label[k] = label[i]
