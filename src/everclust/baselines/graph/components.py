"""Connected components of a graph."""

import numpy as np

from ...jit.compile import jit, kernel
from .graph import NONE, Graph, size_of


@jit
def flood(graph, k, name, component, stack):  # INOUT component, stack
    """Label all nodes reachable from k; nodes that have a label already are not visited."""
    component[k] = name
    stack[0] = k
    n = 1
    while n > 0:
        n -= 1
        h = graph.first[stack[n]]
        while h != NONE:
            j = graph.end[h]
            if component[j] == NONE:
                component[j] = name
                stack[n] = j
                n += 1
            h = graph.after[h]


@kernel
def number_components(graph, component):  # INOUT component
    """Number the connected components from 0, by their lowest node; returns their number."""
    n_nodes, n = graph.size[0].n_nodes, 0
    stack = np.empty(n_nodes, np.int64)  # not graph.work: several threads may call this at once
    component[:n_nodes] = NONE
    for k in range(n_nodes):
        if component[k] == NONE:
            flood(graph, k, n, component, stack)
            n += 1
    return n


def components(graph: Graph) -> tuple[np.ndarray, int]:
    """Connected component of each node, numbered from 0 by lowest node, and the number of components."""
    component = np.empty(size_of(graph).n_nodes, np.int64)
    n = number_components(graph, component)
    return component, n
