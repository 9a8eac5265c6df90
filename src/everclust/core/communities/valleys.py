"""Hand-over clusters by density valleys: the read-out of `clusters="handover"`.

Louvain gives the finest groups, a path of mergers coarser ones (path.py), and the silhouette and the last
answer choose the level (answer.py). Boundaries are compared with what would cross them in one homogeneous
cloud (boundaries.py): groups are split again where that shows a clear valley, and open boundaries are merged
first. A level that no valley divides is one cloud cut in pieces (undivided.py). What Louvain finds depends on
the numbering of nodes, which is arbitrary, so several numberings are tried, as far as they give other groups.
"""

import math
from typing import NamedTuple

import numpy as np

from ...jit.arrays import (
    counted_up,
    filled,
    taken,
)
from ...jit.compile import jit_allocating, kernel
from ...jit.sorting import in_order
from ..state import State, scalar
from .answer import choose_answer
from .boundaries import measure_boundaries
from .ends import label_alone
from .finest_groups import finest
from .levels import joined_levels, new_levels, share_known
from .linked_nodes import FEWEST_LINKED, by_first_node, compact, label_others, numbered
from .louvain import louvain, new_graph, renumbered
from .path import merge_down
from .previous import with_previous

MOST_NUMBERINGS = 3
MOST_NODES = 1000  # in all numberings together: a read-out takes no longer than one of so many nodes
GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def golden_orders(n: int) -> np.ndarray:
    """Nodes sorted by the fractional parts of i·k·φ, one k a row."""
    multiples = GOLDEN * np.arange(1, MOST_NUMBERINGS)[:, None]
    return np.argsort(np.arange(n) * multiples % 1.0, axis=1)


ORDERS = golden_orders(MOST_NODES // 2)  # fewer nodes are in the same order


def base_labels(state: State, base: np.ndarray, links: np.ndarray) -> np.ndarray:
    """Cluster of every node in the base, numbered in the order of their lowest nodes."""
    before, known = compact(state.node["community"][base]), share_known(scalar(state, "n_seen"))
    wins = state.node["wins"][base]
    return find_clusters(state.prototype[base], state.weight, links, before, known, wins, np.inf)


class Nodes(NamedTuple):
    """Nodes and their links."""

    position: np.ndarray  # prototypes, or prototypes times √ω
    links: np.ndarray  # (i, j, count)
    g: np.ndarray  # hand-overs of every node
    before: np.ndarray  # cluster at the last update of ids, or NO_CLUSTER


@kernel
def find_clusters(prototype, weight, links, before, known, wins, fewest):
    """Cluster of every node, given (i, j, count) of the pairs with hand-overs.

    `before`: their clusters at the last update of ids, or NO_CLUSTER; `known`: the share of the samples
    that had come by then; `fewest`: samples that make a node without hand-overs a cluster.
    """
    n = prototype.shape[0]
    g = strengths(links, n)
    linked, label = positive(g), np.zeros(n, np.int64)
    if linked.shape[0] >= FEWEST_LINKED:
        of_linked = cluster_linked(Nodes(prototype, links, g, before), linked, weight, known)
        for k in range(linked.shape[0]):
            label[linked[k]] = of_linked[k]
    label_others(label_alone(g, wins, fewest, label), prototype, weight, label)
    return label


@jit_allocating
def strengths(links, n):
    """g: hand-overs of every node."""
    g = np.zeros(n)
    for e in range(links.shape[0]):
        g[links[e, 0]] += links[e, 2]
        g[links[e, 1]] += links[e, 2]
    return g


@jit_allocating
def positive(values):
    """Indices of the numbers above 0."""
    index, n = np.empty(values.shape[0], np.int64), 0
    for k in range(values.shape[0]):
        if values[k] > 0:
            index[n] = k
            n += 1
    return index[:n]


@jit_allocating
def numbering(n, turn):
    """Number of every node: as they are, or mixed by multiples of the golden ratio."""
    number = counted_up(n)
    rank = 0
    for m in range(ORDERS.shape[1] if turn > 0 else 0):
        k = ORDERS[turn - 1, m]
        if k < n:
            number[k] = rank
            rank += 1
    return number


@jit_allocating
def cluster_linked(base, linked, weight, known):
    """Cluster of every linked node, numbered in the order of their first nodes."""
    nodes = only(base, linked, weight)
    position, links, g = nodes.position, nodes.links, nodes.g
    n = position.shape[0]
    levels = new_levels(0, n)
    n_numberings = max(1, min(MOST_NUMBERINGS, MOST_NODES // n))
    graph, tried = new_graph(links, n), np.empty((n_numberings, n), np.int64)
    for turn in range(n_numberings):
        by_modularity = modular_groups(graph, numbering(n, turn))
        if is_repeated(tried, turn, by_modularity):
            continue
        group, n_groups = finest(position, links, by_modularity)
        if n_groups > 1:
            cut = measure_boundaries(position, links, g, group, n_groups)
            others = merge_down(nodes, cut, group)
            levels = joined_levels(levels, others) if levels.score.shape[0] > 0 else others
    if levels.score.shape[0] == 0:
        return filled(n, 0)
    all_levels = with_previous(nodes, levels)
    return by_first_node(choose_answer(nodes, all_levels, known, levels.score.shape[0]))


@jit_allocating
def only(base, linked, weight):
    """The linked nodes, numbered from 0, in coordinates times √ω."""
    index = np.empty(base.g.shape[0], np.int64)
    for k in range(linked.shape[0]):
        index[linked[k]] = k
    position = in_order(base.position, linked)
    root = np.sqrt(weight)
    for k in range(linked.shape[0]):
        for j in range(root.shape[0]):
            position[k, j] *= root[j]
    return Nodes(position, numbered(base.links, index), taken(base.g, linked), taken(base.before, linked))


@jit_allocating
def modular_groups(graph, number):
    """Louvain's group of every node, with other numbers of the nodes."""
    return taken(louvain(renumbered(graph, number)), number)


@jit_allocating
def is_repeated(tried, turn, group):  # INOUT tried
    """Whether one of the groupings tried so far has the same groups; they are noted in row `turn`."""
    named = by_first_node(group)
    for k in range(named.shape[0]):
        tried[turn, k] = named[k]
    n_equal = 0
    for other in range(turn):
        n_others = 0
        for k in range(named.shape[0]):
            n_others += tried[other, k] != named[k]
        n_equal += n_others == 0
    return n_equal > 0
