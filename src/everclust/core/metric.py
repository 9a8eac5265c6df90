"""The metric: d² = Σ_j ω_j·(x_j − y_j)². All ω_j are 1 unless the metric is capped.

Owner of the weights. They are read while a sample is learnt and renewed only between two samples.
"""

import math

import numpy as np

from ..jit.blocks import LANES
from ..jit.compile import FUSED, jit, jit_allocating
from ..jit.quantiles import hazen
from ..jit.simd import WIDTH, load, splat, store
from .spread import SQUARE_SUM, UNIT, WEIGHT


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


def _weighted_squared_distances(x, block, weight, out):
    """`lanes.squared_distances` in the capped metric."""
    for lane in range(0, LANES, WIDTH):
        total = splat(0.0)
        for j in range(x.shape[0]):
            difference = splat(x[j]) - load(block[j], lane)
            total = total + difference * difference * splat(weight[j])
        store(out, lane, total)


weighted_squared_distances = jit(_weighted_squared_distances, FUSED)  # INOUT out


@jit_allocating
def cap(state):  # INOUT feature, clock.stretch
    """No feature may weigh more than the median one."""
    weigh(state, np.empty(state.feature.shape[1]))


@jit
def weigh(state, positive):  # INOUT feature, clock.stretch, positive
    """ω_j = min(1, median of the positive v / v_j)."""
    variance = state.feature[SQUARE_SUM]  # n − 1 times it: the factor cancels out
    n = 0
    for j in range(variance.shape[0]):
        if variance[j] > 0.0:
            positive[n] = variance[j]
            n += 1
    if n == 0:
        return
    median = hazen(positive[:n], 0.5)
    weight = state.feature[WEIGHT]
    for j in range(variance.shape[0]):
        weight[j] = median / variance[j] if variance[j] > median else 1.0
    stretch_shadow(state)


@jit
def stretch_shadow(state):  # INOUT clock.stretch
    """How much longer a distance can be in the shadow, which keeps older weights."""
    clock = state.clock[0]
    unit, weight = state.feature[UNIT], state.feature[WEIGHT]
    clock.stretch = 0.0
    for j in range(weight.shape[0]):
        if unit[j] > 0.0:
            clock.stretch = max(clock.stretch, unit[j] / (clock.unit * math.sqrt(weight[j])))
