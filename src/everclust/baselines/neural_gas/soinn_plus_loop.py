"""SOINN+: one sample, step by step. All distances are squared unless said otherwise."""

import math

import numpy as np

from ...jit.compile import jit, kernel
from ...jit.reference import refer
from ..graph import graph as graphs
from ..graph.graph import NONE, add_node, add_to_ages, set_age
from ..graph.prototypes import approach_by_share, gap, nearest_two, put, take
from .soinn_plus_deletion import cut_old_edges, drop_idle_nodes
from .soinn_plus_state import Rules, State, grow, new_scratch

MIN_NODES = 3  # with fewer, every sample becomes a node


@jit
def absorb(state, x, rules, scratch):  # INOUT state, scratch
    """Learn one sample."""
    scalars, graph = state.scalars[0], state.graph
    scalars.n_seen += 1
    if graph.size[0].n_nodes < MIN_NODES:
        create(state, x)
        return
    first, second, to_first, to_second = nearest_two(state.blocks, graph.size[0].n_nodes, x, scratch.distance)
    apart = gap(state.blocks, first, second)
    first_reach = reach(state, first, to_first, apart, scratch)
    second_reach = reach(state, second, to_second, apart, scratch) if to_first <= first_reach else 0.0
    if to_first > first_reach or to_second > second_reach:
        create(state, x)
    else:
        first_reach, second_reach = math.sqrt(first_reach), math.sqrt(second_reach)
        if may_link(state, first, second, first_reach, second_reach, rules.link_factor):
            link(state, first, second, first_reach, second_reach)
        add_to_ages(graph, first, 1)
        first = cut_old_edges(state, first, rules, scratch)
        attract(state, first, x, rules.neighbour_divisor)
    drop_idle_nodes(state, rules.node_factor, scratch)


@jit
def create(state, x):  # INOUT state
    """Add a node at x without edges."""
    k = add_node(state.graph)
    put(state.blocks, k, x)
    state.node[k].wins = 1
    state.node[k].stamp = state.scalars[0].n_seen


@jit
def reach(state, k, away, apart, scratch):  # INOUT scratch
    """θ_k, the similarity threshold: distance to the farthest neighbour, or else to the nearest other node.

    A sample farther away than the other winner exceeds the threshold, whose exact value is then not needed.
    """
    h = state.graph.first[k]
    if h == NONE:
        if away > apart:
            return apart
        take(state.blocks, k, scratch.position)
        # The nearest node to the position of k is k itself or a duplicate.
        return nearest_two(state.blocks, state.graph.size[0].n_nodes, scratch.position, scratch.distance)[3]
    farthest = 0.0
    while h != NONE:
        farthest = max(farthest, gap(state.blocks, k, state.graph.end[h]))
        h = state.graph.after[h]
    return farthest


# Linking


@jit
def may_link(state, first, second, first_reach, second_reach, factor):
    """True if either threshold (not squared), times 1 − wins/most wins, is below its limit."""
    scalars = state.scalars[0]
    if scalars.first_square_sum == 0.0 or scalars.second_square_sum == 0.0:
        return True
    most = most_wins(state)
    first_limit = scalars.first_mean + factor * math.sqrt(scalars.first_square_sum / scalars.n_links)
    second_limit = scalars.second_mean + factor * math.sqrt(scalars.second_square_sum / scalars.n_links)
    return (
        first_reach * (1.0 - state.node[first].wins / most) < first_limit
        or second_reach * (1.0 - state.node[second].wins / most) < second_limit
    )


@jit
def most_wins(state):
    """The largest number of wins among the nodes with edges, or among all if there are no edges."""
    most_linked, most = 0, 0
    for k in range(state.graph.size[0].n_nodes):
        wins = state.node[k].wins
        most = max(most, wins)
        if state.graph.degree[k] > 0:
            most_linked = max(most_linked, wins)
    return most_linked if most_linked > 0 else most


@jit
def link(state, first, second, first_reach, second_reach):  # INOUT graph, scalars
    """Add the edge, or reset its age and update the statistics of the thresholds."""
    if not set_age(state.graph, first, second, 1):
        return
    scalars = state.scalars[0]
    scalars.n_links += 1
    first_off, second_off = first_reach - scalars.first_mean, second_reach - scalars.second_mean
    scalars.first_mean += first_off / scalars.n_links
    scalars.second_mean += second_off / scalars.n_links
    scalars.first_square_sum += first_off * (first_reach - scalars.first_mean)
    scalars.second_square_sum += second_off * (second_reach - scalars.second_mean)


@jit
def attract(state, first, x, divisor):  # INOUT node, blocks
    """Move the winner to the mean of its samples, and its neighbours a little towards x."""
    node = state.node[first]
    node.wins += 1
    node.stamp = state.scalars[0].n_seen
    approach_by_share(state.blocks, first, x, float(node.wins))
    h = state.graph.first[first]
    while h != NONE:
        k = state.graph.end[h]
        approach_by_share(state.blocks, k, x, divisor * state.node[k].wins)
        h = state.graph.after[h]


@kernel
def learn_rows(state, X, start, rules):  # INOUT state
    """Learn the rows from `start`; returns the first row for which there was no room."""
    state = refer(state)
    scratch = new_scratch(state)
    for i in range(start, X.shape[0]):
        if not graphs.has_room(state.graph):
            return i
        absorb(state, X[i], rules, scratch)
    return X.shape[0]


def learn(state: State, X: np.ndarray, rules: Rules) -> State:
    """Learn all rows in place; returns the state, or the larger copy that replaces it."""
    done = learn_rows(state, X, 0, rules)
    while done < len(X):
        state = grow(state)
        done = learn_rows(state, X, done, rules)
    return state
