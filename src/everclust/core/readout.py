"""Nodes to clusters, samples to clusters. Reads the state and writes nothing into it."""

import math
from typing import NamedTuple

import numpy as np

from ..jit.blocks import LANES, least, pack, squared_distances, vector_of_squared_distances
from ..jit.compile import jit_inlined, kernel
from .layout import NO_CLUSTER, NONE
from .metric import vector_of_weighted_squared_distances, weighted_squared_distances
from .state import State, scalars_of


class ReadOut(NamedTuple):
    """Everything that is needed to assign samples, apart from the model: it can outlive it."""

    blocks: np.ndarray  # the candidates, in lanes
    scale: np.ndarray  # by which their distances are divided, one per lane
    node: np.ndarray  # their node numbers
    weight: np.ndarray  # ω, or nothing when the metric is Euclidean


def candidates(state: State) -> np.ndarray:
    """Nodes that take part in the answer: the active ones, or all when none is active."""
    n_nodes = scalars_of(state).n_nodes
    active = np.flatnonzero(state.node["active"][:n_nodes])
    return active if len(active) else np.arange(n_nodes)


def edges(state: State) -> np.ndarray:
    """Edges as pairs of nodes i < j, sorted, shape (m, 2)."""
    rows = state.edge[: scalars_of(state).n_edges]
    a, b = (state.slot["node"][state.pair[end][rows]] for end in ("a", "b"))
    i, j = np.minimum(a, b), np.maximum(a, b)
    return np.stack([i, j], axis=1)[np.argsort(i * scalars_of(state).n_nodes + j)]


def components(state: State) -> np.ndarray:
    """Connected component of every node, named by its lowest node."""
    scalars = scalars_of(state)
    component = np.arange(scalars.n_nodes)
    root = state.slot["parent"][: scalars.n_slots].copy()
    while (root[root] != root).any():
        root = root[root]
    slotted = np.flatnonzero(state.node["slot"][: scalars.n_nodes] != NONE)
    root = root[state.node["slot"][slotted]]
    lowest = np.full(scalars.n_slots, scalars.n_nodes)
    np.minimum.at(lowest, root, slotted)
    component[slotted] = lowest[root]
    return component


def cluster_ids(state: State) -> np.ndarray:
    """Permanent id of every node's cluster; those of nodes that are not active are NO_CLUSTER."""
    n_nodes = scalars_of(state).n_nodes
    ids = np.full(n_nodes, NO_CLUSTER)
    active = np.flatnonzero(state.node["active"][:n_nodes])
    ids[active] = state.slot["cluster"][cluster_roots(state, active)]
    return ids


def cluster_roots(state: State, active: np.ndarray) -> np.ndarray:
    """Slots that hold the ids of the clusters of active nodes."""
    slots = state.node["slot"][active]
    return state.slot["cluster_root"][slots]


def number_clusters(component: np.ndarray, candidate: np.ndarray) -> np.ndarray:
    """Cluster of every node, counted from 0.

    Components with a candidate come first, in the order in which `candidate` names them; then the rest.
    """
    order = np.concatenate([component[candidate], component])
    names, first = np.unique(order, return_index=True)
    number = np.empty(len(names), np.int64)
    number[np.argsort(first)] = np.arange(len(names))
    return number[np.searchsorted(names, component)]


def read_out(state: State, node: np.ndarray | None = None, by_scale: bool = True) -> ReadOut:
    """These candidates as they are now, to be compared by d/σ or else by plain distance."""
    node = candidates(state) if node is None else node
    blocks = pack(state.prototype[node])
    scale = np.ones(len(blocks) * LANES)
    if by_scale:
        scale[: len(node)] = state.node["scale"][node]
    weight = state.weight
    return ReadOut(blocks, scale, node, weight[: 0 if (weight == 1).all() else None].copy())


@jit_inlined
def measure_block(read_out, x, b, squared):  # INOUT squared
    """Squared distances of x to one block of candidates."""
    if read_out.weight.shape[0] == 0:
        squared_distances(x, read_out.blocks[b], squared)
    else:
        weighted_squared_distances(x, read_out.blocks[b], read_out.weight, squared)


@jit_inlined
def measure_vector(read_out, x, start, squared):  # INOUT squared
    """Squared distances of x to the candidates of one vector, with the bits of `measure_block`."""
    block, lane = read_out.blocks[start // LANES], start % LANES
    if read_out.weight.shape[0] == 0:
        vector_of_squared_distances(x, block, lane, squared)
    else:
        vector_of_weighted_squared_distances(x, block, lane, read_out.weight, squared)


@kernel
def assign(read_out, X, winner, nearness):  # INOUT winner, nearness
    """Winning node of every row and its d/σ: the least one, ties to the lowest node."""
    ratio = np.empty(LANES)
    for i in range(X.shape[0]):
        nearest = np.inf
        for b in range(read_out.blocks.shape[0]):
            measure_block(read_out, X[i], b, ratio)
            for lane in range(LANES):
                ratio[lane] = math.sqrt(ratio[lane]) / read_out.scale[b * LANES + lane]
            least_here = least(ratio)
            if least_here < nearest:
                nearest = least_here
                lane = 0
                while ratio[lane] != nearest:
                    lane += 1
                winner[i] = read_out.node[b * LANES + lane]
        nearness[i] = nearest
