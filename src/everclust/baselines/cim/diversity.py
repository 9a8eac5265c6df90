"""Diversity of the nodes: the determinant of their similarity matrix, updated node by node.

The matrix is exp(D) with D_ij = 1 − CIM(w_i, w_j; σ₀), so that exp(D) = e·S with S_ij = exp(−CIM). CIM is
the root of a conditionally negative definite function, hence S is positive definite (Schoenberg), with a
unit diagonal: its Cholesky factor grows by a row with each node, at O(K²) instead of the O(K³) of a new
determinant. Duplicate nodes make the determinant 0 for good; a decomposition from scratch has rounding
errors of either sign there.
"""

import math

import numpy as np

from ...jit.compile import COARSE, jit
from .cim import cim

COINCIDING = 1e-10  # smaller pivots count as 0; those of distinct nodes are above 1e-9


def _dot(a, b, n):
    total = 0.0
    for k in range(n):
        total += a[k] * b[k]
    return total


dot = jit(_dot, COARSE)


@jit
def eliminate(factor, i, similarity):  # INOUT factor
    """Row i of the Cholesky factor, whose diagonal holds reciprocals; returns the squared diagonal."""
    row, pivot = factor[i], 1.0
    for j in range(i):
        row[j] = (similarity[j] - dot(row, factor[j], j)) * factor[j, j]
        pivot -= row[j] * row[j]
    return pivot


@jit
def add_row(nodes, k, scale, factor, similarity):  # INOUT factor, similarity
    """Add node k, the next one; returns the log of the factor by which the determinant of exp(D) changes."""
    for i in range(k):
        similarity[i] = math.exp(-cim(nodes.weight[k], nodes.weight[i], scale))
    pivot = eliminate(factor, k, similarity)
    if not pivot >= COINCIDING:
        return -np.inf
    factor[k, k] = 1.0 / math.sqrt(pivot)
    return 1.0 + math.log(pivot)
