"""Running spread of the whole stream (Welford), which gives nodes their distance scale."""

import math

from ..jit.compile import jit
from ..jit.simd import WIDTH, higher, highest, load, splat

SCALE_FLOOR = 1e-6
FEWEST_SEEN = 256  # samples until weights settle
MUCH_WIDER = 2.0


@jit
def observe(state, x):  # INOUT mean, square_sum
    """Add one sample to the running mean and the sum of squared deviations.

    The accumulator sees every sample exactly once, so its count is n_seen + 1.
    """
    mean, square_sum = state.mean, state.square_sum
    n = state.scalars[0].n_seen + 1
    for j in range(x.shape[0]):
        delta = x[j] - mean[j]
        mean[j] += delta / n
        square_sum[j] += delta * (x[j] - mean[j])


@jit
def largest_product(a, b):
    """max_j a_j·b_j, or 0."""
    d = a.shape[0]
    n_whole = d - d % WIDTH
    abreast = splat(0.0)
    for j in range(0, n_whole, WIDTH):
        abreast = higher(abreast, load(a, j) * load(b, j))
    largest = 0.0 if n_whole == 0 else highest(abreast)
    for j in range(n_whole, d):
        largest = max(largest, a[j] * b[j])
    return largest


@jit
def present_scale(state):
    """The scale of the stream; to be called after the current sample was observed, before it is counted."""
    return scale_of(state, state.scalars[0].n_seen + 1)


@jit
def scale_of(state, n):
    """max_j sqrt(ω_j·M2_j / (n − 1)) of n samples, floored."""
    if n < 2:
        return SCALE_FLOOR
    # max and sqrt change places: both roundings are monotone, so the bits are the same.
    square_sum = largest_product(state.square_sum, state.weight)
    return max(math.sqrt(square_sum / (n - 1)), SCALE_FLOOR)


@jit
def give_scale(state, k):  # INOUT node.scale, scalars.widest
    """Give node k the present scale, and keep track of the largest."""
    scalars = state.scalars[0]
    before, now = state.node[k].scale, present_scale(state)
    state.node[k].scale = now
    if scalars.widest >= 0.0 and now >= scalars.widest:
        scalars.widest = now
    elif before == scalars.widest:
        scalars.widest = -1.0


@jit
def widest_in_metric(state):  # INOUT scalars.widest
    """max_k σ_k, unless the stream is much narrower in the present metric: then its scale. After a sample.

    An outlier among the first samples makes its feature, and the scale of its node, as wide as it is away.
    Once the weight of the feature has adapted, this scale says nothing about the metric.
    """
    widest, n = widest_scale(state), state.scalars[0].n_seen
    if n < FEWEST_SEEN:
        return widest
    present = scale_of(state, n)
    return present if widest > MUCH_WIDER * present else widest


@jit
def widest_scale(state):  # INOUT scalars.widest
    """max_k σ_k, computed again only when the node that held it has changed."""
    scalars = state.scalars[0]
    if scalars.widest < 0.0:
        for k in range(scalars.n_nodes):
            scalars.widest = max(scalars.widest, state.node[k].scale)
    return scalars.widest
