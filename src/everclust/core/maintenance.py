"""The rules run every Λ samples, in their order.

Cost: the nodes touched since the last time, the edges, and the active nodes without an edge (which are
quiet unless touched, so they do not stay on the list for long). All nodes only when some are dropped.
"""

import numpy as np

from ..jit.blocks import copy_row
from ..jit.compile import jit, jit_allocating
from ..jit.quantiles import fences
from .nearest import cast_shadow, forget_shadow
from .topology import ANYTHING, NOBODY, cut, list_changed, measure, rejoin

QUIET_ROUNDS = 2
NO_GAIN = -1.0


@jit_allocating
def maintain(state, capped):
    """All of it, with working memory for a number per edge or node touched."""
    clock = state.clock[0]
    follow_rules(state, capped, np.empty(max(clock.n_edges, clock.n_touched)))


@jit
def follow_rules(state, capped, values):  # INOUT state, values
    """Cut, drop, retire; then start counting gains afresh."""
    clock = state.clock[0]
    if clock.n_edges > 0:
        cut_long_edges(state, values[: clock.n_edges], capped)
    drop_single_use_nodes(state)
    if clock.n_loose > 0:
        retire_quiet_nodes(state, quiet_bound(state, values))
    # The snapshots of usage and evidence: what is gained from here on counts for the next round.
    for i in range(clock.n_touched):
        state.node[state.node[i].touched].gain = 0
    clock.n_touched = 0


@jit
def cut_long_edges(state, lengths, capped):  # INOUT lengths, pair.edge, clock.n_edges, (graph)
    """Remove every edge strictly longer than Q3 + 1.5·IQR of all edge lengths."""
    clock = state.clock[0]
    n_edges = clock.n_edges
    for e in range(n_edges):
        lengths[e] = measure(state, state.pair[e].edge, capped)
    fence = fences(lengths)[1]
    n_kept = 0
    for e in range(n_edges):
        row = state.pair[e].edge
        if state.pair[row].length > fence:
            cut(state, row)
        else:
            state.pair[n_kept].edge = row
            n_kept += 1
    clock.n_edges = n_kept
    if n_kept < n_edges:
        rejoin(state)
        clock.change = ANYTHING


@jit
def drop_single_use_nodes(state):  # INOUT node, prototype, shadow, clock.n_nodes
    """Of the nodes used once, keep the newest Λ. They have no seat, so the graph is not concerned."""
    clock = state.clock[0]
    n_surplus = clock.n_nodes - clock.used_nodes - clock.interval
    if clock.used_nodes == 0 or n_surplus <= 0:
        return
    n_kept = 0
    for k in range(clock.n_nodes):
        if n_surplus > 0 and state.node[k].usage == 1:
            n_surplus -= 1
            if state.node[k].scale == clock.widest:
                clock.widest = -1.0
        else:
            if n_kept < k:
                move_node(state, k, n_kept)
            n_kept += 1
    for k in range(n_kept, clock.n_nodes):
        forget_shadow(state, k)
    clock.n_nodes = n_kept
    clock.n_touched = 0
    for k in range(n_kept):
        if state.node[k].gain != 0:
            state.node[clock.n_touched].touched = k
            clock.n_touched += 1


@jit
def move_node(state, k, to):  # INOUT node, prototype, shadow, seat.node
    """Node k becomes node `to`."""
    copy_row(state.prototype[to], state.prototype[k])
    source, target = state.node[k], state.node[to]
    target.usage = source.usage
    target.scale = source.scale
    target.active = source.active
    target.idle = source.idle
    target.gain = source.gain
    target.last_won = source.last_won
    target.community = source.community
    target.birth = source.birth
    target.seat = source.seat
    if target.seat != NOBODY:
        state.seat[target.seat].node = to
    cast_shadow(state, to)


@jit
def quiet_bound(state, gains):  # INOUT gains
    """max(Q1 − 1.5·IQR, 0) over the positive gains."""
    n = 0
    for i in range(state.clock[0].n_touched):
        gain = state.node[state.node[i].touched].gain
        if gain > 0:
            gains[n] = gain
            n += 1
    return max(fences(gains[:n])[0], 0.0) if n > 0 else NO_GAIN


@jit
def retire_quiet_nodes(state, bound):  # INOUT node.active, node.idle, seat, clock.n_active, clock.n_loose
    """An active node without an edge that stays quiet for two rounds in a row becomes inactive."""
    clock = state.clock[0]
    n_kept = 0
    for i in range(clock.n_loose):
        seat = state.seat[state.seat[i].loose]
        node = state.node[seat.node]
        stays = seat.degree == 0
        quiet = stays and bound != NO_GAIN and node.gain <= bound
        node.idle = node.idle + 1 if quiet else 0
        if node.idle == QUIET_ROUNDS:
            node.idle = 0
            node.active = False
            clock.n_active -= 1
            list_changed(state, node.seat)
            stays = False
        seat.is_loose = stays
        if stays:
            state.seat[n_kept].loose = node.seat
            n_kept += 1
    clock.n_loose = n_kept
