"""Whether wide features are foretold by others: what tells principal components from noise.

Nodes that are near each other in half of the features are near each other in the other half, too, if
features tell of the same clusters. In a feature that is independent of the others they are as far apart as
any two nodes. docs/handover.md, Uncorrelated features, has the rule.
Owner of `foretold` and of the time of the latest comparison.
"""

import math

import numpy as np

from ..jit.compile import COARSE, jit, jit_allocating
from .correlation import FARTHEST
from .layout import N_DIRECTIONS

FEWEST_NODES = 8  # used more than once
MOST_COMPARED = 128  # nodes, each with all others
LATER = 2  # times as many samples as at the latest comparison
HIGHEST_SHARE = 0.7  # of the squared distance of any two nodes: as far as this, and features are not foretold
MEAN, VARIANCE, FOUND, EXPECTED = range(4)  # rows of sums


@jit_allocating
def renew_foretold(state, median, most):  # INOUT foretold, scalars.foretold_at
    """If the stream has doubled, compare the nodes: which features may vary by `most`, not by the median?"""
    scalars = state.scalars[0]
    n_features = state.mean.shape[0]
    if scalars.n_seen < LATER * scalars.foretold_at or scalars.used_nodes < FEWEST_NODES:
        return
    scalars.foretold_at = scalars.n_seen
    z = np.empty((scalars.used_nodes, n_features))
    sums, half = np.zeros((4, n_features)), np.empty((2, n_features))
    standardise_nodes(state, z, sums)
    n_compared = min(z.shape[0], MOST_COMPARED)
    for i in range(n_compared):
        k = i * z.shape[0] // n_compared
        if halve(state, z[k], i % N_DIRECTIONS, median, half):
            compare_halves(z, k, half, sums)
    decide(state, median, most, sums)


@jit
def standardise_nodes(state, z, sums):  # INOUT z, sums
    """Nodes used more than once in standard deviations of the stream, and their mean and variance."""
    scalars = state.scalars[0]
    mean, variance = sums[MEAN], sums[VARIANCE]
    for j in range(z.shape[1]):
        square = state.square_sum[j] / (scalars.n_seen - 1)
        inverse = 1.0 / math.sqrt(square) if square > 0.0 else 0.0
        i = 0
        for k in range(scalars.n_nodes):
            if state.node[k].usage > 1:
                z[i, j] = min(max((state.prototype[k, j] - state.mean[j]) * inverse, -FARTHEST), FARTHEST)
                mean[j] += z[i, j]
                i += 1
        mean[j] /= i
        for k in range(i):
            variance[j] += (z[k, j] - mean[j]) ** 2
        variance[j] /= i


@jit
def halve(state, x, k, median, half):  # INOUT half
    """Weights of the features in which x is on the same side as direction k, and of the others; whether there
    are both."""
    same = other = 0.0
    for j in range(x.shape[0]):
        weight = min(state.square_sum[j], median)
        is_same = x[j] * state.direction[j, k] > 0.0
        half[0, j] = weight if is_same else 0.0
        half[1, j] = 0.0 if is_same else weight
        same += half[0, j]
        other += half[1, j]
    return same > 0.0 and other > 0.0


@jit
def compare_halves(z, k, half, sums):  # INOUT sums
    """How far node k is from the node that is nearest by the other half of the features, and how far from any
    other node on average."""
    one, other = nearest_by_halves(z, k, half)
    n = z.shape[0]
    for j in range(z.shape[1]):
        near = other if half[0, j] > 0.0 else one
        sums[FOUND, j] += (z[near, j] - z[k, j]) ** 2
        sums[EXPECTED, j] += ((z[k, j] - sums[MEAN, j]) ** 2 + sums[VARIANCE, j]) * (n / (n - 1))


@jit
def nearest_by_halves(z, k, half):
    """The nodes nearest to node k by either half of the features."""
    one = other = 0
    to_one = to_other = math.inf
    for i in range(z.shape[0]):
        if i != k:
            by_one, by_other = squared_distances_by_halves(z[k], z[i], half[0], half[1])
            if by_one < to_one:
                one, to_one = i, by_one
            if by_other < to_other:
                other, to_other = i, by_other
    return one, other


def plain_squared_distances_by_halves(a, b, one, other):
    """Between a and b, by either half of the features."""
    by_one = by_other = 0.0
    for j in range(a.shape[0]):
        difference = a[j] - b[j]
        square = difference * difference
        by_one += square * one[j]
        by_other += square * other[j]
    return by_one, by_other


squared_distances_by_halves = jit(plain_squared_distances_by_halves, COARSE)


@jit
def decide(state, median, most, sums):  # INOUT foretold
    """Features count as foretold if all that they would gain is, and each of them."""
    found = expected = 0.0
    for j in range(sums.shape[1]):
        gain = min(state.square_sum[j], most) - min(state.square_sum[j], median)
        found += gain * sums[FOUND, j]
        expected += gain * sums[EXPECTED, j]
    are_foretold = found < HIGHEST_SHARE * expected
    for j in range(sums.shape[1]):
        state.foretold[j] = are_foretold and sums[FOUND, j] < HIGHEST_SHARE * sums[EXPECTED, j]
