"""The state of SOINN+, its constants, and its working memory."""

from typing import NamedTuple

import numpy as np

from ...jit.blocks import LANES
from ...jit.compile import jit_allocating, record
from ..graph import graph as graphs
from ..graph import prototypes
from ..graph.graph import Graph

SCALARS = record(
    ("n_seen", np.int64),  # t
    ("n_links", np.int64),  # n_L, edges that were confirmed
    ("first_mean", np.float64),  # μ, mean threshold (not squared) of the first and second winners of these
    ("second_mean", np.float64),
    ("first_square_sum", np.float64),  # S, sums of squared deviations
    ("second_square_sum", np.float64),
    ("n_cut", np.int64),  # E_n, edges cut
    ("cut_age", np.float64),  # E_m, their mean age
    ("n_dropped", np.int64),  # D_n, nodes dropped
    ("dropped_idleness", np.float64),  # D_u, their mean idleness
)
NODE = record(
    ("wins", np.int64),  # WT
    ("stamp", np.int64),  # TS, time of the latest win
)


class State(NamedTuple):
    """The model. Arrays have spare room; the graph holds the number of nodes."""

    scalars: np.ndarray  # one record
    node: np.ndarray
    blocks: np.ndarray  # w, positions of the nodes, in lanes
    graph: Graph  # the age of an edge is its lifetime


class Rules(NamedTuple):
    """The constants."""

    link_factor: float
    edge_factor: float
    node_factor: float
    neighbour_divisor: float
    sums_indices: bool  # count a removed node by its index, as the reference does


class Scratch(NamedTuple):
    """Working memory, allocated once per call of the kernel."""

    distance: np.ndarray
    position: np.ndarray
    lost: np.ndarray
    keep: np.ndarray  # all true between two uses
    component: np.ndarray
    value: np.ndarray  # one number per node or edge


def new_state(n_features: int) -> State:
    """An empty network."""
    graph = graphs.new_graph()
    room = len(graph.first)
    return State(np.zeros(1, SCALARS), np.zeros(room, NODE), prototypes.new_blocks(n_features, room), graph)


def grow(state: State) -> State:
    """Copy the network with more room."""
    graph = graphs.grow(state.graph)
    if len(graph.first) == len(state.node):
        return state._replace(graph=graph)
    node = np.concatenate([state.node, np.zeros_like(state.node)])
    return State(state.scalars, node, prototypes.grow(state.blocks), graph)


@jit_allocating
def new_scratch(state):
    """Working memory for as many nodes and edges as the state has room for."""
    room = state.node.shape[0]
    return Scratch(
        distance=np.empty(LANES),
        position=np.empty(state.blocks.shape[1]),
        lost=np.empty(room, np.int64),
        keep=np.ones(room, np.bool_),
        component=np.empty(room, np.int64),
        value=np.empty(max(room, state.graph.age.shape[0])),
    )
