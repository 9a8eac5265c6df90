"""Hand-overs w{i, j}: how often node j was second when i was first. Learning never reads them.

A hash table of pairs of birth numbers: places of nodes change when others are dropped, births do not.
Pairs of dropped nodes stay in the table until there are too many, and are left out whenever it is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..jit.compile import jit, jit_allocating, kernel, record
from ..jit.reference import refer
from ..jit.sorting import counting_sort, in_order
from .pair_table import scatter
from .topology import NOBODY

if TYPE_CHECKING:
    from .state import State

MANY = 8  # pairs per node; three or four are common
HANDOVER = record(("a", np.int64), ("b", np.int64), ("count", np.int64))  # births, a < b; no count: empty


@jit
def entry(state, a, b):  # INOUT handover, clock.n_handovers
    """Row of the pair {a, b} of births, a < b; its caller counts at once, or it is as good as empty."""
    mask = state.handover.shape[0] - 1  # the size is a power of two
    place = scatter(a, b) & mask
    row = state.handover[place]
    while row.count > 0:
        if row.a == a and row.b == b:
            return row
        place = (place + 1) & mask
        row = state.handover[place]
    row.a = a
    row.b = b
    state.clock[0].n_handovers += 1
    return row


@jit
def hand_over(state, first, second):  # INOUT handover, clock.n_handovers
    """w{first, second} += 1."""
    a, b = state.node[first].birth, state.node[second].birth
    entry(state, min(a, b), max(a, b)).count += 1


@kernel
def enter(state, table):  # INOUT handover, clock.n_handovers
    """Write the rows of another table into one that has just been made."""
    state = refer(state)
    for i in range(table.shape[0]):
        if table[i].count > 0:
            entry(state, table[i].a, table[i].b).count = table[i].count


def table_of(pairs: np.ndarray) -> np.ndarray:
    """Rows (a, b, count) as a table for `enter`."""
    table = np.zeros(len(pairs), HANDOVER)
    table["a"], table["b"], table["count"] = pairs.T
    return table


def between_nodes(state: State) -> np.ndarray:
    """Rows (a, b, count) of the table without those of dropped nodes."""
    births = births_of(state)
    rows = find_pairs(state.handover, births)
    rows[:, :2] = births[rows[:, :2]]
    return rows


def worth_keeping(state: State) -> np.ndarray:
    """A table to go on with. Leaving out dropped nodes takes a while: it is done when there are many."""
    if state.clock["n_handovers"][0] <= MANY * state.clock["n_nodes"][0]:
        return state.handover
    return table_of(between_nodes(state))


def births_of(state: State) -> np.ndarray:
    """They rise with the number of the node."""
    return state.node["birth"][: state.clock["n_nodes"][0]].copy()


def handovers(state: State) -> np.ndarray:
    """(i, j, count) of every pair of nodes with hand-overs, i < j, sorted."""
    return find_pairs(state.handover, births_of(state))


@kernel
def find_pairs(table, births):
    """(i, j, count) of the pairs among nodes of these births, numbered as they are here, sorted."""
    slots, pairs = new_slots(births), np.empty((table.shape[0], 3), np.int64)
    n = 0
    for row in range(table.shape[0]):
        if table[row].count > 0:
            i, j = number_of(births, slots, table[row].a), number_of(births, slots, table[row].b)
            if i != NOBODY and j != NOBODY:
                pairs[n, 0], pairs[n, 1], pairs[n, 2] = i, j, table[row].count
                n += 1
    by_second = counting_sort(pairs[:n, 1], births.shape[0])[1]
    by_first = counting_sort(pairs[by_second, 0], births.shape[0])[1]
    return in_order(pairs, by_second[by_first])


@jit_allocating
def new_slots(births):
    """A hash table of numbers by birth, at most half full."""
    size = 2
    while size < 2 * births.shape[0]:
        size *= 2
    slots = np.full(size, NOBODY)
    for k in range(births.shape[0]):
        place = scatter(births[k], 0) & (size - 1)
        while slots[place] != NOBODY:
            place = (place + 1) & (size - 1)
        slots[place] = k
    return slots


@jit
def number_of(births, slots, birth):
    """Number of the node of that birth, or NOBODY."""
    mask = slots.shape[0] - 1
    place = scatter(birth, 0) & mask
    while slots[place] != NOBODY and births[slots[place]] != birth:
        place = (place + 1) & mask
    return slots[place]
