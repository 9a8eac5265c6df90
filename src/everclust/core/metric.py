"""The metric: d² = Σ_j ω_j·(x_j − y_j)². All ω_j are 1 unless the metric is capped.

Owner of the weights. They are read while a sample is learnt and updated only between two samples.
"""

import math

import numpy as np

from ..jit.blocks import LANES
from ..jit.compile import FUSED, jit, jit_allocating
from ..jit.quantiles import hazen
from ..jit.simd import WIDTH, load, splat, store
from .correlation import are_uncorrelated, project_newest, standardise
from .foretold import renew_foretold

RELAXED = 4.0  # medians that features may vary by where they are uncorrelated


@jit
def distance(a, b, weight):
    """By direct differences, in feature order: ‖a‖² − 2ab + ‖b‖² is wrong for near-duplicates."""
    total = 0.0
    for j in range(a.shape[0]):
        difference = a[j] - b[j]
        total += difference * difference * weight[j]
    return math.sqrt(total)


@jit
def two_distances(x, a, b, weight):
    """`distance` of x to a and to b: neither sum waits for the other."""
    to_a = to_b = 0.0
    for j in range(x.shape[0]):
        difference = x[j] - a[j]
        to_a += difference * difference * weight[j]
        difference = x[j] - b[j]
        to_b += difference * difference * weight[j]
    return math.sqrt(to_a), math.sqrt(to_b)


def plain_weighted_squared_distances(x, block, weight, out):
    """`blocks.squared_distances` in the capped metric."""
    for lane in range(0, LANES, 4 * WIDTH):
        a = b = c = d = splat(0.0)
        for j in range(x.shape[0]):
            xj, weight_j, row = splat(x[j]), splat(weight[j]), block[j]
            difference = xj - load(row, lane)
            a = a + difference * difference * weight_j
            difference = xj - load(row, lane + WIDTH)
            b = b + difference * difference * weight_j
            difference = xj - load(row, lane + 2 * WIDTH)
            c = c + difference * difference * weight_j
            difference = xj - load(row, lane + 3 * WIDTH)
            d = d + difference * difference * weight_j
        store(out, lane, a)
        store(out, lane + WIDTH, b)
        store(out, lane + 2 * WIDTH, c)
        store(out, lane + 3 * WIDTH, d)


def plain_vector_of_weighted_squared_distances(x, block, lane, weight, out):
    """`blocks.vector_of_squared_distances` in the capped metric."""
    total = splat(0.0)
    for j in range(x.shape[0]):
        difference = splat(x[j]) - load(block[j], lane)
        total = total + difference * difference * splat(weight[j])
    store(out, 0, total)


weighted_squared_distances = jit(plain_weighted_squared_distances, FUSED)  # INOUT out
vector_of_weighted_squared_distances = jit(plain_vector_of_weighted_squared_distances, FUSED)  # INOUT out


@jit_allocating
def cap(state):  # INOUT weight, direction, projection, foretold, scalars
    """Update the weights so that no feature weighs more than the median one, or than a few of it."""
    median = median_variance(state, np.empty(state.weight.shape[0]))
    if median == 0.0:
        return
    most = median
    if state.direction.shape[1] != 0:
        project_newest(state)
        if are_uncorrelated(state):
            most = relaxed(median, state.square_sum)
        standardise(state)
    if most > median:
        renew_foretold(state, median, most)
    _cap(state, median, most)
    update_stretch(state)


@jit
def _cap(state, median, most):  # INOUT weight
    """ω_j = min(1, c/v_j), where c is the median unless it is relaxed and others foretell the feature."""
    variance, weight = state.square_sum, state.weight  # n − 1 times it: the factor cancels out
    for j in range(variance.shape[0]):
        limit = most if most > median and state.foretold[j] else median
        weight[j] = limit / variance[j] if variance[j] > limit else 1.0


@jit
def median_variance(state, positive):  # INOUT positive
    """Median of those that are positive, n − 1 times it, or 0."""
    variance = state.square_sum
    n = 0
    for j in range(variance.shape[0]):
        if variance[j] > 0.0:
            positive[n] = variance[j]
            n += 1
    return hazen(positive[:n], 0.5) if n > 0 else 0.0


@jit
def relaxed(median, variance):
    """Four medians, but no more than the second largest: one wide feature that tells nothing stays capped."""
    largest = second = 0.0
    for j in range(variance.shape[0]):
        if variance[j] > largest:
            second = largest
            largest = variance[j]
        elif variance[j] > second:
            second = variance[j]
    return max(median, min(RELAXED * median, second))


@jit
def update_stretch(state):  # INOUT scalars.coarse_stretch
    """How much longer a distance can be in the coarse copy, which keeps older weights."""
    scalars = state.scalars[0]
    scale, weight = state.coarse_scale, state.weight
    scalars.coarse_stretch = 0.0
    for j in range(weight.shape[0]):
        if scale[j] > 0.0:
            scalars.coarse_stretch = max(
                scalars.coarse_stretch, scale[j] / (scalars.coarse_unit * math.sqrt(weight[j]))
            )
