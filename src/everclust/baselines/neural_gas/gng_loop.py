"""Growing Neural Gas: one sample ("signal"), step by step.

The errors of all nodes decay with every signal. Instead of multiplying all of them, `error` is stored in
units of `fade`, the current power of δ: a node's accumulated error is error·fade.
"""

from typing import NamedTuple

import numpy as np

from ...jit.blocks import LANES
from ...jit.compile import jit, jit_allocating, kernel, record
from ...jit.reference import refer
from ..graph import graph as graphs
from ..graph import prototypes
from ..graph.graph import NONE, Graph, add_node, add_to_ages, cut_older, drop_nodes, remove_edge, set_age
from ..graph.prototypes import approach, nearest_two, put, put_between, take

FAINT = 2.0**-60  # below it, the errors are multiplied by it and it is reset to 1

SCALARS = record(
    ("n_seen", np.int64),  # t, signals presented
    ("fade", np.float64),  # unit of the errors
)


class State(NamedTuple):
    """The model. Arrays have spare room; the graph holds the number of nodes."""

    scalars: np.ndarray  # one record
    blocks: np.ndarray  # w, positions of the nodes, in lanes
    error: np.ndarray  # err, accumulated squared errors in units of scalars.fade
    graph: Graph


class Rules(NamedTuple):
    """The parameters."""

    eps_b: float
    eps_n: float
    a_max: int
    interval: int  # λ
    alpha: float
    delta: float
    max_nodes: int


class Scratch(NamedTuple):
    """Working memory, allocated once per call of the kernel."""

    distance: np.ndarray
    first: np.ndarray  # the first sample, while it waits for the second
    lost: np.ndarray
    keep: np.ndarray


def new_state(n_features: int) -> State:
    """An empty network."""
    graph = graphs.new_graph()
    scalars = np.zeros(1, SCALARS)
    scalars["fade"] = 1.0
    room = len(graph.first)
    return State(scalars, prototypes.new_blocks(n_features, room), np.zeros(room), graph)


def start_from(state: State, points: np.ndarray) -> None:  # INOUT state
    """Start with nodes at these two points instead of the first two samples."""
    _put_nodes(state, points)


@kernel
def _put_nodes(state, points):  # INOUT state
    for point in points:
        put(state.blocks, create(state), point)


def grow(state: State) -> State:
    """Copy the network with more room."""
    graph = graphs.grow(state.graph)
    error = np.zeros(len(graph.first))
    error[: len(state.error)] = state.error
    grown = len(error) > len(state.error)
    return State(state.scalars, prototypes.grow(state.blocks) if grown else state.blocks, error, graph)


@jit_allocating
def new_scratch(state):
    """Working memory for as many nodes as the state has room for."""
    n_features, room = state.blocks.shape[1], state.error.shape[0]
    return Scratch(
        distance=np.empty(LANES),
        first=np.empty(n_features),
        lost=np.empty(room, np.int64),
        keep=np.ones(room, np.bool_),
    )


@jit
def create(state):  # INOUT graph, error
    """Add a node with error 0, without a position; returns its number."""
    k = add_node(state.graph)
    state.error[k] = 0.0
    return k


@jit
def begin(state, x, rules, scratch):  # INOUT state, scratch
    """Make the first two samples nodes, then learn both as signals."""
    put(state.blocks, create(state), x)
    if state.graph.size[0].n_nodes == 2:
        take(state.blocks, 0, scratch.first)
        present(state, scratch.first, rules, scratch)
        present(state, x, rules, scratch)


@jit
def present(state, x, rules, scratch):  # INOUT state, scratch
    """Learn one signal."""
    scalars, graph = state.scalars[0], state.graph
    scalars.n_seen += 1
    first, second, away, _ = nearest_two(state.blocks, graph.size[0].n_nodes, x, scratch.distance)
    add_to_ages(graph, first, 1)
    state.error[first] += away / scalars.fade
    attract(state, first, x, rules)
    set_age(graph, first, second, 0)
    n_lost, _ = cut_older(graph, first, rules.a_max, scratch.lost)
    drop_isolated(state, scratch.lost[:n_lost], scratch.keep)
    if scalars.n_seen % rules.interval == 0 and graph.size[0].n_nodes < rules.max_nodes:
        insert_node(state, rules)
    fade(state, rules.delta)


@jit
def attract(state, first, x, rules):  # INOUT blocks
    """Move the nearest node and its neighbours towards x."""
    approach(state.blocks, first, x, rules.eps_b)
    h = state.graph.first[first]
    while h != NONE:
        approach(state.blocks, state.graph.end[h], x, rules.eps_n)
        h = state.graph.after[h]


@jit
def drop_isolated(state, suspects, keep):  # INOUT state, (keep)
    """Remove the suspects that have no edge left; keep is all true before and after."""
    n_lonely = 0
    for k in suspects:
        if state.graph.degree[k] == 0:
            keep[k] = False
            n_lonely += 1
    if n_lonely == 0:
        return
    n_nodes = state.graph.size[0].n_nodes
    prototypes.drop(state.blocks, n_nodes, keep)
    close_up(state.error[:n_nodes], keep)
    drop_nodes(state.graph, keep)
    keep[:n_nodes] = True


@jit
def close_up(values, keep):  # INOUT values
    """Move the values with keep[i] true to the front."""
    to = 0
    for k in range(values.shape[0]):
        values[to] = values[k]
        to += keep[k]


@jit
def insert_node(state, rules):  # INOUT state
    """Split the edge between the node with the largest error and its neighbour with the largest error."""
    graph, error = state.graph, state.error
    q = 0
    for k in range(1, graph.size[0].n_nodes):
        if error[k] > error[q]:
            q = k
    f = worst_neighbour(state, q)
    if f == NONE:
        return
    r = create(state)
    put_between(state.blocks, r, q, f)
    remove_edge(graph, q, f)
    set_age(graph, q, r, 0)
    set_age(graph, f, r, 0)
    error[q] *= rules.alpha
    error[f] *= rules.alpha
    error[r] = error[q]


@jit
def worst_neighbour(state, q):
    """The neighbour with the largest error, ties to the lowest index, or NONE."""
    worst, h = NONE, state.graph.first[q]
    while h != NONE:
        k = state.graph.end[h]
        error = state.error[k]
        if worst == NONE or error > state.error[worst] or (error == state.error[worst] and k < worst):
            worst = k
        h = state.graph.after[h]
    return worst


@jit
def fade(state, delta):  # INOUT scalars.fade, error
    """err ← δ·err for all nodes."""
    scalars = state.scalars[0]
    scalars.fade *= delta
    if scalars.fade < FAINT:
        for k in range(state.graph.size[0].n_nodes):
            state.error[k] *= scalars.fade
        scalars.fade = 1.0


@kernel
def learn_rows(state, X, start, rules):  # INOUT state
    """Learn the rows from `start`; returns the first row for which there was no room."""
    state = refer(state)
    scratch = new_scratch(state)
    for i in range(start, X.shape[0]):
        if not graphs.has_room(state.graph):
            return i
        if state.graph.size[0].n_nodes < 2:
            begin(state, X[i], rules, scratch)
        else:
            present(state, X[i], rules, scratch)
    return X.shape[0]


def learn(state: State, X: np.ndarray, rules: Rules) -> State:
    """Learn all rows in place; returns the state, or the larger copy that replaces it."""
    done = learn_rows(state, X, 0, rules)
    while done < len(X):
        state = grow(state)
        done = learn_rows(state, X, done, rules)
    return state
