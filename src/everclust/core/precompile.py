"""Compiles the kernels that are needed after the one that learns, one half of them in another process."""

import sys
from typing import Any

import numpy as np

from .coarse import assign_coarsely, coarse_copy
from .communities.coarse_vote import vote_coarsely
from .communities.homogeneity import Past, compare_intervals, find_wins
from .communities.linked_nodes import Base, gather
from .communities.matching import NO_MEMBERS, Members, count_arrivals, match_groups, report_nodes
from .communities.newcomers import group_newcomers
from .communities.valleys import find_clusters
from .communities.voting import Voters, n_neighbours, vote, vote_weights
from .handovers import births_of, insert_rows
from .pair_table import rehash
from .readout import assign, read_out
from .state import State, allocate

N_NODES, N_FEATURES = 6, 2
COMPONENTS, HANDOVER = "components", "handover"  # what a cluster is

#: What the other process compiles, in the order in which it is needed. To compile the kernel that finds
#: communities takes longer than the one that learns: what remains is compiled here.
THERE = {
    COMPONENTS: ("rehash", "insert_rows", "assign_coarsely", "assign"),
    HANDOVER: ("rehash", "insert_rows", "gather", "find_clusters", "vote"),
}


def compile_there(clusters: str) -> None:
    """Compile what THERE names, and name each kernel when it is done."""
    state, X, label = _some_state(), np.zeros((1, N_FEATURES)), np.zeros(1, np.int64)
    _compile(rehash, state)
    _compile(insert_rows, allocate(N_FEATURES), state.handover)
    whole = read_out(state)
    if clusters == COMPONENTS:
        _compile(assign_coarsely, whole, coarse_copy(whole), X, label, np.empty(1))
        _compile(assign, whole, X, label, np.empty(1))
        return
    nodes = state.node, N_NODES, state.prototype, state.handover
    base = _compile(gather, *nodes, state.weight, 0.0, np.inf)
    known = base.position, state.weight, base.links, base.before, 1.0
    _compile(find_clusters, *known, base.wins, np.inf)
    _compile(vote, whole, _some_voters(), n_neighbours(N_NODES), X, label)


def compile_here(clusters: str) -> None:
    """Compile the rest."""
    if clusters == HANDOVER:
        state, X, label = _some_state(), np.zeros((1, N_FEATURES)), np.zeros(1, np.int64)
        whole, voters = read_out(state), _some_voters()
        vote_coarsely(whole, coarse_copy(whole), voters, n_neighbours(N_NODES), X, label)
        group_newcomers(state.handover, births_of(state), state.node[:N_NODES], 0, 0)
        base, group = _some_base(state), voters.cluster
        vote_weights(base.links, group)
        matched = match_groups(NO_MEMBERS, base.births, base.wins, group, 0, base.links)
        now = report_nodes(base, matched, group, matched.group_ids, matched.ids, state.node)
        count_arrivals(Members(base.births, *now[:3]), state.node, N_NODES)
        past = Past(base.births, base.wins, base.wins)
        compare_intervals(past, base, now.reported)
        find_wins(past, base.births)


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


def _some_base(state: State) -> Base:
    """All nodes, without links, as `gather` returns them."""
    births, wins = (state.node[name][:N_NODES].copy() for name in ("birth", "wins"))
    group, links = np.zeros(N_NODES, np.int64), np.zeros((1, 3), np.int64)
    return Base(np.arange(N_NODES), births, wins, group, state.prototype[:N_NODES], links)


def _some_voters() -> Voters:
    """Weights are read-only, as in a snapshot: another type would be compiled again."""
    weights = np.ones(N_NODES)
    weights.flags.writeable = False
    return Voters(np.zeros(N_NODES, np.int64), weights)
