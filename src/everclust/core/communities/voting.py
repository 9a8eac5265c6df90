"""Samples to hand-over clusters: the nearest nodes vote, the nearer ones with more weight.

There are far fewer nodes than samples. If every sample went with its nearest node alone, the border between
two clusters would follow the cells of single nodes. Here 1 + log₂ K of K nodes are asked. Their votes weigh
h·(1/d − 1/R). The second factor is Franke and Little's inverse distance: R is the distance of the farthest
one asked, who has no say, so that what all have in common does not count. h is the share of a node's
hand-overs that stay in its cluster: who is between two clusters speaks for neither.
"""

import math

import numpy as np

from ...jit.blocks import LANES, least
from ...jit.compile import jit, kernel
from ..readout import ReadOut, measure_block


def n_asked(n_nodes: int) -> int:
    """How many of so many nodes are asked about a sample."""
    return min(n_nodes, 1 + math.ceil(math.log2(n_nodes)))


@kernel
def voices(links, cluster):
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


def elected(read_out: ReadOut, cluster: np.ndarray, voice: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Cluster of every row, given those of the candidates and how much each of them has to say."""
    label = np.empty(len(X), np.int64)
    elect(read_out, cluster, voice, n_asked(len(cluster)), X, label)
    return label


@kernel
def elect(read_out, cluster, voice, n_voters, X, label):  # INOUT label
    """Let the nearest candidates vote on every row."""
    voter, squared, lanes = np.zeros(n_voters, np.int64), np.empty(n_voters), np.empty(LANES)
    for i in range(X.shape[0]):
        find_nearest(read_out, X[i], lanes, voter, squared)
        label[i] = cluster[voter[0]]
        if squared[0] > 0.0 and are_divided(cluster, voter):  # who is met is followed
            weigh(voice, voter, squared)
            label[i] = count(cluster, voter, squared)


@jit
def find_nearest(read_out, x, lanes, nearest, squared):  # INOUT lanes, nearest, squared
    """The nearest candidates and their squared distances, in order; ties to the lowest."""
    for k in range(squared.shape[0]):
        squared[k] = np.inf
    for b in range(read_out.blocks.shape[0]):
        measure_block(read_out, x, b, lanes)
        if least(lanes) < squared[-1]:
            for lane in range(LANES):
                if lanes[lane] < squared[-1]:
                    insert(nearest, squared, b * LANES + lane, lanes[lane])


@jit
def insert(nearest, squared, candidate, here):  # INOUT nearest, squared
    """Put a candidate in its place; the farthest one goes."""
    k = squared.shape[0] - 1
    while k > 0 and here < squared[k - 1]:
        nearest[k], squared[k] = nearest[k - 1], squared[k - 1]
        k -= 1
    nearest[k], squared[k] = candidate, here


@jit
def are_divided(cluster, voter):
    """Are they of more than one cluster?"""
    n_others = 0
    for k in range(1, voter.shape[0]):
        n_others += cluster[voter[k]] != cluster[voter[0]]
    return n_others > 0


@jit
def weigh(voice, voter, squared):  # INOUT squared
    """From squared distances to weights: R·h·(1/d − 1/R)."""
    reach = math.sqrt(squared[-1])
    for k in range(voter.shape[0]):
        squared[k] = voice[voter[k]] * (reach / math.sqrt(squared[k]) - 1.0)


@jit
def count(cluster, voter, weight):
    """The cluster with the most weight; ties to the nearer one."""
    best, most = cluster[voter[0]], 0.0
    for a in range(voter.shape[0]):
        here, votes = cluster[voter[a]], 0.0
        for b in range(voter.shape[0]):
            if cluster[voter[b]] == here:
                votes += weight[b]
        if votes > most:
            best, most = here, votes
    return best
