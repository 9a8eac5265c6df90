"""Evidence for pairs of nodes, its promotion to edges, cutting, connected components.

Owner of the graph. Only nodes that ever had evidence or were active take part, each in a *seat* of its
own that it keeps; dropping other nodes renumbers nodes, never seats.
"""

from ..jit.compile import jit, jit_inlined
from .metric import distance
from .pair_table import pair_of
from .spread import WEIGHT

NOBODY = -1
NO_HOME, NO_CLUSTER = -1, -1  # of seats whose node is not active: see lineage.py
# clock.change: how many seats are listed whose component is not what it was before this sample, or:
NOTHING_NEW, ANYTHING = 0, 2**62


@jit
def take_seat(state, k):  # INOUT seat, node.seat, clock.n_seats
    """Seat of node k in the graph, a new one if it has none."""
    clock = state.clock[0]
    if state.node[k].seat == NOBODY:
        seat = state.seat[clock.n_seats]
        seat.node = k
        seat.degree = 0
        seat.parent = seat.mate = clock.n_seats
        seat.is_loose = False
        seat.home = NO_HOME
        seat.cluster = NO_CLUSTER
        state.node[k].seat = clock.n_seats
        clock.n_seats += 1
    return state.node[k].seat


@jit
def watch(state, s):  # INOUT seat.loose, seat.is_loose, clock.n_loose
    """List an active node: maintenance decides whether it is quiet, and unlists it if it has an edge."""
    clock = state.clock[0]
    if not state.seat[s].is_loose:
        state.seat[s].is_loose = True
        state.seat[clock.n_loose].loose = s
        clock.n_loose += 1


@jit
def activate(state, k):  # INOUT node.active, clock.n_active, seat.changed, clock.change
    """Let node k take part in the answer."""
    if not state.node[k].active:
        clock = state.clock[0]
        state.node[k].active = True
        clock.n_active += 1
        seat = take_seat(state, k)
        watch(state, seat)
        list_changed(state, seat)


@jit
def list_changed(state, s):  # INOUT seat.changed, clock.change
    """Have the component of seat s recognised anew."""
    clock = state.clock[0]
    if clock.change < clock.n_seats:
        state.seat[clock.change].changed = s
        clock.change += 1
    else:  # the list is full, or nobody needs it any more
        clock.change = ANYTHING


@jit_inlined
def add_evidence(state, i, j):  # INOUT pair, node.gain, clock.total_evidence, clock.evident_pairs
    """E_cand(i, j) += 1, and promote the pair to an edge when it is above T_edge."""
    clock = state.clock[0]
    row = pair_of(state, take_seat(state, i), take_seat(state, j))
    pair = state.pair[row]
    if pair.evidence == 0:
        clock.evident_pairs += 1
    pair.evidence += 1
    clock.total_evidence += 1
    state.node[i].gain += 1
    state.node[j].gain += 1
    # T_edge: mean of the positive E_cand, as a running sum over a running count.
    if not pair.is_edge and pair.evidence > clock.total_evidence / clock.evident_pairs:
        promote(state, row)


@jit
def promote(state, row):  # INOUT pair, seat.degree, seat.changed, clock.n_edges, clock.change, (components)
    """Make the pair an edge."""
    clock = state.clock[0]
    pair = state.pair[row]
    pair.is_edge = True
    state.pair[clock.n_edges].edge = row
    clock.n_edges += 1
    state.seat[pair.a].degree += 1
    state.seat[pair.b].degree += 1
    i, j = state.seat[pair.a].node, state.seat[pair.b].node
    pair.length = distance(state.prototype[i], state.prototype[j], state.feature[WEIGHT])
    if join(state, pair.a, pair.b):
        list_changed(state, pair.a)


@jit
def cut(state, row):  # INOUT pair, clock.total_evidence, clock.evident_pairs, (ends)
    """Remove the edge and its evidence; the caller takes it off the list of edges."""
    clock = state.clock[0]
    pair = state.pair[row]
    clock.total_evidence -= pair.evidence
    clock.evident_pairs -= 1
    release(state, pair.a, pair.evidence)
    release(state, pair.b, pair.evidence)
    pair.evidence = 0
    pair.is_edge = False


@jit
def release(state, s, evidence):  # INOUT seat.degree, node.gain
    """One end of an edge that is cut."""
    node = state.node[state.seat[s].node]
    if node.gain > 0:  # below zero is as good as zero to every rule
        node.gain -= evidence
    state.seat[s].degree -= 1
    if node.active and state.seat[s].degree == 0:
        watch(state, s)


@jit
def measure(state, row, capped):  # INOUT pair.length
    """Length of an edge; measured again only when an end has moved, or the metric, since the last time."""
    pair = state.pair[row]
    i, j = state.seat[pair.a].node, state.seat[pair.b].node
    if capped or state.node[i].gain > 0 or state.node[j].gain > 0:
        pair.length = distance(state.prototype[i], state.prototype[j], state.feature[WEIGHT])
    return pair.length


@jit
def root(state, s):  # INOUT seat.parent (shorter paths, same components)
    """The seat that stands for the component."""
    while state.seat[s].parent != s:
        state.seat[s].parent = state.seat[state.seat[s].parent].parent
        s = state.seat[s].parent
    return s


@jit
def join(state, a, b):  # INOUT seat.parent, seat.mate, clock.n_joins
    """Make one component of the components of two seats; returns whether these were two."""
    a, b = root(state, a), root(state, b)
    if a == b:
        return False
    low, high = state.seat[min(a, b)], state.seat[max(a, b)]
    high.parent = min(a, b)
    low.mate, high.mate = high.mate, low.mate  # which makes one circle of two
    state.clock[0].n_joins += 1
    return True


@jit
def rejoin(state):  # INOUT seat.parent, seat.mate, clock.n_joins
    """Find the components anew, after edges were cut: O(seats + edges)."""
    clock = state.clock[0]
    for s in range(clock.n_seats):
        state.seat[s].parent = state.seat[s].mate = s
    clock.n_joins = 0
    for e in range(clock.n_edges):
        pair = state.pair[state.pair[e].edge]
        join(state, pair.a, pair.b)
