"""Evidence for pairs of nodes, its promotion to edges, cutting, connected components.

Owner of the graph. Only nodes that ever had evidence or were active take part, each in a *slot* of its
own that it keeps; dropping other nodes renumbers nodes, never slots.
"""

from ..jit.compile import jit, jit_inlined
from .layout import ALL_CHANGED, NO_CLUSTER, NONE
from .metric import distance
from .pair_table import pair_of


@jit
def take_slot(state, k):  # INOUT slot, node.slot, scalars.n_slots
    """Slot of node k in the graph, a new one if it has none."""
    scalars = state.scalars[0]
    if state.node[k].slot == NONE:
        slot = state.slot[scalars.n_slots]
        slot.node = k
        slot.degree = 0
        slot.parent = slot.next_in_component = scalars.n_slots
        slot.is_isolated = False
        slot.cluster_root = NONE
        slot.cluster = NO_CLUSTER
        state.node[k].slot = scalars.n_slots
        scalars.n_slots += 1
    return state.node[k].slot


@jit
def list_isolated(state, s):  # INOUT isolated, slot.is_isolated, scalars.n_isolated
    """List an active node: maintenance decides whether it is quiet, and unlists it if it has an edge."""
    scalars = state.scalars[0]
    if not state.slot[s].is_isolated:
        state.slot[s].is_isolated = True
        state.isolated[scalars.n_isolated] = s
        scalars.n_isolated += 1


@jit
def activate(state, k):  # INOUT node.active, scalars.n_active, changed, scalars.n_changed
    """Let node k take part in prediction."""
    if not state.node[k].active:
        scalars = state.scalars[0]
        state.node[k].active = True
        scalars.n_active += 1
        slot = take_slot(state, k)
        list_isolated(state, slot)
        mark_changed(state, slot)


@jit
def mark_changed(state, s):  # INOUT changed, scalars.n_changed
    """List slot s, whose component this sample has changed."""
    scalars = state.scalars[0]
    if scalars.n_changed < scalars.n_slots:
        state.changed[scalars.n_changed] = s
        scalars.n_changed += 1
    else:  # the list is full, or all are listed already
        scalars.n_changed = ALL_CHANGED


@jit_inlined
def add_evidence(state, i, j):  # INOUT pair, node.activity, scalars.total_evidence, scalars.evident_pairs
    """E_cand(i, j) += 1, and promote the pair to an edge when it is above T_edge."""
    scalars = state.scalars[0]
    row = pair_of(state, take_slot(state, i), take_slot(state, j))
    pair = state.pair[row]
    if pair.evidence == 0:
        scalars.evident_pairs += 1
    pair.evidence += 1
    scalars.total_evidence += 1
    state.node[i].activity += 1
    state.node[j].activity += 1
    # T_edge: mean of the positive E_cand, as a running sum over a running count.
    if not pair.is_edge and pair.evidence > scalars.total_evidence / scalars.evident_pairs:
        promote(state, row)


@jit
def promote(state, row):  # INOUT pair, edge, slot.degree, changed, scalars, (components)
    """Make the pair an edge."""
    scalars = state.scalars[0]
    pair = state.pair[row]
    pair.is_edge = True
    state.edge[scalars.n_edges] = row
    scalars.n_edges += 1
    state.slot[pair.a].degree += 1
    state.slot[pair.b].degree += 1
    i, j = state.slot[pair.a].node, state.slot[pair.b].node
    pair.length = distance(state.prototype[i], state.prototype[j], state.weight)
    if join(state, pair.a, pair.b):
        mark_changed(state, pair.a)


@jit
def cut(state, row):  # INOUT pair, scalars.total_evidence, scalars.evident_pairs, (ends)
    """Remove the edge and its evidence; the caller takes it off the list of edges."""
    scalars = state.scalars[0]
    pair = state.pair[row]
    scalars.total_evidence -= pair.evidence
    scalars.evident_pairs -= 1
    release(state, pair.a, pair.evidence)
    release(state, pair.b, pair.evidence)
    pair.evidence = 0
    pair.is_edge = False


@jit
def release(state, s, evidence):  # INOUT slot.degree, node.activity
    """One end of an edge that is cut."""
    node = state.node[state.slot[s].node]
    if node.activity > 0:  # below zero is as good as zero to every rule
        node.activity -= evidence
    state.slot[s].degree -= 1
    if node.active and state.slot[s].degree == 0:
        list_isolated(state, s)


@jit
def edge_length(state, row, capped):  # INOUT pair.length
    """Length of an edge; computed again only when an end or the metric has changed since the last time."""
    pair = state.pair[row]
    i, j = state.slot[pair.a].node, state.slot[pair.b].node
    if capped or state.node[i].activity > 0 or state.node[j].activity > 0:
        pair.length = distance(state.prototype[i], state.prototype[j], state.weight)
    return pair.length


@jit
def root(state, s):  # INOUT slot.parent (shorter paths, same components)
    """Root of the component in the union-find forest."""
    while state.slot[s].parent != s:
        state.slot[s].parent = state.slot[state.slot[s].parent].parent
        s = state.slot[s].parent
    return s


@jit
def join(state, a, b):  # INOUT slot.parent, slot.next_in_component, scalars.n_joins
    """Make one component of the components of two slots; returns whether these were two."""
    a, b = root(state, a), root(state, b)
    if a == b:
        return False
    low, high = state.slot[min(a, b)], state.slot[max(a, b)]
    high.parent = min(a, b)
    low.next_in_component, high.next_in_component = (
        high.next_in_component,
        low.next_in_component,
    )  # makes one circular list of two
    state.scalars[0].n_joins += 1
    return True


@jit
def rejoin(state):  # INOUT slot.parent, slot.next_in_component, scalars.n_joins
    """Rebuild the components after edges were cut: O(slots + edges)."""
    scalars = state.scalars[0]
    for s in range(scalars.n_slots):
        state.slot[s].parent = state.slot[s].next_in_component = s
    scalars.n_joins = 0
    for e in range(scalars.n_edges):
        pair = state.pair[state.edge[e]]
        join(state, pair.a, pair.b)
