"""The rules of CAE for one sample, and the loop over samples."""

from collections.abc import Iterator

import numpy as np

from ...jit.compile import jit, kernel
from ...jit.quantiles import hazen, select
from ...jit.reference import refer
from ..graph import graph as graphs
from .cae_state import Rule, State, grow, new_scratch
from .cim import add, bandwidth, drop_isolated, mean_scale, pull, pull_neighbours
from .diversity import add_row
from .search import mean_gap, nearest_two

FEWEST_NODES = 10  # below it, the determinant is not tested
IQR_FACTOR = 1.0
AT_ONCE = 1024  # rows between two checks for an interrupt


@jit
def active_bandwidth(state, n, scratch):  # INOUT scratch
    """σ of the positions of those n_a of the n nodes that were created or won last."""
    n_active = min(n, state.scalars[0].n_active)
    for k in range(n):
        scratch.number[k] = state.used[k]
    oldest = select(scratch.number[:n], n - n_active)
    i = 0
    for k in range(n):
        if state.used[k] >= oldest:  # no ties: each sample creates or uses one node
            scratch.number[i] = k
            i += 1
    return bandwidth(state.nodes.weight, scratch.number[:i], scratch.mean, scratch.spread)


@jit
def create(state, x):  # INOUT nodes, graph, used
    """Add a node at x; returns the number of nodes."""
    k = add(state.nodes, state.graph, x, state.scalars[0].fill_scale)
    state.used[k] = state.scalars[0].n_seen
    return k + 1


@jit
def fill(state, x, rule, scratch):  # INOUT state, scratch
    """Step 1: x becomes a node without a vigilance test."""
    scalars = state.scalars[0]
    n = create(state, x)
    if not scalars.ready:
        watch_diversity(state, n, rule, scratch)
    if n == scalars.n_active:
        calibrate(state, n, scratch)
    scalars.mean_scale = mean_scale(state.nodes, n)


@jit
def watch_diversity(state, n, rule, scratch):  # INOUT scalars, factor, scratch
    """Step 1a: n_a is the number of nodes at which the determinant of exp(D) vanishes; λ_div = 2 n_a."""
    scalars = state.scalars[0]
    if scalars.log_determinant > -np.inf:
        gain = add_row(state.nodes, n - 1, scalars.first_scale, state.factor, scratch.value)
        scalars.log_determinant += gain
    if scalars.log_determinant < rule.log_floor and n >= FEWEST_NODES:
        scalars.n_active = n
        scalars.interval = 2 * n


@jit
def calibrate(state, n, scratch):  # INOUT scalars, nodes.scale, scratch
    """Step 1b: set one bandwidth for all nodes, and V to their mean distance to the nearest other node."""
    scalars, nodes = state.scalars[0], state.nodes
    scalars.ready = True
    scalars.fill_scale = active_bandwidth(state, n, scratch)
    for k in range(n):
        nodes.scale[k] = scalars.fill_scale
    scalars.threshold = mean_gap(nodes, n, mean_scale(nodes, n), scratch.search)


@jit
def resonate(state, x, rule, scratch):  # INOUT nodes, graph, used, scalars, scratch
    """Step 2. With max_nodes nodes, no sample creates another."""
    scalars, nodes, graph = state.scalars[0], state.nodes, state.graph
    n = graph.size[0].n_nodes
    first, second, to_first, to_second = nearest_two(nodes, n, x, scalars.mean_scale, scratch.search)
    if scalars.threshold < to_first and n < rule.max_nodes:  # case I
        n = create(state, x)
        nodes.scale[n - 1] = active_bandwidth(state, n, scratch)
        scalars.mean_scale = mean_scale(nodes, n)
        return
    nodes.usage[first] += 1
    pull(nodes, first, x, float(nodes.usage[first]))
    state.used[first] = scalars.n_seen
    graphs.add_to_ages(graph, first, 1)
    if scalars.threshold >= to_second:  # case III; false if there is no second node
        pull_neighbours(nodes, graph, first, x)
        graphs.set_age(graph, first, second, 1)
    cut_edges(state, first, scratch)


@jit
def cut_edges(state, k, scratch):  # INOUT graph, scalars.n_cut, scalars.cut_age, scratch
    """Cut the edges of node k that are older than `age_limit`."""
    scalars = state.scalars[0]
    n = graphs.ages_of(state.graph, k, scratch.number)
    limit = age_limit(scratch.number[:n], scalars.n_cut, scalars.cut_age, scratch.value)
    n_cut, total = graphs.cut_older(state.graph, k, limit, scratch.node)
    if n_cut > 0:
        scalars.cut_age = (scalars.n_cut * scalars.cut_age + total) / (scalars.n_cut + n_cut)
        scalars.n_cut += n_cut


@jit
def age_limit(ages, n_cut, cut_age, value):  # INOUT value
    """E_m ρ + ω (1 − ρ) with ω = q3 + (q3 − q1) and ρ = E_n/(E_n + n); ∞ when there are no quartiles."""
    n = ages.shape[0]
    if n < 2:
        return np.inf
    for i in range(n):
        value[i] = ages[i]
    median = hazen(value[:n], 0.5)
    n_below = n_above = 0
    for age in ages:  # partition: younger ages to the front of `value`, older ones to the back
        if age < median:
            value[n_below] = age
            n_below += 1
        elif age > median:
            n_above += 1
            value[n - n_above] = age
    if n_below == 0 or n_above == 0:
        return np.inf
    q1, q3 = hazen(value[:n_below], 0.5), hazen(value[n - n_above : n], 0.5)
    share = n_cut / (n_cut + n)
    return cut_age * share + (q3 + IQR_FACTOR * (q3 - q1)) * (1.0 - share)


@jit
def prune(state, scratch):  # INOUT state, scratch
    """Step 3: delete every node without an edge."""
    n, n_kept = state.graph.size[0].n_nodes, 0
    state.scalars[0].mean_scale = drop_isolated(state.nodes, state.graph, scratch.node)
    for k in range(n):
        if scratch.node[k]:  # kept
            state.used[n_kept] = state.used[k]
            n_kept += 1


@kernel
def learn_rows(state, X, start, rule):  # INOUT state
    """Learn the rows from `start`, each once; returns the first row for which there was no room."""
    state = refer(state)
    scalars, size = state.scalars[0], state.graph.size[0]
    scratch = new_scratch(state)
    for i in range(start, X.shape[0]):
        if not graphs.has_room(state.graph):
            return i
        scalars.n_cycle += 1
        scalars.n_seen += 1
        if scalars.ready and size.n_nodes >= scalars.n_active:
            resonate(state, X[i], rule, scratch)
        elif size.n_nodes < rule.max_nodes:  # else the sample is ignored
            fill(state, X[i], rule, scratch)
        if scalars.n_cycle % scalars.interval == 0 and size.n_nodes > 1:
            prune(state, scratch)
    return X.shape[0]


def learn(state: State, X: np.ndarray, rule: Rule) -> Iterator[State]:
    """Learn all rows in chunks; yields the state, or the larger copy that replaces it."""
    done = 0
    while done < len(X):
        stop = min(done + AT_ONCE, len(X))
        done = learn_rows(state, X[:stop], done, rule)
        if done < stop:
            state = grow(state)
        if state.scalars["ready"][0]:
            state = state._replace(factor=np.empty((0, 0)))
        yield state
