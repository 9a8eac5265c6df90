"""At most so many nodes: the one addition to the algorithm that forgets, for streams that drift for ever."""

import numpy as np

from ..jit.compile import jit, jit_allocating, kernel
from ..jit.quantiles import select
from ..jit.reference import refer
from .cluster_ids import recognise
from .maintenance import move_node
from .nearest import forget_shadow
from .pair_table import rehash
from .state import has_room
from .topology import ANYTHING, NOBODY, rejoin, release


@kernel
def evict(state, max_nodes):  # INOUT state
    """Let nodes go until max_nodes are left, as far as there is room; part of the sample learnt last."""
    state = refer(state)
    clock = state.clock[0]
    while clock.n_nodes > max_nodes and has_room(state):
        k = stalest(state)
        if state.node[k].seat != NOBODY:
            retire(state, k)
            clock.n_seen -= 1  # what happens to clusters has happened at that sample
            recognise(state)
            clock.n_seen += 1
            remove_seat(state, state.node[k].seat)
        remove_node(state, k)


@jit_allocating
def stalest(state):
    """Of the half of the nodes that has gone longest without winning: inactive before active, stalest first.

    Were all inactive nodes to go before any active one, new nodes, which are inactive, would go before old
    ones that will never win again, and under drift nothing new could be learnt. Were it for staleness
    alone, classes that do not come again would be forgotten first.
    """
    n = state.clock[0].n_nodes
    last_won = np.empty(n)
    for k in range(n):
        last_won[k] = state.node[k].last_won
    latest = select(last_won, n // 2 - 1)  # of that half
    best = NOBODY
    for k in range(n):
        node, other = state.node[k], state.node[max(best, 0)]
        if node.last_won > latest:
            continue
        is_better = node.active < other.active or (
            node.active == other.active and node.last_won < other.last_won
        )
        if best == NOBODY or is_better:
            best = k
    return best


@jit
def retire(state, k):  # INOUT node, seat, pair, clock
    """Take the edges and the evidence of node k away."""
    clock = state.clock[0]
    s = state.node[k].seat
    if state.node[k].active:
        state.node[k].active = False
        clock.n_active -= 1
        clock.change = ANYTHING
    n_kept = 0
    for e in range(clock.n_edges):
        pair = state.pair[state.pair[e].edge]
        if s not in (pair.a, pair.b):
            state.pair[n_kept].edge = state.pair[e].edge
            n_kept += 1
    if n_kept < clock.n_edges:
        clock.n_edges = n_kept
        clock.change = ANYTHING
    for row in range(clock.n_pairs):
        pair = state.pair[row]
        if pair.evidence > 0 and s in (pair.a, pair.b):
            forget(state, pair, pair.a + pair.b - s)
    rejoin(state)


@jit
def forget(state, pair, other):  # INOUT pair, seat, node.gain, clock
    """The evidence that a node leaves behind with another one."""
    clock = state.clock[0]
    clock.total_evidence -= pair.evidence
    clock.evident_pairs -= 1
    node = state.node[state.seat[other].node]
    if pair.is_edge:
        release(state, other, pair.evidence)
    else:
        node.gain -= pair.evidence
    node.gain = max(node.gain, 0)  # maintenance, which would forgive it, may be far away
    pair.evidence = 0
    pair.is_edge = False


@jit
def remove_seat(state, s):  # INOUT seat, pair, node.seat, clock
    """Close up the seats behind seat s, which stands alone, and drop its pairs."""
    clock = state.clock[0]
    drop_pairs(state, s)
    clock.n_seats -= 1
    for t in range(s, clock.n_seats):
        seat, following = state.seat[t], state.seat[t + 1]
        seat.node = following.node
        seat.degree = following.degree
        seat.parent = following.parent
        seat.mate = following.mate
        seat.home = following.home
        seat.cluster = following.cluster
        seat.since = following.since
        seat.is_loose = following.is_loose
        state.node[seat.node].seat = t
    for t in range(clock.n_seats):
        seat = state.seat[t]
        seat.parent -= seat.parent > s
        seat.mate -= seat.mate > s
        seat.home -= seat.home > s
    n_kept = 0
    for i in range(clock.n_loose):
        t = state.seat[i].loose
        if t != s:
            state.seat[n_kept].loose = t - (t > s)
            n_kept += 1
    clock.n_loose = n_kept


@jit
def drop_pairs(state, s):  # INOUT pair, clock.n_pairs
    """Pairs of seat s go, the others close up and are hashed anew. Edges are listed in the same order."""
    clock = state.clock[0]
    n_kept = 0
    for row in range(clock.n_pairs):
        pair = state.pair[row]
        if s in (pair.a, pair.b):
            continue
        kept = state.pair[n_kept]
        kept.a, kept.b = pair.a - (pair.a > s), pair.b - (pair.b > s)
        kept.evidence = pair.evidence
        kept.is_edge = pair.is_edge
        kept.length = pair.length
        n_kept += 1
    clock.n_pairs = n_kept
    n_edges = 0
    for row in range(n_kept):
        if state.pair[row].is_edge:
            state.pair[n_edges].edge = row
            n_edges += 1
    rehash(state)


@jit
def remove_node(state, k):  # INOUT node, prototype, shadow, clock
    """Close up the nodes behind node k, which has no seat any more."""
    clock = state.clock[0]
    node = state.node[k]
    if node.usage > 1:
        clock.used_nodes -= 1
        clock.used_usage -= node.usage
    if node.scale == clock.widest:
        clock.widest = -1.0
    for i in range(k + 1, clock.n_nodes):
        move_node(state, i, i - 1)
    clock.n_nodes -= 1
    forget_shadow(state, clock.n_nodes)
    clock.n_touched = 0
    for i in range(clock.n_nodes):
        if state.node[i].gain != 0:
            state.node[clock.n_touched].touched = i
            clock.n_touched += 1
