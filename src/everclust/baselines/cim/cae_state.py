"""The state of CAE: a flat tuple of arrays."""

from typing import Any, NamedTuple

import numpy as np

from ...jit.compile import jit_allocating, kernel, record
from ..graph import graph as graphs
from ..graph.graph import Graph
from .cim import Nodes, bandwidth, bandwidth_across, grow_nodes, new_nodes
from .search import new_scratch as new_search_scratch

UNKNOWN = 2**62  # stands for a number that is not known yet; larger than any real one

SCALARS = record(
    ("n_cycle", np.int64),  # k, samples since the count began
    ("n_seen", np.int64),  # samples learnt in all
    ("ready", np.bool_),  # True once there is a threshold
    ("n_active", np.int64),  # n_a, number of nodes created without a vigilance test
    ("interval", np.int64),  # λ_div
    ("threshold", np.float64),  # V
    ("first_scale", np.float64),  # σ₀
    ("fill_scale", np.float64),  # g, the σ of nodes created without a vigilance test
    ("mean_scale", np.float64),  # σ̄, over all nodes
    ("log_determinant", np.float64),  # of exp(D), while not ready
    ("n_cut", np.int64),  # E_n, edges cut so far
    ("cut_age", np.float64),  # E_m, their mean age
)


class Rule(NamedTuple):
    """The parameters, as the loop needs them."""

    max_nodes: int
    log_floor: float  # logarithm of the determinant below which nodes are no longer diverse


class State(NamedTuple):
    """The model. Arrays have spare room."""

    scalars: np.ndarray  # one record
    nodes: Nodes
    graph: Graph
    used: np.ndarray  # of node: number of the sample that created it or that it won last
    factor: np.ndarray  # see diversity.py; empty once ready


class Scratch(NamedTuple):
    """Working memory, allocated once per call of the kernel."""

    search: Any
    mean: np.ndarray  # of feature
    spread: np.ndarray  # of feature
    number: np.ndarray  # of node
    node: np.ndarray  # of node
    value: np.ndarray  # of node


def new_state(rows: np.ndarray, n_active: int | None) -> State:
    """An empty model with σ₀ estimated from the first rows."""
    n_features = rows.shape[1]
    nodes = new_nodes(n_features)
    room = len(nodes.usage)
    state = State(
        np.zeros(1, SCALARS), nodes, graphs.new_graph(), np.zeros(room, np.int64), np.zeros((room, room))
    )
    scalars = state.scalars
    scalars["n_active"] = UNKNOWN if n_active is None else n_active
    scalars["interval"] = UNKNOWN
    scalars["threshold"] = scalars["mean_scale"] = np.nan
    scalars["first_scale"] = scalars["fill_scale"] = first_bandwidth(rows)
    return state


@kernel
def first_bandwidth(rows):
    """σ₀ of the first rows; a single row is measured across its features."""
    n, d = rows.shape
    if n == 1:
        return bandwidth_across(rows[0])
    return bandwidth(rows, np.arange(n), np.empty(d), np.empty(d))


def grow(state: State) -> State:
    """Copy the model with more room."""
    graph = graphs.grow(state.graph)
    room = len(graph.first)
    used, factor = np.zeros(room, np.int64), state.factor
    used[: len(state.used)] = state.used
    if 0 < len(factor) < room:
        factor = np.zeros((room, room))
        factor[: len(state.factor), : len(state.factor)] = state.factor
    return State(state.scalars, grow_nodes(state.nodes, room), graph, used, factor)


@jit_allocating
def new_scratch(state):
    """Working memory for as many nodes as the state has room for."""
    n, d = state.nodes.weight.shape
    search = new_search_scratch(state.nodes)
    return Scratch(
        search, np.empty(d), np.empty(d), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    )
