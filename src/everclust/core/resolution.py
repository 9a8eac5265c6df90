"""Finer nodes where clusters are many: by how much the radius that V stands for is made smaller.

V follows from how close the Λ newest samples are to each other. Where clusters outnumber them, few have a
neighbour of their own cluster among them, and a node takes in several clusters. So some samples, the probes,
are compared with those that follow. Farther and farther out there are more of these; hardly more where the
cluster of a probe ends, and more again where others begin. docs/handover.md, Resolution, has the rule.
"""

import math

from ..jit.compile import jit
from .layout import LONGEST_REST, N_BINS, N_PROBES
from .probes import (
    NEAREST,
    compare,
    is_in_random_order,
    lower_edge,
    measure_dimension,
    share_of_repeated,
    squared_distance_within,
    take_probe,
)

INTERVALS = 16  # for which probes are compared
SHORTEST_INTERVAL = 8
REMEMBERED = 1.0 - 1.0 / 8.0  # of the counts, from probes to the next ones
FEWEST_WITHIN = 2.0  # samples in the cluster of a probe, on average, to tell where it ends
MOST_PROBES = 0.8  # of those that should have a sample within the end of their cluster
LEAST_RISE = 1.5  # times the dimension at the end of a cluster that samples fill farther out, and
RISE_OF_REPEATED = 3.0  # more where all rows repeat
HIGHER = math.sqrt(2.0)  # growth in one dimension more
HOLLOW = 0.25  # a cluster ends where samples are no denser than so many times inside
FEWEST_PER_CLUSTER = 2.0  # samples of every cluster among the Λ newest; if they are fewer,
PER_CLUSTER = 5.0  # V is made to see as many
NEARLY_ALL = 0.95  # of the pairs of samples in a cluster: by these its width is measured


@jit
def observe(state, x):  # INOUT probe, probe_distance, distance_count, scalars
    """Let x be a probe, or compare it with the probes; at the end of a round decide, and rest for a while."""
    scalars = state.scalars[0]
    if scalars.n_resting > 0:
        scalars.n_resting -= 1
    elif scalars.n_probes < N_PROBES:
        take_probe(state, x)
    else:
        compare(state, x)
        scalars.n_compared += 1
        if scalars.n_compared >= INTERVALS * max(scalars.interval, SHORTEST_INTERVAL):
            if is_in_random_order(state):
                measure_dimension(state)
                decide(state)
            else:
                forget(state)
            start_again(state)


@jit
def forget(state):  # INOUT distance_count, scalars
    """What was counted is not of the present stream."""
    scalars = state.scalars[0]
    reset_decision(scalars)
    scalars.n_ratios = 0.0
    scalars.log_ratios = 0.0
    for b in range(N_BINS):
        state.distance_count[b] = 0.0


@jit
def reset_decision(scalars):  # INOUT scalars: radius_factor, n_clusters, cluster_end, cluster_radius
    """As if there were one cluster."""
    scalars.radius_factor = 1.0
    scalars.n_clusters = 0.0
    scalars.cluster_end = 0.0
    scalars.cluster_radius = 0.0


@jit
def decide(state):  # INOUT scalars: radius_factor, n_clusters, cluster_end, cluster_radius
    """Where clusters end; and if they are many, by how much the distance to the nearest of 5k samples is less
    than to the nearest of Λ, and how far clusters reach.

    Where they end matters from the second round on: the first may take pieces of a curve for clusters.
    """
    scalars, counts = state.scalars[0], state.distance_count
    total = 0.0
    for b in range(N_BINS):
        total += counts[b]
    if total == 0.0 or scalars.log_ratios <= 0.0:
        return
    k, end = n_clusters(state, total)
    is_later, unit = scalars.n_rounds > 0, 2.0 ** (0.5 * scalars.first_exponent)
    reset_decision(scalars)
    if is_later and k > 1.0:
        scalars.n_clusters = k
        scalars.cluster_end = math.sqrt(lower_edge(end)) * unit
    if scalars.interval < FEWEST_PER_CLUSTER * k:
        near = squared_distance_within(counts, math.log(2.0) * total / (PER_CLUSTER * k))
        far = squared_distance_within(counts, math.log(2.0) * total / scalars.interval)
        reach = 0.5 * squared_distance_within(counts, NEARLY_ALL * total / k)  # from the centre of a cluster
        near = max(near, least_part_of_reach(scalars) * reach)
        scalars.radius_factor = min(math.sqrt(near / far), 1.0)
        if is_later:
            scalars.cluster_radius = math.sqrt(reach) * unit


@jit
def least_part_of_reach(scalars):
    """Within which one of 5k samples is nearest if clusters are equally wide and evenly filled, squared.

    If they are not equally wide, samples of the narrow ones alone would make it too small for the wide ones.
    """
    share = math.log(2.0) / (PER_CLUSTER * NEARLY_ALL)  # of the samples within the width of a cluster
    return share ** (2.0 * scalars.log_ratios / scalars.n_ratios)


@jit
def n_clusters(state, total):
    """(k, bin): one in k samples lies within the distance at which the cluster of a probe ends, or k is 1; it
    ends where the bin begins.

    From bin to bin, growth is how many times as many samples lie within √2 times the distance: to the power
    of log 2/log √2 it is the dimension that they fill there. A cluster ends where growth is least, if farther
    out this dimension is greater again by half and by one, if those farther out are far less dense, and if
    most probes have a sample within.
    """
    scalars, counts = state.scalars[0], state.distance_count
    rise = LEAST_RISE + RISE_OF_REPEATED * share_of_repeated(state)
    inside = (
        2.0 ** (0.5 * scalars.n_ratios / scalars.log_ratios) - 1.0
    )  # growth of the density within, less 1
    k, end, least, greatest = 1.0, N_BINS, math.inf, 1.0
    beyond, half_way = total, total - counts[N_BINS - 1]
    for b in range(N_BINS - 3, -1, -1):
        within = half_way - counts[b + 1]
        n_within = within * scalars.n_compared / total  # samples, on average
        if n_within < FEWEST_WITHIN:
            break
        growth = beyond / within
        rises = greatest >= HIGHER * growth and math.log(greatest) >= rise * math.log(growth)
        if growth < least and within < 0.5 * total and rises and are_within(state, b + 1, n_within):
            least = growth
            end = b + 1
            k = total / half_way if growth - 1.0 < HOLLOW * inside else 1.0
        greatest = max(greatest, growth)
        beyond, half_way = half_way, within
    return k, end


@jit
def are_within(state, end, n_within):
    """Whether most probes have a sample before this bin: where only narrow clusters end, many have none.

    If they have n on average, e^−n of them have none by chance.
    """
    nearest = state.probe_distance[NEAREST]
    edge = lower_edge(end) * 2.0 ** state.scalars[0].first_exponent
    n = 0
    for k in range(N_PROBES):
        if nearest[k] < edge:
            n += 1
    return n >= MOST_PROBES * (1.0 - math.exp(-n_within)) * N_PROBES


@jit
def start_again(state):  # INOUT distance_count, scalars
    """New probes, later and later, and a fading memory of the old ones."""
    scalars = state.scalars[0]
    scalars.n_resting = scalars.n_rounds * scalars.n_compared
    scalars.n_rounds = min(scalars.n_rounds + 1, LONGEST_REST)
    scalars.n_probes = 0
    scalars.n_compared = 0
    scalars.n_ratios *= REMEMBERED
    scalars.log_ratios *= REMEMBERED
    for b in range(N_BINS):
        state.distance_count[b] *= REMEMBERED


@jit
def within_clusters(vigilance, alpha, scalars):
    """The vigilance of nodes that reach no farther than clusters do from their centres, if these are many."""
    if scalars.cluster_radius == 0.0:
        return vigilance
    return max(vigilance, 1.0 / (1.0 + alpha * scalars.cluster_radius))


@jit
def finer(vigilance, factor):
    """The similarity 1/(1 + αr) at a radius that is multiplied by the factor."""
    if factor == 1.0:
        return vigilance
    return vigilance / (vigilance + factor * (1.0 - vigilance))
