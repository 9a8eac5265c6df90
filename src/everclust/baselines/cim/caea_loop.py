"""The state of CAEA, its rules for one sample, and the loop over samples."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...jit.blocks import copy_row
from ...jit.compile import jit, jit_allocating, kernel, record
from ...jit.reference import refer
from ..graph import graph as graphs
from ..graph.graph import Graph
from .cim import (
    Nodes,
    add,
    bandwidth,
    bandwidth_across,
    drop_isolated,
    grow_nodes,
    mean_scale,
    new_nodes,
    pull,
    pull_neighbours,
)
from .search import mean_gap, nearest_two
from .search import new_scratch as new_search_scratch

AT_ONCE = 1024  # rows between two checks for an interrupt

SCALARS = record(
    ("n_cycle", np.int64),  # k, samples since the count began
    ("n_seen", np.int64),  # samples learnt in all
    ("threshold", np.float64),  # V, the same for all nodes
    ("mean_scale", np.float64),  # σ̄, over all nodes
)


class Rule(NamedTuple):
    """The parameters, as the loop needs them."""

    interval: int  # λ
    oldest: int  # a_max
    buffer: float  # b, number of nodes created without a vigilance test
    across: bool  # measure a single sample across its features


class State(NamedTuple):
    """The model. Arrays have spare room."""

    scalars: np.ndarray  # one record
    nodes: Nodes
    graph: Graph
    window: np.ndarray  # ring buffer of the latest b samples; sample k is in row k mod b


class Scratch(NamedTuple):
    """Working memory, allocated once per call of the kernel."""

    search: Any
    rows: np.ndarray  # of the window
    mean: np.ndarray  # of feature
    spread: np.ndarray  # of feature
    node: np.ndarray  # of node


def make_rule(interval: int, oldest: int, quirks: bool) -> Rule:
    """b = ⌈λ/2⌉; with quirks λ/2, which the number of nodes never equals if λ is odd."""
    return Rule(interval, oldest, interval / 2 if quirks else float(math.ceil(interval / 2)), quirks)


def new_state(n_features: int, rule: Rule) -> State:
    """An empty model."""
    state = State(
        scalars=np.zeros(1, SCALARS),
        nodes=new_nodes(n_features),
        graph=graphs.new_graph(),
        window=np.zeros((int(rule.buffer), n_features)),
    )
    state.scalars["threshold"] = state.scalars["mean_scale"] = np.nan
    return state


def grow(state: State) -> State:
    """Copy the model with more room."""
    graph = graphs.grow(state.graph)
    return state._replace(graph=graph, nodes=grow_nodes(state.nodes, len(graph.first)))


@jit_allocating
def new_scratch(state):
    """Working memory for as many nodes as the state has room for."""
    d, n = state.window.shape[1], state.nodes.usage.shape[0]
    rows = np.empty(state.window.shape[0], np.int64)
    return Scratch(new_search_scratch(state.nodes), rows, np.empty(d), np.empty(d), np.empty(n, np.int64))


@jit
def remember(state, x):  # INOUT scalars, window
    """Count the sample and put it into the window."""
    scalars = state.scalars[0]
    copy_row(state.window[scalars.n_cycle % state.window.shape[0]], x)
    scalars.n_cycle += 1
    scalars.n_seen += 1


@jit
def window_bandwidth(state, x, rule, scratch):  # INOUT scratch
    """σ of the latest min(k, b) samples, including x."""
    k, size = state.scalars[0].n_cycle, state.window.shape[0]
    n = min(k, size)
    if n == 1 and rule.across:
        return bandwidth_across(x)
    rows = scratch.rows[:n]
    for i in range(n):  # oldest first
        rows[i] = (k - n + i) % size
    return bandwidth(state.window, rows, scratch.mean, scratch.spread)


@jit
def create(state, x, rule, scratch):  # INOUT nodes, graph, scalars.mean_scale, scratch
    """Add a node at x; returns the number of nodes."""
    n = 1 + add(state.nodes, state.graph, x, window_bandwidth(state, x, rule, scratch))
    state.scalars[0].mean_scale = mean_scale(state.nodes, n)
    return n


@jit
def buffer(state, x, rule, scratch):  # INOUT nodes, graph, scalars, scratch
    """Step 1: x becomes a node; when the buffer is full, V is estimated from all nodes."""
    scalars = state.scalars[0]
    n = create(state, x, rule, scratch)
    if n == rule.buffer:
        scalars.threshold = mean_gap(state.nodes, n, scalars.mean_scale, scratch.search)


@jit
def resonate(state, x, rule, scratch):  # INOUT nodes, graph, scalars, scratch
    """Steps 2 and 3. While V is NaN, all comparisons with it are false."""
    scalars, nodes, graph = state.scalars[0], state.nodes, state.graph
    n = graph.size[0].n_nodes
    first, second, to_first, to_second = nearest_two(nodes, n, x, scalars.mean_scale, scratch.search)
    if scalars.threshold < to_first:  # case I
        create(state, x, rule, scratch)
        return
    graphs.add_to_ages(graph, first, 1)
    graphs.cut_older(graph, first, rule.oldest, scratch.node)
    pull(nodes, first, x, float(nodes.usage[first]))  # by the old count: the first win moves the node onto x
    nodes.usage[first] += 1
    if scalars.threshold >= to_second:  # case III; false if there is no second node
        pull_neighbours(nodes, graph, first, x)
        graphs.set_age(graph, first, second, 0)


@jit
def prune(state, scratch):  # INOUT nodes, graph, scalars, scratch
    """Step 4: delete every node without an edge. With the last node, V is lost."""
    scalars = state.scalars[0]
    scalars.mean_scale = drop_isolated(state.nodes, state.graph, scratch.node)
    if state.graph.size[0].n_nodes == 0:
        scalars.threshold = np.nan


@kernel
def learn_rows(state, X, start, rule):  # INOUT state
    """Learn the rows from `start`, each once; returns the first row for which there was no room."""
    state = refer(state)
    scalars, graph = state.scalars[0], state.graph
    scratch = new_scratch(state)
    for i in range(start, X.shape[0]):
        if not graphs.has_room(graph):
            return i
        remember(state, X[i])
        if graph.size[0].n_nodes < rule.buffer:
            buffer(state, X[i], rule, scratch)
        else:
            resonate(state, X[i], rule, scratch)
        if scalars.n_cycle % rule.interval == 0 and graph.size[0].n_nodes > 1:
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
        yield state
