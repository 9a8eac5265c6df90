"""An undirected graph whose edges have an age, for compiled loops.

Edge e is two *half-edges*, 2e and 2e + 1, one in the list of each of its ends. Half-edge h leads to
`end[h]`, its twin h ^ 1 leads back, and `after[h]` is the next one in the same list. So an edge has one
age, memory is proportional to the number of edges, and no list is ever full. The edges of node k:

    h = graph.first[k]
    while h != NONE:
        following = graph.after[h]  # read it first, in case h is cut
        ...  # the neighbour is graph.end[h], the age of the edge is graph.age[h >> 1]
        h = following

The order within a list has no meaning; callers break ties between neighbours.
"""

from typing import Any, NamedTuple

import numpy as np

from ...jit.compile import jit, record

NONE = -1
ROOM = 64  # nodes and edges of a new graph
SPARE = 4  # `has_room` promises room for one node and this many edges

SIZE = record(
    ("n_nodes", np.int64),
    ("n_edges", np.int64),
    ("n_slots", np.int64),  # edge slots used so far; free ones form a list
    ("free", np.int64),  # first half-edge of the first free slot, or NONE
)


class Graph(NamedTuple):
    """Nodes 0 … n_nodes − 1. Arrays have spare room."""

    size: np.ndarray  # one row: counts
    first: np.ndarray  # of node: its first half-edge, or NONE
    degree: np.ndarray  # of node: number of its edges
    work: np.ndarray  # of node: working memory
    end: np.ndarray  # of half-edge: the node it leads to; NONE in a free slot
    after: np.ndarray  # of half-edge: the next in the same list, or NONE
    age: np.ndarray  # of edge


def new_graph(nodes: int = ROOM, edges: int = ROOM) -> Graph:
    """An empty graph with room for this many nodes."""
    graph = Graph(
        size=np.zeros(1, SIZE),
        first=np.full(nodes, NONE),
        degree=np.zeros(nodes, np.int64),
        work=np.zeros(nodes, np.int64),
        end=np.full(2 * edges, NONE),
        after=np.full(2 * edges, NONE),
        age=np.zeros(edges, np.int64),
    )
    graph.size["free"] = NONE
    return graph


@jit
def has_room(graph):
    """True if a node and SPARE edges can be added."""
    size = graph.size[0]
    return size.n_nodes < graph.first.shape[0] and size.n_edges + SPARE <= graph.age.shape[0]


def grow(graph: Graph) -> Graph:
    """Copy the graph, doubling the arrays that are full."""
    n_nodes, n_edges = int(graph.size["n_nodes"][0]), int(graph.size["n_edges"][0])
    nodes, edges = len(graph.first), len(graph.age)
    bigger = new_graph(
        2 * nodes if n_nodes == nodes else nodes, 2 * edges if n_edges + SPARE > edges else edges
    )
    for old, new in zip(graph, bigger, strict=True):
        new[: len(old)] = old
    return bigger


def copy(graph: Graph) -> Graph:
    """An independent copy."""
    return Graph(*(array.copy() for array in graph))


@jit
def add_node(graph):  # INOUT graph
    """Add a node without edges; returns its number."""
    size = graph.size[0]
    k = size.n_nodes
    graph.first[k] = NONE
    graph.degree[k] = 0
    size.n_nodes += 1
    return k


@jit
def find(graph, i, j):
    """The half-edge from i to j, or NONE; searches the shorter list."""
    a, b = (i, j) if graph.degree[i] <= graph.degree[j] else (j, i)
    h = graph.first[a]
    while h != NONE and graph.end[h] != b:
        h = graph.after[h]
    return h if h == NONE or a == i else h ^ 1


@jit
def set_age(graph, i, j, age):  # INOUT graph
    """Set the age of the edge i–j, adding the edge if it is missing; returns whether it existed."""
    h = find(graph, i, j)
    if h != NONE:
        graph.age[h >> 1] = age
        return True
    h = take_slot(graph)
    graph.age[h >> 1] = age
    attach(graph, h, i, j)
    attach(graph, h ^ 1, j, i)
    graph.size[0].n_edges += 1
    return False


@jit
def take_slot(graph):  # INOUT size
    """Take a free slot; returns its even half-edge."""
    size = graph.size[0]
    if size.free == NONE:
        size.n_slots += 1
        return 2 * (size.n_slots - 1)
    h = size.free
    size.free = graph.after[h]
    return h


@jit
def attach(graph, h, i, j):  # INOUT end, after, first, degree
    """Add half-edge h, which leads to j, to the list of i."""
    graph.end[h] = j
    graph.after[h] = graph.first[i]
    graph.first[i] = h
    graph.degree[i] += 1


@jit
def detach(graph, h, i):  # INOUT end, after, first, degree
    """Remove half-edge h from the list of i."""
    if graph.first[i] == h:
        graph.first[i] = graph.after[h]
    else:
        before = graph.first[i]
        while graph.after[before] != h:
            before = graph.after[before]
        graph.after[before] = graph.after[h]
    graph.degree[i] -= 1


@jit
def cut(graph, h):  # INOUT graph
    """Remove the edge that half-edge h belongs to."""
    size = graph.size[0]
    i, j = graph.end[h ^ 1], graph.end[h]
    detach(graph, h, i)
    detach(graph, h ^ 1, j)
    graph.end[h] = graph.end[h ^ 1] = NONE
    even = h & ~1
    graph.after[even] = size.free
    size.free = even
    size.n_edges -= 1


@jit
def remove_edge(graph, i, j):  # INOUT graph
    """Remove the edge i–j if it exists; returns whether it did."""
    h = find(graph, i, j)
    if h != NONE:
        cut(graph, h)
    return h != NONE


@jit
def add_to_ages(graph, k, years):  # INOUT age
    """Add `years` to the age of all edges of node k."""
    h = graph.first[k]
    while h != NONE:
        graph.age[h >> 1] += years
        h = graph.after[h]


@jit
def ages_of(graph, k, out):  # INOUT out
    """Write the ages of node k's edges to `out`; returns their number."""
    n, h = 0, graph.first[k]
    while h != NONE:
        out[n] = graph.age[h >> 1]
        n += 1
        h = graph.after[h]
    return n


@jit
def cut_older(graph, k, limit, lost):  # INOUT graph, lost
    """Remove node k's edges that are older than the limit.

    Writes the neighbours that k loses to `lost`; returns their number and the sum of the edges' ages.
    """
    n, total, h = 0, 0, graph.first[k]
    while h != NONE:
        following = graph.after[h]
        if graph.age[h >> 1] > limit:
            lost[n] = graph.end[h]
            n += 1
            total += graph.age[h >> 1]
            cut(graph, h)
        h = following
    return n, total


@jit
def drop_nodes(graph, keep):  # INOUT graph
    """Remove the nodes with keep[k] false and their edges, and renumber the rest; returns how many are left.

    The order stays the same: callers compact their own arrays of nodes in the same way.
    """
    size, number = graph.size[0], graph.work
    for k in range(size.n_nodes):
        while not keep[k] and graph.first[k] != NONE:
            cut(graph, graph.first[k])
    n_kept = 0
    for k in range(size.n_nodes):
        number[k] = n_kept
        if keep[k]:
            graph.first[n_kept], graph.degree[n_kept] = graph.first[k], graph.degree[k]
            n_kept += 1
    for h in range(2 * size.n_slots):
        if graph.end[h] != NONE:
            graph.end[h] = number[graph.end[h]]
    size.n_nodes = n_kept
    return n_kept


def size_of(graph: Graph) -> Any:
    """The counts by name, for plain Python."""
    return graph.size.view(np.recarray)[0]


def edges(graph: Graph) -> tuple[np.ndarray, np.ndarray]:
    """Edges as sorted pairs of nodes i < j, shape (m, 2), and their ages."""
    slots = np.flatnonzero(graph.end[::2] != NONE)
    ends = np.sort(np.stack([graph.end[2 * slots], graph.end[2 * slots + 1]], axis=1), axis=1)
    order = np.lexsort(ends.T[::-1])
    return ends[order], graph.age[slots[order]]
