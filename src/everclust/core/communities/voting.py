"""Samples to hand-over clusters: a weighted k-NN vote of the nodes.

There are far fewer nodes than samples. If every sample went with its nearest node alone, the border between
two clusters would follow the cells of single nodes. Here the k = 1 + log₂ K nearest of K nodes vote with
weights h·(1/d − 1/R). The second factor is Franke and Little's inverse distance: R is the distance to the
farthest of the k neighbours, whose weight is therefore 0. h, the share of a node's hand-overs that stay in
its cluster, down-weights nodes whose hand-overs cross clusters.
"""

import math
from typing import NamedTuple

import numpy as np

from ...jit.blocks import LANES, least
from ...jit.compile import jit, jit_allocating, kernel
from ..readout import ReadOut, measure_block


def n_neighbours(n_nodes: int) -> int:
    """k, the number of nodes that vote on a sample."""
    return min(n_nodes, 1 + math.ceil(math.log2(n_nodes)))


@kernel
def vote_weights(links, cluster):
    """h of every node, given (i, j, count) of the pairs with hand-overs; 1 for nodes without any."""
    total, inside = np.zeros(cluster.shape[0]), np.zeros(cluster.shape[0])
    for e in range(links.shape[0]):
        i, j, count = links[e, 0], links[e, 1], links[e, 2]
        stays = count if cluster[i] == cluster[j] else 0
        for k in (i, j):
            total[k] += count
            inside[k] += stays
    for k in range(cluster.shape[0]):
        inside[k] = inside[k] / total[k] if total[k] > 0.0 else 1.0
    return inside


class Voters(NamedTuple):
    """What the candidates vote for, and with which weight."""

    cluster: np.ndarray
    weight: np.ndarray  # h


class Neighbours(NamedTuple):
    """Working memory: the nearest candidates."""

    node: np.ndarray
    squared: np.ndarray  # distance
    lanes: np.ndarray  # squared distances to one block


def predict_by_vote(
    read_out: ReadOut, cluster: np.ndarray, node_weight: np.ndarray, X: np.ndarray
) -> np.ndarray:
    """Cluster of every row, given those of the candidates and their weights h."""
    label = np.empty(len(X), np.int64)
    vote(read_out, Voters(cluster, node_weight), n_neighbours(len(cluster)), X, label)
    return label


@kernel
def vote(read_out, voters, k, X, label):  # INOUT label
    """The nearest candidates vote on every row."""
    neighbours = new_neighbours(k)
    for i in range(X.shape[0]):
        find_nearest(read_out, X[i], neighbours)
        label[i] = choose(voters, neighbours)


@jit_allocating
def new_neighbours(k):
    """Room for k of them."""
    return Neighbours(np.zeros(k, np.int64), np.empty(k), np.empty(LANES))


@jit
def choose(voters, neighbours):  # INOUT neighbours
    """The cluster that the nearest candidates vote for."""
    cluster, node, squared = voters.cluster, neighbours.node, neighbours.squared
    if squared[0] > 0.0 and are_divided(cluster, node):  # a sample at a node goes with it
        weigh_votes(voters.weight, node, squared)
        return heaviest(cluster, node, squared)
    return cluster[node[0]]


@jit
def find_nearest(read_out, x, neighbours):  # INOUT neighbours
    """The nearest candidates and their squared distances, in order; ties to the lowest."""
    nearest, squared, lanes = neighbours.node, neighbours.squared, neighbours.lanes
    for k in range(squared.shape[0]):
        squared[k] = np.inf
    for b in range(read_out.blocks.shape[0]):
        measure_block(read_out, x, b, lanes)
        if least(lanes) < squared[-1]:
            for lane in range(LANES):
                if lanes[lane] < squared[-1]:
                    insert_neighbour(nearest, squared, b * LANES + lane, lanes[lane])


@jit
def insert_neighbour(nearest, squared, candidate, here):  # INOUT nearest, squared
    """Insert a candidate in order of distance; the farthest one drops out."""
    k = squared.shape[0] - 1
    while k > 0 and here < squared[k - 1]:
        nearest[k], squared[k] = nearest[k - 1], squared[k - 1]
        k -= 1
    nearest[k], squared[k] = candidate, here


@jit
def are_divided(cluster, neighbour):
    """Whether the neighbours are of more than one cluster."""
    n_others = 0
    for k in range(1, neighbour.shape[0]):
        n_others += cluster[neighbour[k]] != cluster[neighbour[0]]
    return n_others > 0


@jit
def weigh_votes(node_weight, neighbour, squared):  # INOUT squared
    """From squared distances to weights: R·h·(1/d − 1/R)."""
    reach = math.sqrt(squared[-1])
    for k in range(neighbour.shape[0]):
        squared[k] = node_weight[neighbour[k]] * (reach / math.sqrt(squared[k]) - 1.0)


@jit
def heaviest(cluster, neighbour, weight):
    """The cluster with the most weight; ties to the nearer one."""
    best, most = cluster[neighbour[0]], 0.0
    for a in range(neighbour.shape[0]):
        here, votes = cluster[neighbour[a]], 0.0
        for b in range(neighbour.shape[0]):
            if cluster[neighbour[b]] == here:
                votes += weight[b]
        if votes > most:
            best, most = here, votes
    return best
