"""Hand-overs w{i, j}: how often node j was second when i was first. Learning never reads them.

A hash table of pairs of birth numbers: places of nodes change when others are dropped, births do not.
Pairs of dropped nodes stay in the table until there are too many, and are left out whenever it is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .jit import jit, kernel, record
from .pairs import scatter
from .reference import refer
from .topology import NOBODY

if TYPE_CHECKING:
    from .state import State

MANY = 8  # pairs per node; three or four are common
FAR_APART = 2**16  # births, between the first node and the last: too far for a table of them
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
    rows = _entries(state)
    return rows[(_nodes(_births(state), rows[:, :2]) != NOBODY).all(axis=1)]


def worth_keeping(state: State) -> np.ndarray:
    """A table to go on with. Leaving out dropped nodes takes a while: it is done when there are many."""
    if state.clock["n_handovers"][0] <= MANY * state.clock["n_nodes"][0]:
        return state.handover
    return table_of(between_nodes(state))


def _entries(state: State) -> np.ndarray:
    used = np.flatnonzero(state.handover["count"])
    return np.stack([state.handover[name][used] for name in ("a", "b", "count")], axis=1)


def _births(state: State) -> np.ndarray:
    return state.node["birth"][: state.clock["n_nodes"][0]].copy()  # they rise with the node number


def _nodes(births: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Nodes of those births, or NOBODY where they have been dropped."""
    first, span = births[0], births[-1] - births[0]
    if span > FAR_APART:
        node = np.minimum(np.searchsorted(births, wanted), len(births) - 1)
        return np.where(births[node] == wanted, node, NOBODY)
    node = np.full(span + 2, NOBODY)  # looked up in a tenth of the time; the last place is for all others
    node[births - first] = np.arange(len(births))
    return node[np.where((wanted < first) | (wanted > first + span), span + 1, wanted - first)]


def handovers(state: State) -> np.ndarray:
    """(i, j, count) of every pair of nodes with hand-overs, i < j, sorted."""
    births, rows = _births(state), _entries(state)
    if len(rows) == 0:
        return rows
    rows[:, :2] = _nodes(births, rows[:, :2])
    rows = rows[(rows[:, :2] != NOBODY).all(axis=1)]
    return rows[np.argsort(rows[:, 0] * len(births) + rows[:, 1])]
