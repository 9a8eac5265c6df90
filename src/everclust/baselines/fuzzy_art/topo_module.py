"""The state of a TopoART module.

Prototypes are numbered by age. All their arrays have the same order as the nodes of the graph.
"""

from typing import NamedTuple

import numpy as np

from ...jit.compile import jit_allocating, record
from ..graph import graph as graphs
from ..graph.graph import Graph, new_graph
from .fuzzy_art import ROOM, grown, new_weights

SCALARS = record(("n_presented", np.int64), ("n_created", np.int64))


class Module(NamedTuple):
    """Prototypes, as many as the graph has nodes. Arrays have spare room."""

    scalars: np.ndarray  # one record of counts
    graph: Graph
    weight: np.ndarray  # P, one column per prototype
    norm: np.ndarray  # |P|
    usage: np.ndarray  # c, items won
    name: np.ndarray  # number of prototypes created before it; never changes
    total: np.ndarray  # sum of its items' standardised rows, one row per prototype


class Rules(NamedTuple):
    """The parameters, as the loop needs them."""

    vigilance: float
    second_rate: float  # β_sb
    phi: int  # prototypes with at most this many wins are deleted
    tau: int  # number of items between deletions; 0 for never
    threshold: float  # η, of the correlation
    reference_quirks: bool


class Item(NamedTuple):
    """An item to learn."""

    code: np.ndarray  # I, complement-coded
    row: np.ndarray  # standardised
    start: np.ndarray  # of the row's blocks


class Scratch(NamedTuple):
    """Working memory, allocated once per call of the kernel."""

    choice: np.ndarray  # A
    match: np.ndarray  # s
    keep: np.ndarray


def new_module(n_items: int, n_numbers: int, row_width: int) -> Module:
    """An empty module for this many items."""
    weight = new_weights(n_numbers, min(n_items, ROOM))
    columns = weight.shape[1]
    return Module(
        scalars=np.zeros(1, SCALARS),
        graph=new_graph(columns),
        weight=weight,
        norm=np.zeros(columns),
        usage=np.zeros(columns, np.int64),
        name=np.zeros(columns, np.int64),
        total=np.zeros((columns, row_width)),
    )


def grow(module: Module) -> Module:
    """Copy the module with more room."""
    graph = graphs.grow(module.graph)  # only its arrays that are full
    if n_prototypes(module) < len(module.norm):
        return module._replace(graph=graph)
    weight = grown(module.weight)
    bigger = [np.zeros((weight.shape[1], *old.shape[1:]), old.dtype) for old in module[3:]]
    for old, new in zip(module[3:], bigger, strict=True):
        new[: len(old)] = old
    return Module(module.scalars, graph, weight, *bigger)


def n_prototypes(module: Module) -> int:
    """Number of prototypes."""
    return int(graphs.size_of(module.graph).n_nodes)


def prototypes(module: Module) -> np.ndarray:
    """P, one row per prototype."""
    return module.weight[:, : n_prototypes(module)].T.copy()


@jit_allocating
def new_scratch(module):
    """Working memory for as many prototypes as the module has room for."""
    n = module.norm.shape[0]
    return Scratch(np.empty(n), np.empty(n), np.empty(n, np.bool_))
