"""Exact search for the two nodes nearest by CIM: filter and refine.

The filter computes coarse similarities to all nodes in float32, with SIMD, and with exp(−u) as the 16th power
of a short Taylor series of exp(−u/16). The error is less than TERM for one feature, and the float32 sum over
d features has a relative error below d·ROUNDING. Only nodes that could be among the true two nearest are
then measured with the exact formula. The result equals that of a plain search to the bit.
"""

import math
from typing import NamedTuple

import numpy as np

from ...core.layout import NONE
from ...core.nearest import insert
from ...jit.blocks import LANES
from ...jit.compile import COARSE, jit, jit_allocating, kernel
from .cim import cim

TERM = 2e-6
ROUNDING = 2.0**-23
SIXTEENTH = math.sqrt(1.0 / 32.0)  # (|x − w|·SIXTEENTH/σ)² = u/16 with u = (x − w)²/(2σ²)
LARGEST_UNIT = 1e290
_ZERO, _ONE = np.float32(0), np.float32(1)
_T2, _T3, _T4, _T5 = np.float32(1 / 2), np.float32(-1 / 6), np.float32(1 / 24), np.float32(-1 / 120)


class Scratch(NamedTuple):
    """Working memory of a search, allocated once per call of a kernel."""

    away: np.ndarray  # one feature of one block of nodes
    similarity: np.ndarray  # coarse Σ_j exp(−(x_j − w_j)²/(2σ²)) of every node


@jit_allocating
def new_scratch(nodes):
    """Working memory for as many nodes as there is room for."""
    return Scratch(np.empty(LANES, np.float32), np.empty(nodes.weight.shape[0], np.float32))


def _coarse_similarities(x, block, unit, away, similarity):
    """Coarse similarities of x to one block of nodes."""
    for lane in range(LANES):
        similarity[lane] = _ZERO
    for j in range(x.shape[0]):
        xj, w = x[j], block[j]
        for lane in range(LANES):
            away[lane] = (xj - w[lane]) * unit
        for lane in range(LANES):  # a separate loop, all in float32: twice as many SIMD lanes
            v = min(away[lane] * away[lane], _ONE)  # exp(−16) is negligible
            power = _ONE + v * (-_ONE + v * (_T2 + v * (_T3 + v * (_T4 + v * _T5))))
            power *= power
            power *= power
            power *= power
            similarity[lane] += power * power


coarse_similarities = jit(_coarse_similarities, COARSE)  # INOUT away, similarity


@jit
def coarse_similarities_to_all(nodes, n, x, scale, scratch):  # INOUT scratch
    """Coarse similarities of x to the first n nodes."""
    unit = min(SIXTEENTH / scale, LARGEST_UNIT)
    for b in range((n + LANES - 1) // LANES):
        similarity = scratch.similarity[b * LANES : (b + 1) * LANES]
        coarse_similarities(x, nodes.lanes[b], unit, scratch.away, similarity)


@jit
def second_largest(values):
    """The second largest of at least two values."""
    first = second = -np.inf
    for value in values:
        if value > first:
            first, second = value, first
        elif value > second:
            second = value
    return second


@jit
def least_similarity(similarity, d):
    """Smallest coarse similarity that one of the two nearest nodes can have."""
    # The errors of this node and of the second best may have opposite signs.
    return second_largest(similarity) - 2.0 * d * (TERM + d * ROUNDING)


@jit
def nearest_two(nodes, n, x, scale, scratch):  # INOUT scratch
    """(first, second, CIM to each): nearest of the first n nodes to x, ties to the lowest index."""
    two = (NONE, NONE, np.inf, np.inf)
    coarse_similarities_to_all(nodes, n, x, scale, scratch)
    similarity = scratch.similarity[:n]
    least = least_similarity(similarity, x.shape[0])
    for k in range(n):
        if similarity[k] >= least:
            two = insert(two, k, cim(x, nodes.weight[k], scale))
    return two


@jit
def mean_gap(nodes, n, scale, scratch):  # INOUT scratch
    """Mean over the nodes of the CIM to the nearest other node; NaN if there is only one."""
    if n < 2:
        return np.nan
    total = 0.0
    for k in range(n):
        # The node itself has CIM 0, so the second value is the CIM to the nearest other node.
        total += nearest_two(nodes, n, nodes.weight[k], scale, scratch)[3]
    return total / n


@kernel
def assign(nodes, n, X, scale, winner):  # INOUT winner
    """Nearest of the first n nodes to each row, ties to the lowest index."""
    scratch = new_scratch(nodes)
    for i in range(X.shape[0]):
        winner[i] = nearest_two(nodes, n, X[i], scale, scratch)[0]
