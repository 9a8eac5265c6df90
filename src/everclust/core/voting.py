"""Samples to hand-over clusters: the nearest nodes vote, the nearer ones with more weight.

There are far fewer nodes than samples. If every sample went with its nearest node alone, the border between
two clusters would follow the cells of single nodes. Here 1 + log₂ K of K nodes are asked. Their votes weigh
h·(1/d − 1/R). The second factor is Franke and Little's inverse distance: R is the distance of the farthest
one asked, who has no say, so that what all have in common does not count. h is the share of a node's
hand-overs that stay in its cluster: who is between two clusters speaks for neither.
"""

import math

import numpy as np

from .clusters import ReadOut
from .jit import jit, jit_allocating, kernel
from .lanes import LANES, least, squared_distances
from .metric import weighted_squared_distances


def n_asked(n_nodes: int) -> int:
    """How many of so many nodes are asked about a sample."""
    return min(n_nodes, 1 + math.ceil(math.log2(n_nodes)))


def voices(links: np.ndarray, cluster: np.ndarray) -> np.ndarray:
    """h of every node, given (i, j, count) of the pairs with hand-overs; 1 for nodes without any."""
    n, (first, second, count) = len(cluster), links.T
    ends, counts = np.concatenate([first, second]), np.concatenate([count, count])
    stays = np.tile(cluster[first] == cluster[second], 2)
    total, inside = np.bincount(ends, counts, n), np.bincount(ends, counts * stays, n)
    return np.divide(inside, total, out=np.ones(n), where=total > 0)


def elected(read_out: ReadOut, cluster: np.ndarray, voice: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Cluster of every row, given those of the candidates and how much each of them has to say."""
    label = np.empty(len(X), np.int64)
    elect(read_out, cluster, voice, n_asked(len(cluster)), X, label)
    return label


@kernel
def elect(read_out, cluster, voice, n_voters, X, label):  # INOUT label
    """Let the nearest candidates vote on every row."""
    voter, away = np.zeros(n_voters, np.int64), np.empty(n_voters)
    for i in range(X.shape[0]):
        find_nearest(read_out, X[i], voter, away)
        label[i] = vote(cluster, voice, voter, away)


@jit_allocating
def find_nearest(read_out, x, nearest, away):  # INOUT nearest, away
    """The nearest candidates and their distances, in order; ties to the lowest."""
    squared = np.empty(LANES)
    away[:] = np.inf
    for b in range(read_out.blocks.shape[0]):
        if read_out.weight.shape[0] == 0:
            squared_distances(x, read_out.blocks[b], squared)
        else:
            weighted_squared_distances(x, read_out.blocks[b], read_out.weight, squared)
        if least(squared) < away[-1]:
            for lane in range(LANES):
                insert(nearest, away, b * LANES + lane, squared[lane])
    for k in range(away.shape[0]):
        away[k] = math.sqrt(away[k])


@jit
def insert(nearest, away, candidate, squared):  # INOUT nearest, away
    """Put a candidate in its place, if it is near enough."""
    k = away.shape[0] - 1
    if not squared < away[k]:
        return
    while k > 0 and squared < away[k - 1]:
        nearest[k], away[k] = nearest[k - 1], away[k - 1]
        k -= 1
    nearest[k], away[k] = candidate, squared


@jit
def vote(cluster, voice, voter, away):
    """The cluster with the most weight; ties to the nearer one. Who is met exactly is followed."""
    best, most = cluster[voter[0]], 0.0
    if away[0] == 0.0:
        return best
    for a in range(voter.shape[0]):
        here, weight = cluster[voter[a]], 0.0
        for b in range(voter.shape[0]):
            if cluster[voter[b]] == here:
                weight += voice[voter[b]] * (away[-1] / away[b] - 1.0)
        if weight > most:
            best, most = here, weight
    return best
