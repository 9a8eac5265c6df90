"""Probes: 32 samples that the next ones are compared with, to see how far apart clusters are.

Owner of `probe`, `probe_distance` and `distance_count`; resolution.py says what follows from them.
"""

import math

from ..jit.compile import jit
from ..jit.simd import WIDTH
from .layout import N_BINS, N_PROBES, NO_EXPONENT
from .metric import plain_vector_of_weighted_squared_distances

NEAREST, SECOND, PRESENT, WHEN = range(4)  # rows of state.probe_distance
NOT_MEASURED = 1.7e308  # squared distance before any sample has come
BINS_BELOW = 96  # the first distance; two bins are a factor of 2 in the square of a distance
MOST_UNEVEN = 3.0  # standard deviations

squared_distances_to_probes = jit(plain_vector_of_weighted_squared_distances)  # INOUT out


@jit
def take_probe(state, x):  # INOUT probe, probe_distance, scalars.n_probes
    """x is the next probe."""
    k = state.scalars[0].n_probes
    for j in range(x.shape[0]):
        state.probe[j, k] = x[j]
    state.probe_distance[NEAREST, k] = NOT_MEASURED
    state.probe_distance[SECOND, k] = NOT_MEASURED
    state.scalars[0].n_probes = k + 1


@jit
def compare(state, x):  # INOUT probe_distance, distance_count, scalars.first_exponent
    """Count the distances of x to all probes, and keep the least two of each probe."""
    nearest, second = state.probe_distance[NEAREST], state.probe_distance[SECOND]
    present, when = state.probe_distance[PRESENT], state.probe_distance[WHEN]
    for lane in range(0, N_PROBES, WIDTH):
        squared_distances_to_probes(x, state.probe, lane, state.weight, present[lane:])
    for k in range(N_PROBES):
        squared = present[k]
        if squared > 0.0:  # the same row twice says nothing about density
            count(state, squared)
        if squared < nearest[k]:
            second[k] = nearest[k]
            nearest[k] = squared
            when[k] = state.scalars[0].n_compared
        elif squared < second[k]:
            second[k] = squared


@jit
def count(state, squared):  # INOUT distance_count, scalars.first_exponent
    """One more distance in its bin: from 1/2 to 3/4 of a power of two, or from there to the power."""
    scalars = state.scalars[0]
    mantissa, exponent = math.frexp(squared)
    if scalars.first_exponent == NO_EXPONENT:
        scalars.first_exponent = exponent
    b = BINS_BELOW + 2 * (exponent - scalars.first_exponent)
    if mantissa >= 0.75:
        b += 1
    state.distance_count[min(max(b, 0), N_BINS - 1)] += 1.0


@jit
def is_in_random_order(state):
    """Whether the nearest samples came in both halves of the round: half of them in the first, by chance.

    In a stream that goes from one class to the next, or drifts, they come in the first.
    """
    nearest, when = state.probe_distance[NEAREST], state.probe_distance[WHEN]
    n, n_first = 0, 0
    for k in range(N_PROBES):
        if nearest[k] > 0.0:
            n += 1
            if 2.0 * when[k] < state.scalars[0].n_compared:
                n_first += 1
    return abs(2 * n_first - n) <= MOST_UNEVEN * math.sqrt(n)


@jit
def measure_dimension(state):  # INOUT scalars.n_ratios, scalars.log_ratios
    """Add ln(r₂/r₁) of the probes: its mean is 1/D where samples fill D dimensions evenly."""
    scalars = state.scalars[0]
    nearest, second = state.probe_distance[NEAREST], state.probe_distance[SECOND]
    for k in range(N_PROBES):
        if nearest[k] > 0.0:
            scalars.n_ratios += 1.0
            scalars.log_ratios += 0.5 * log_ratio(second[k], nearest[k])


@jit
def log_ratio(a, b):
    """ln(a/b), which does not overflow, and is the same to the last bit in another unit."""
    mantissa_a, exponent_a = math.frexp(a)
    mantissa_b, exponent_b = math.frexp(b)
    return math.log(mantissa_a / mantissa_b) + (exponent_a - exponent_b) * math.log(2.0)


@jit
def share_of_repeated(state):
    """Of the probes, those whose row has come again: it is empty around such rows, which is no valley."""
    nearest = state.probe_distance[NEAREST]
    n = 0
    for k in range(N_PROBES):
        if nearest[k] == 0.0:
            n += 1
    return n / N_PROBES


@jit
def squared_distance_within(counts, wanted):
    """The square of the distance within which so many of the counted ones lie, in units of the first."""
    below, b = 0.0, 0
    while below + counts[b] < wanted:
        below += counts[b]
        b += 1
    return lower_edge(b) + (wanted - below) / counts[b] * (lower_edge(b + 1) - lower_edge(b))


@jit
def lower_edge(b):
    """Where bin b begins, in units of the first distance."""
    octave = (b - BINS_BELOW) // 2
    return 2.0**octave * (0.5 if (b - BINS_BELOW) % 2 == 0 else 0.75)
