"""Compiles the kernels that read a model out, for a process that compiles the one that learns meanwhile."""

import sys
from typing import Any

import numpy as np

from .coarse import assign_coarsely, coarse_copy
from .communities.coarse_vote import vote_coarsely
from .communities.linked_nodes import gather
from .communities.matching import NO_MEMBERS, Members, count_arrivals, match_groups, tell_nodes
from .communities.newcomers import group_newcomers
from .communities.valleys import find_clusters
from .communities.voting import Voters, n_neighbours, vote, vote_weights
from .handovers import births_of
from .readout import assign, read_out
from .state import State, allocate

N_NODES, N_FEATURES = 6, 2


def compile_all() -> None:
    """Compile the kernels in the order in which they are needed, and name each when it is done."""
    state, X = _some_state(), np.zeros((1, N_FEATURES))
    whole, label = read_out(state), np.zeros(1, np.int64)
    _compile(assign, whole, X, label, np.empty(1))
    base = _compile(gather, state.node, N_NODES, state.prototype, state.handover)
    cluster = _compile(find_clusters, base.position, state.weight, base.links, base.before, 1.0)
    matched = _compile(match_groups, NO_MEMBERS, base.births, base.wins, cluster, 0, base.links)
    weights = _compile(vote_weights, base.links, cluster)
    voters, k, coarse = Voters(cluster, weights), n_neighbours(N_NODES), coarse_copy(whole)
    _compile(vote_coarsely, whole, coarse, voters, k, X, label)
    _compile(vote, whole, voters, k, X, label)
    told = _compile(tell_nodes, base, matched, cluster, matched.group_ids, matched.ids, state.node)
    _compile(count_arrivals, Members(base.births, *told[:3]), state.node, N_NODES)
    _compile(group_newcomers, state.handover, births_of(state), state.node[:N_NODES], 0)
    _compile(assign_coarsely, whole, coarse, X, label, np.empty(1))


def _compile(kernel: Any, *arguments: Any) -> Any:
    result = kernel(*arguments)
    sys.stdout.write(f"{kernel.__name__}\n")
    sys.stdout.flush()
    return result


def _some_state() -> State:
    """Nodes on a line, each of which hands over to the next."""
    state = allocate(N_FEATURES, nodes=N_NODES)
    state.scalars["n_nodes"] = N_NODES
    state.prototype[:N_NODES] = np.arange(N_NODES)[:, None]
    state.node["usage"][:N_NODES] = state.node["wins"][:N_NODES] = 2
    state.node["scale"][:N_NODES] = 1.0
    state.node["birth"][:N_NODES] = np.arange(N_NODES)
    for k in range(N_NODES - 1):
        state.handover[k] = (k, k + 1, 3)
    return state
