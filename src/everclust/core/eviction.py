"""A bound on nodes: the one addition to the algorithm that forgets, for streams that drift for ever."""

import numpy as np

from ..jit.compile import jit, jit_allocating, kernel
from ..jit.quantiles import select
from ..jit.reference import refer
from .cluster_ids import update_ids
from .growth import has_room
from .layout import ALL_CHANGED, NONE
from .maintenance import move_node
from .nearest import clear_coarse
from .pair_table import rehash
from .topology import rejoin, release


@kernel
def evict(state, max_nodes):  # INOUT state
    """Evict nodes until max_nodes are left, as far as there is room; part of the sample learnt last."""
    state = refer(state)
    scalars = state.scalars[0]
    while scalars.n_nodes > max_nodes and has_room(state):
        k = stalest(state)
        if state.node[k].slot != NONE:
            retire(state, k)
            scalars.n_seen -= 1  # events belong to the sample learnt last
            update_ids(state)
            scalars.n_seen += 1
            remove_slot(state, state.node[k].slot)
        remove_node(state, k)


@jit_allocating
def stalest(state):
    """Of the half of the nodes that has gone longest without winning: inactive before active, stalest first.

    Evicting all inactive nodes first would remove new nodes before dead ones, so that nothing new could be
    learnt under drift; evicting by age alone would forget classes that no longer occur.
    """
    n = state.scalars[0].n_nodes
    last_won = np.empty(n)
    for k in range(n):
        last_won[k] = state.node[k].last_won
    latest = select(last_won, n // 2 - 1)  # of that half
    best = NONE
    for k in range(n):
        node, other = state.node[k], state.node[max(best, 0)]
        if node.last_won > latest:
            continue
        is_better = node.active < other.active or (
            node.active == other.active and node.last_won < other.last_won
        )
        if best == NONE or is_better:
            best = k
    return best


@jit
def retire(state, k):  # INOUT node, slot, pair, scalars
    """Take the edges and the evidence of node k away."""
    scalars = state.scalars[0]
    s = state.node[k].slot
    if state.node[k].active:
        state.node[k].active = False
        scalars.n_active -= 1
        scalars.n_changed = ALL_CHANGED
    n_kept = 0
    for e in range(scalars.n_edges):
        pair = state.pair[state.edge[e]]
        if s not in (pair.a, pair.b):
            state.edge[n_kept] = state.edge[e]
            n_kept += 1
    if n_kept < scalars.n_edges:
        scalars.n_edges = n_kept
        scalars.n_changed = ALL_CHANGED
    for row in range(scalars.n_pairs):
        pair = state.pair[row]
        if pair.evidence > 0 and s in (pair.a, pair.b):
            forget(state, pair, pair.a + pair.b - s)
    rejoin(state)


@jit
def forget(state, pair, other):  # INOUT pair, slot, node.activity, scalars
    """Remove the evidence that an evicted node shares with another one."""
    scalars = state.scalars[0]
    scalars.total_evidence -= pair.evidence
    scalars.evident_pairs -= 1
    node = state.node[state.slot[other].node]
    if pair.is_edge:
        release(state, other, pair.evidence)
    else:
        node.activity -= pair.evidence
    node.activity = max(node.activity, 0)  # the next maintenance may be far away
    pair.evidence = 0
    pair.is_edge = False


@jit
def remove_slot(state, s):  # INOUT slot, pair, node.slot, scalars
    """Close up the slots behind slot s, which has no edge any more, and drop its pairs."""
    scalars = state.scalars[0]
    drop_pairs(state, s)
    scalars.n_slots -= 1
    for t in range(s, scalars.n_slots):
        slot, following = state.slot[t], state.slot[t + 1]
        slot.node = following.node
        slot.degree = following.degree
        slot.parent = following.parent
        slot.next_in_component = following.next_in_component
        slot.cluster_root = following.cluster_root
        slot.cluster = following.cluster
        slot.since = following.since
        slot.is_isolated = following.is_isolated
        state.node[slot.node].slot = t
    for t in range(scalars.n_slots):
        slot = state.slot[t]
        slot.parent -= slot.parent > s
        slot.next_in_component -= slot.next_in_component > s
        slot.cluster_root -= slot.cluster_root > s
    n_kept = 0
    for i in range(scalars.n_isolated):
        t = state.isolated[i]
        if t != s:
            state.isolated[n_kept] = t - (t > s)
            n_kept += 1
    scalars.n_isolated = n_kept


@jit
def drop_pairs(state, s):  # INOUT pair, scalars.n_pairs
    """Pairs of slot s go, the others close up and are hashed anew. Edges are listed in the same order."""
    scalars = state.scalars[0]
    n_kept = 0
    for row in range(scalars.n_pairs):
        pair = state.pair[row]
        if s in (pair.a, pair.b):
            continue
        kept = state.pair[n_kept]
        kept.a, kept.b = pair.a - (pair.a > s), pair.b - (pair.b > s)
        kept.evidence = pair.evidence
        kept.is_edge = pair.is_edge
        kept.length = pair.length
        n_kept += 1
    scalars.n_pairs = n_kept
    n_edges = 0
    for row in range(n_kept):
        if state.pair[row].is_edge:
            state.edge[n_edges] = row
            n_edges += 1
    rehash(state)


@jit
def remove_node(state, k):  # INOUT node, prototype, coarse, scalars
    """Close up the nodes behind node k, which has no slot any more."""
    scalars = state.scalars[0]
    node = state.node[k]
    if node.usage > 1:
        scalars.used_nodes -= 1
        scalars.used_usage -= node.usage
    if node.scale == scalars.widest:
        scalars.widest = -1.0
    for i in range(k + 1, scalars.n_nodes):
        move_node(state, i, i - 1)
    scalars.n_nodes -= 1
    clear_coarse(state, scalars.n_nodes)
    scalars.n_touched = 0
    for i in range(scalars.n_nodes):
        if state.node[i].activity != 0:
            state.touched[scalars.n_touched] = i
            scalars.n_touched += 1
