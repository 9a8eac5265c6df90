"""Whether features are uncorrelated, as principal components are, and tables hardly ever.

A direction is one sign for each standardised feature. The variance of the stream along it is the sum of the
variances of all features, if these are uncorrelated; otherwise it differs. Directions point at nodes, so that
nothing depends on the order of features. Owner of the directions and of their sums.
"""

import math

from ..jit.compile import jit
from ..jit.simd import higher, load, lower, splat, store
from .layout import N_DIRECTIONS

EXCESS, EXPECTED = range(2)  # rows of state.projection
FARTHEST = 3.0  # standard deviations that a sample counts for in a feature, at most
FEWEST_SEEN = 256  # samples: with fewer, features look correlated by chance, or uncorrelated
LARGEST_EXCESS = 0.1  # share of the expected variance, root mean square of the directions
ALL_UNTIL = 1024  # samples; of those after them,
ONE_IN = 8  # counts, and as so many


@jit
def project_newest(state):  # INOUT projection
    """Add the samples since the latest recalibration to the sums; late in the stream, one in eight."""
    scalars = state.scalars[0]
    n_rows = state.window.shape[0]
    for i in range(min(scalars.since_recalibration, scalars.window_size)):
        number = scalars.n_seen - i
        x = state.window[(scalars.window_head - 1 - i) % n_rows]
        if number <= ALL_UNTIL:
            project(state, x, 1.0)
        elif number % ONE_IN == 0:
            project(state, x, 1.0 * ONE_IN)


@jit
def project(state, x, times):  # INOUT projection
    """Add one sample to the sums, so many times.

    With z_j = ±(x_j − mean_j)/σ_j, (Σz)² − Σz² is the excess, and Σz² what is expected without correlation.
    """
    mean, direction = state.mean, state.direction
    total = squares = splat(0.0)
    for j in range(x.shape[0]):
        z = splat(x[j] - mean[j]) * load(direction[j], 0)
        z = lower(higher(z, splat(-FARTHEST)), splat(FARTHEST))
        total = total + z
        squares = squares + z * z
    excess, expected = state.projection[EXCESS], state.projection[EXPECTED]
    store(excess, 0, load(excess, 0) + (total * total - squares) * splat(times))
    store(expected, 0, load(expected, 0) + squares * splat(times))


@jit
def are_uncorrelated(state):
    """Whether the variance along all directions is what it would be without correlation, or nearly."""
    if state.scalars[0].n_seen < FEWEST_SEEN:
        return False
    squares = 0.0
    for k in range(N_DIRECTIONS):
        excess, expected = state.projection[EXCESS, k], state.projection[EXPECTED, k]
        if not expected > 0.0:
            return False
        squares += (excess / expected) ** 2
    return squares <= N_DIRECTIONS * LARGEST_EXCESS * LARGEST_EXCESS


@jit
def standardise(state):  # INOUT direction
    """Divide the directions by the present standard deviations. A feature that did not vary before gets its
    signs now: on which side of the mean the nodes are."""
    scalars = state.scalars[0]
    if scalars.n_nodes < N_DIRECTIONS:
        return
    for j in range(state.mean.shape[0]):
        variance = state.square_sum[j] / (scalars.n_seen - 1)
        inverse = 1.0 / math.sqrt(variance) if variance > 0.0 else 0.0
        for k in range(N_DIRECTIONS):
            side = state.direction[j, k]
            if side == 0.0:
                side = state.prototype[k * scalars.n_nodes // N_DIRECTIONS, j] - state.mean[j]
            state.direction[j, k] = inverse if side > 0.0 else -inverse if side < 0.0 else 0.0
