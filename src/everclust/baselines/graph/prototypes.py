"""Positions of nodes in blocks of 64, for compiled loops, and the search for the nearest.

`blocks[b, j, l]` is feature j of node b·64 + l, infinite where there is no node. Distances are squared and
added up in feature order, without fused multiply-add: the distance is symmetric to the bit, so a repeated
sample meets thresholds that were computed from it exactly.
"""

import numpy as np

from ...core.layout import NONE
from ...core.nearest import insert
from ...jit.blocks import LANES, least, n_blocks, plain_squared_distances
from ...jit.compile import jit, kernel

squared_distances = jit(plain_squared_distances)  # INOUT out


def new_blocks(n_features: int, nodes: int) -> np.ndarray:
    """Empty blocks for this many nodes."""
    return np.full((n_blocks(nodes), n_features, LANES), np.inf)


def grow(blocks: np.ndarray) -> np.ndarray:
    """Copy the blocks, doubling their number."""
    return np.concatenate([blocks, np.full_like(blocks, np.inf)])


def positions(blocks: np.ndarray, n_nodes: int) -> np.ndarray:
    """Positions of the nodes, one row per node."""
    return blocks.swapaxes(1, 2).reshape(-1, blocks.shape[1])[:n_nodes].copy()


@jit
def put(blocks, k, x):  # INOUT blocks
    """Set the position of node k to x."""
    column = blocks[k // LANES, :, k % LANES]
    for j in range(x.shape[0]):
        column[j] = x[j]


@jit
def take(blocks, k, out):  # INOUT out
    """Copy the position of node k to `out`."""
    column = blocks[k // LANES, :, k % LANES]
    for j in range(out.shape[0]):
        out[j] = column[j]


@jit
def approach(blocks, k, x, rate):  # INOUT blocks
    """w_k += rate·(x − w_k)."""
    column = blocks[k // LANES, :, k % LANES]
    for j in range(x.shape[0]):
        column[j] += rate * (x[j] - column[j])


@jit
def approach_by_share(blocks, k, x, share):  # INOUT blocks
    """w_k += (x − w_k)/share."""
    column = blocks[k // LANES, :, k % LANES]
    for j in range(x.shape[0]):
        column[j] += (x[j] - column[j]) / share


@jit
def put_between(blocks, k, i, j):  # INOUT blocks
    """w_k = (w_i + w_j)/2."""
    column = blocks[k // LANES, :, k % LANES]
    a, b = blocks[i // LANES, :, i % LANES], blocks[j // LANES, :, j % LANES]
    for f in range(blocks.shape[1]):
        column[f] = (a[f] + b[f]) / 2.0


@jit
def gap(blocks, i, j):
    """‖w_i − w_j‖²."""
    a, b = blocks[i // LANES, :, i % LANES], blocks[j // LANES, :, j % LANES]
    total = 0.0
    for f in range(blocks.shape[1]):
        difference = a[f] - b[f]
        total += difference * difference
    return total


@jit
def nearest_two(blocks, n_nodes, x, out):  # INOUT out
    """(first, second, squared distance to each): nearest nodes to x, ties to the lowest index."""
    two = (NONE, NONE, np.inf, np.inf)
    for b in range((n_nodes + LANES - 1) // LANES):
        squared_distances(x, blocks[b], out)
        if least(out) < two[3]:
            for lane in range(LANES):
                two = insert(two, b * LANES + lane, out[lane])
    return two


@jit
def drop(blocks, n_nodes, keep):  # INOUT blocks
    """Remove the nodes with keep[k] false and renumber the rest."""
    for k in range(n_nodes - 1, -1, -1):
        if not keep[k]:
            drop_one(blocks, k, n_nodes)
            n_nodes -= 1


@jit
def drop_one(blocks, k, n_nodes):  # INOUT blocks
    """Remove node k: move every later node up by one lane, whole rows of lanes at a time."""
    begin, last = k % LANES, (n_nodes - 1) // LANES
    for b in range(k // LANES, last + 1):
        for j in range(blocks.shape[1]):
            row = blocks[b, j]
            for lane in range(begin, LANES - 1):
                row[lane] = row[lane + 1]
            row[LANES - 1] = blocks[b + 1, j, 0] if b < last else np.inf
        begin = 0


def nearest(blocks: np.ndarray, n_nodes: int, X: np.ndarray) -> np.ndarray:
    """Nearest node of each row, ties to the lowest index."""
    winner = np.empty(len(X), np.int64)
    _find_nearest(blocks, n_nodes, X, winner)
    return winner


@kernel
def _find_nearest(blocks, n_nodes, X, winner):  # INOUT winner
    out = np.empty(LANES)
    for i in range(X.shape[0]):
        winner[i] = nearest_two(blocks, n_nodes, X[i], out)[0]
