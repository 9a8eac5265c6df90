"""The nodes that hand-over clusters are read out from, and their links."""

from typing import NamedTuple

import numpy as np

from ...jit.arrays import copied_matrix, counted_up, filled, highest_index, taken
from ...jit.compile import Direct, jit, jit_allocating, kernel
from ...jit.sorting import in_order
from ..handovers import births_of, pairs_among
from ..layout import NO_CLUSTER, NONE
from ..metric import distance
from ..state import State, scalar
from .ends import fewest_of_cluster, links_within

FEWEST_LINKED = 3
LARGEST_TOTAL = 2**31  # of hand-overs, both directions: its square fits 64 bits


class Base(NamedTuple):
    """B: nodes used more than once, or all nodes when there is none."""

    nodes: np.ndarray
    births: np.ndarray
    wins: np.ndarray
    before: np.ndarray  # cluster at the last answer, from 0 on, or NO_CLUSTER
    position: np.ndarray
    links: np.ndarray  # (i, j, count) of the pairs with hand-overs, as far as clusters reach


def base_of(state: State) -> Base:
    """The base of a state."""
    nodes = state.node, scalar(state, "n_nodes"), state.prototype, state.handover
    return _gather.run(*nodes, state.weight, scalar(state, "cluster_end"), fewest_of_cluster(state))


def base_nodes(state: State) -> np.ndarray:
    """The nodes of the base."""
    return base_of(state).nodes


@kernel
def gather(node, n_nodes, prototype, handover, weight, end, fewest):
    """What the nodes of the base are, and their links."""
    nodes = used_nodes(node, n_nodes)
    n = nodes.shape[0]
    births, wins, ids = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for k in range(n):
        row = node[nodes[k]]
        births[k], wins[k], ids[k] = row.birth, row.wins, row.community
    links, position = links_among(handover, births), in_order(prototype, nodes)
    if end > 0.0:
        links = links_within(links, position, weight, wins, end, fewest)
    return Base(nodes, births, wins, numbered_ids(ids), position, links)


_gather = Direct(gather)


@jit_allocating
def used_nodes(node, n_nodes):
    """Nodes used more than once, or all nodes when there is none."""
    nodes, n = np.empty(n_nodes, np.int64), 0
    for k in range(n_nodes):
        if node[k].usage > 1:
            nodes[n] = k
            n += 1
    return nodes[:n] if n else counted_up(n_nodes)


def named_by_lowest(base: np.ndarray, label: np.ndarray, n_nodes: int) -> np.ndarray:
    """Community of every node, named by its lowest node. Nodes outside the base are alone."""
    group = np.arange(n_nodes)
    group[base] = base[np.unique(label, return_index=True)[1][label]]
    return group


def links_of(state: State, base: np.ndarray) -> np.ndarray:
    """(i, j, count) of the pairs of these nodes with hand-overs."""
    return find_links(state.handover, births_of(state)[base])


@kernel
def find_links(table, births):
    """(i, j, count) of the pairs among nodes of these births."""
    return links_among(table, births)


@jit_allocating
def links_among(table, births):
    """The same, with counts halved until products of their sums fit 64 bits: after two thousand million
    samples only."""
    links = pairs_among(table, births)
    while 2 * total_count(links) > LARGEST_TOTAL:
        for e in range(links.shape[0]):
            links[e, 2] = (links[e, 2] + 1) // 2
    return links


@jit
def total_count(links):
    """Hand-overs of all links."""
    total = 0
    for e in range(links.shape[0]):
        total += links[e, 2]
    return total


@kernel
def compact(ids):
    """Ids as numbers from 0 on; NO_CLUSTER stays."""
    return numbered_ids(ids)


@jit_allocating
def numbered_ids(ids):
    """The same, in the order in which they come."""
    number, known, n_known = filled(ids.shape[0], NO_CLUSTER), np.empty_like(ids), 0
    for k in range(ids.shape[0]):
        if ids[k] != NO_CLUSTER:
            c = 0
            while c < n_known and known[c] != ids[k]:
                c += 1
            if c == n_known:
                known[c] = ids[k]
                n_known += 1
            number[k] = c
    return number


@jit_allocating
def by_first_node(group):
    """The same groups, numbered in the order of their first nodes."""
    rank, n = filled(highest_index(group) + 1, NONE), 0
    for k in range(group.shape[0]):
        if rank[group[k]] == NONE:
            rank[group[k]] = n
            n += 1
    return taken(rank, group)


@jit_allocating
def label_others(is_labelled, prototype, weight, label):  # INOUT label
    """Nodes without a label go with the nearest node that has one, the lowest on ties."""
    for k in range(label.shape[0]):
        if not is_labelled[k]:
            nearest = np.inf
            for other in range(label.shape[0]):
                if is_labelled[other]:
                    away = distance(prototype[k], prototype[other], weight)
                    if away < nearest:
                        nearest, label[k] = away, label[other]


@jit_allocating
def numbered(links, number):
    """The links of nodes with other numbers."""
    other = copied_matrix(links)
    for e in range(links.shape[0]):
        other[e, 0], other[e, 1] = number[links[e, 0]], number[links[e, 1]]
    return other
