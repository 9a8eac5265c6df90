"""The rules run every Λ samples, in their order.

Cost: the nodes touched since the last time, the edges, and the active nodes without an edge (which are
quiet unless touched, so they do not stay on the list for long). All nodes only when some are dropped.
"""

import numpy as np

from ..jit.blocks import copy_row
from ..jit.compile import jit, jit_allocating
from ..jit.quantiles import fences
from .layout import ALL_CHANGED, NONE
from .nearest import clear_coarse, update_coarse
from .topology import cut, edge_length, mark_changed, rejoin

QUIET_ROUNDS = 2
NO_ACTIVITY = -1.0


@jit_allocating
def maintain(state, capped):
    """All of it, with working memory for a number per edge or node touched."""
    scalars = state.scalars[0]
    _maintain(state, capped, np.empty(max(scalars.n_edges, scalars.n_touched)))


@jit
def _maintain(state, capped, values):  # INOUT state, values
    """Cut, drop, retire; then start counting activities afresh."""
    scalars = state.scalars[0]
    if scalars.n_edges > 0:
        cut_long_edges(state, values[: scalars.n_edges], capped)
    drop_single_use_nodes(state)
    if scalars.n_isolated > 0:
        retire_quiet_nodes(state, quiet_bound(state, values))
    # The snapshots of usage and evidence: what is gained from here on counts for the next round.
    for i in range(scalars.n_touched):
        state.node[state.touched[i]].activity = 0
    scalars.n_touched = 0


@jit
def cut_long_edges(state, lengths, capped):  # INOUT lengths, edge, scalars.n_edges, (graph)
    """Remove every edge strictly longer than Q3 + 1.5·IQR of all edge lengths."""
    scalars = state.scalars[0]
    n_edges = scalars.n_edges
    for e in range(n_edges):
        lengths[e] = edge_length(state, state.edge[e], capped)
    fence = fences(lengths)[1]
    n_kept = 0
    for e in range(n_edges):
        row = state.edge[e]
        if state.pair[row].length > fence:
            cut(state, row)
        else:
            state.edge[n_kept] = row
            n_kept += 1
    scalars.n_edges = n_kept
    if n_kept < n_edges:
        rejoin(state)
        scalars.n_changed = ALL_CHANGED


@jit
def drop_single_use_nodes(state):  # INOUT node, prototype, coarse, scalars.n_nodes
    """Of the nodes used once, keep the newest Λ. They have no slot, so the graph is not affected."""
    scalars = state.scalars[0]
    n_surplus = scalars.n_nodes - scalars.used_nodes - scalars.interval
    if scalars.used_nodes == 0 or n_surplus <= 0:
        return
    n_kept = 0
    for k in range(scalars.n_nodes):
        if n_surplus > 0 and state.node[k].usage == 1:
            n_surplus -= 1
            if state.node[k].scale == scalars.widest:
                scalars.widest = -1.0
        else:
            if n_kept < k:
                move_node(state, k, n_kept)
            n_kept += 1
    for k in range(n_kept, scalars.n_nodes):
        clear_coarse(state, k)
    scalars.n_nodes = n_kept
    scalars.n_touched = 0
    for k in range(n_kept):
        if state.node[k].activity != 0:
            state.touched[scalars.n_touched] = k
            scalars.n_touched += 1


@jit
def move_node(state, k, to):  # INOUT node, prototype, coarse, slot.node
    """Node k becomes node `to`."""
    copy_row(state.prototype[to], state.prototype[k])
    source, target = state.node[k], state.node[to]
    target.usage = source.usage
    target.wins = source.wins
    target.scale = source.scale
    target.active = source.active
    target.idle = source.idle
    target.activity = source.activity
    target.last_won = source.last_won
    target.community = source.community
    target.birth = source.birth
    target.slot = source.slot
    if target.slot != NONE:
        state.slot[target.slot].node = to
    update_coarse(state, to)


@jit
def quiet_bound(state, activities):  # INOUT activities
    """max(Q1 − 1.5·IQR, 0) over the positive activities."""
    n = 0
    for i in range(state.scalars[0].n_touched):
        activity = state.node[state.touched[i]].activity
        if activity > 0:
            activities[n] = activity
            n += 1
    return max(fences(activities[:n])[0], 0.0) if n > 0 else NO_ACTIVITY


@jit
def retire_quiet_nodes(
    state, bound
):  # INOUT node.active, node.idle, slot, scalars.n_active, scalars.n_isolated
    """An active node without an edge that stays quiet for two rounds in a row becomes inactive."""
    scalars = state.scalars[0]
    n_kept = 0
    for i in range(scalars.n_isolated):
        slot = state.slot[state.isolated[i]]
        node = state.node[slot.node]
        stays = slot.degree == 0
        quiet = stays and bound != NO_ACTIVITY and node.activity <= bound
        node.idle = node.idle + 1 if quiet else 0
        if node.idle == QUIET_ROUNDS:
            node.idle = 0
            node.active = False
            scalars.n_active -= 1
            mark_changed(state, node.slot)
            stays = False
        slot.is_isolated = stays
        if stays:
            state.isolated[n_kept] = node.slot
            n_kept += 1
    scalars.n_isolated = n_kept
