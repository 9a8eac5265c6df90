"""What SOINN+ removes: old edges, nodes that lose their last edge by that, and idle nodes without edges.

Two of the limits contain a statistic over many edges or nodes: each is a running mean times a weight plus a
non-negative term with that statistic. If no value exceeds the first part, the statistic is not computed.
"""

import numpy as np

from ...jit.compile import jit
from ...jit.quantiles import hazen
from ..graph import prototypes
from ..graph.components import flood
from ..graph.graph import NONE, cut_older, drop_nodes

MAD_SCALE = 1.482602218505602  # from the median of absolute deviations to the deviation of a normal sample


# Deletions 1 and 2: old edges, and nodes that lose their last edge


@jit
def cut_old_edges(state, first, rules, scratch):  # INOUT state, scratch
    """Cut the winner's old edges and drop nodes without edges; returns the winner's new number."""
    limit = age_limit(state, first, rules.edge_factor, scratch)
    n, total = cut_older(state.graph, first, limit, scratch.lost)
    if n == 0:
        return first
    scalars = state.scalars[0]
    scalars.cut_age = (scalars.n_cut * scalars.cut_age + total) / (scalars.n_cut + n)
    scalars.n_cut += n
    n_lonely = n_before = 0
    for k in scratch.lost[:n]:
        if state.graph.degree[k] == 0:
            scratch.keep[k] = False
            n_lonely += 1
            n_before += k < first
            scalars.n_dropped += k + 1 if rules.sums_indices else 1
    if n_lonely > 0:
        drop(state, scratch.keep)
    return first - n_before


@jit
def age_limit(state, first, factor, scratch):  # INOUT scratch
    """Age above which the winner's edges are cut; ∞ if none can be that old."""
    scalars, graph = state.scalars[0], state.graph
    # The floor falls with the number of edges, and no component has more than the whole graph.
    floor = scalars.cut_age * (scalars.n_cut / max(scalars.n_cut + graph.size[0].n_edges, 1))
    if oldest(graph, first) <= floor:
        return np.inf
    n = component_ages(graph, first, scratch)
    low, high = hazen(scratch.value[:n], 0.25), hazen(scratch.value[:n], 0.75)
    slack = factor * (high - low)
    if slack == 0.0:
        return np.inf
    weight = scalars.n_cut / (scalars.n_cut + n)
    return scalars.cut_age * weight + (high + slack) * (1.0 - weight)


@jit
def oldest(graph, k):
    """Age of the oldest edge of node k; 0 if it has none."""
    age, h = 0, graph.first[k]
    while h != NONE:
        age = max(age, graph.age[h >> 1])
        h = graph.after[h]
    return age


@jit
def component_ages(graph, k, scratch):  # INOUT scratch.component, scratch.lost, scratch.value
    """Write the ages of all edges in the component of node k to scratch.value; returns their number."""
    scratch.component[: graph.size[0].n_nodes] = NONE
    flood(graph, k, 1, scratch.component, scratch.lost)
    n = 0
    for e in range(graph.size[0].n_slots):
        end = graph.end[2 * e]
        if end != NONE and scratch.component[end] == 1:
            scratch.value[n] = graph.age[e]
            n += 1
    return n


# Deletion 3: idle nodes without edges


@jit
def idleness(state, k):
    """U_k: time since the latest win per win."""
    return (state.scalars[0].n_seen - state.node[k].stamp) / state.node[k].wins


@jit
def drop_idle_nodes(state, factor, scratch):  # INOUT state, scratch
    """Drop nodes without edges that have been idle for unusually long."""
    scalars, graph = state.scalars[0], state.graph
    n_nodes = graph.size[0].n_nodes
    n_alone, longest = 0, 0.0
    for k in range(n_nodes):
        if graph.degree[k] == 0:
            n_alone += 1
            longest = max(longest, idleness(state, k))
    if n_alone == n_nodes:
        return
    weight = scalars.n_dropped / (scalars.n_dropped + (n_nodes - n_alone))
    floor = scalars.dropped_idleness * weight
    if longest <= floor:
        return
    usual = usual_idleness(state, factor, scratch.value)
    limit = floor + usual * (1.0 - weight) * (1.0 - n_alone / n_nodes)
    if longest > limit:
        drop_idle(state, limit, scratch.keep)


@jit
def usual_idleness(state, factor, value):  # INOUT value
    """Median idle time of the nodes with edges plus `factor` robust standard deviations."""
    n = 0
    for k in range(state.graph.size[0].n_nodes):
        if state.graph.degree[k] > 0:
            value[n] = idleness(state, k)
            n += 1
    median = hazen(value[:n], 0.5)
    for i in range(n):
        value[i] = abs(value[i] - median)
    return median + factor * (MAD_SCALE * hazen(value[:n], 0.5))


@jit
def drop_idle(state, limit, keep):  # INOUT state, (keep)
    """Drop the nodes without edges whose idle time is above the limit."""
    scalars = state.scalars[0]
    n, total = 0, 0.0
    for k in range(state.graph.size[0].n_nodes):
        if state.graph.degree[k] == 0 and idleness(state, k) > limit:
            keep[k] = False
            total += idleness(state, k)
            n += 1
    total += scalars.n_dropped * scalars.dropped_idleness
    scalars.dropped_idleness = total / (scalars.n_dropped + n)
    scalars.n_dropped += n
    drop(state, keep)


@jit
def drop(state, keep):  # INOUT state, keep
    """Remove the nodes with keep[k] false and renumber the rest."""
    n_nodes, to = state.graph.size[0].n_nodes, 0
    for k in range(n_nodes):
        source, target = state.node[k], state.node[to]
        target.wins = source.wins
        target.stamp = source.stamp
        to += keep[k]
    prototypes.drop(state.blocks, n_nodes, keep)
    drop_nodes(state.graph, keep)
    keep[:n_nodes] = True
