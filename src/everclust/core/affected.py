"""The slots whose clusters a sample has changed: usually few, and only these are compared."""

from ..jit.compile import jit
from .layout import NONE
from .topology import root


@jit
def list_changed_members(state, slots, is_listed):  # INOUT slots, is_listed
    """List the slots of the components in `state.changed`; returns how many there are."""
    n_changed, n = state.scalars[0].n_changed, 0
    for i in range(n_changed):
        is_listed[root(state, state.changed[i])] = False
    for i in range(n_changed):
        first = s = root(state, state.changed[i])
        while not is_listed[first] or s != first:
            is_listed[first] = True
            slots[n] = s
            n += 1
            s = state.slot[s].next_in_component
    return n


@jit
def list_affected(state, slots, affected):  # INOUT slots, affected
    """List the slots of clusters that have changed; returns how many there are.

    Where a slot's cluster root is not its present root, its old cluster and its new one are affected.
    """
    n_slots = slots.shape[0]
    for s in range(n_slots):
        affected[s] = False
    for s in range(n_slots):
        slot, r = state.slot[s], root(state, s)
        now = r if state.node[slot.node].active else NONE
        if slot.cluster_root != now:
            affected[r] = True
            if slot.cluster_root != NONE:
                affected[slot.cluster_root] = True
    n = 0
    for s in range(n_slots):
        old = state.slot[s].cluster_root
        if affected[old if old != NONE else root(state, s)]:
            slots[n] = s
            n += 1
    return n


@jit
def sort_by_node(state, slots):  # INOUT slots
    """Shellsort: quick for few slots and not slow for many."""
    gap = slots.shape[0] // 2
    while gap > 0:
        for i in range(gap, slots.shape[0]):
            s, at = slots[i], i
            while at >= gap and state.slot[slots[at - gap]].node > state.slot[s].node:
                slots[at] = slots[at - gap]
                at -= gap
            slots[at] = s
        gap //= 2
