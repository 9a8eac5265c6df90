"""Hand-overs w{i, j}: how often node j was second when i was first. Learning never reads them.

A hash table of pairs of birth numbers: places of nodes change when others are dropped, births do not.
Pairs of dropped nodes stay in the table until it is full, and are left out whenever it is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .jit import jit, kernel, record
from .pairs import scatter

if TYPE_CHECKING:
    from .state import State

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
def enter(state, rows):  # INOUT handover, clock.n_handovers
    """Write rows into a table that has just been made."""
    for i in range(rows.shape[0]):
        entry(state, rows[i].a, rows[i].b).count = rows[i].count


def between_nodes(state: State) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the table without those of dropped nodes, and the nodes that they are of."""
    births = state.node["birth"][: state.clock["n_nodes"][0]].copy()  # they rise with the node number
    rows = state.handover[state.handover["count"] > 0]
    ends = [np.searchsorted(births, rows[end]) for end in ("a", "b")]
    is_kept = np.ones(len(rows), bool)
    for end, nodes in zip(("a", "b"), ends, strict=True):
        is_kept &= births.take(nodes, mode="clip") == rows[end]
    return rows[is_kept], ends[0][is_kept], ends[1][is_kept]


def handovers(state: State) -> np.ndarray:
    """(i, j, count) of every pair of nodes with hand-overs, i < j, sorted."""
    rows, i, j = between_nodes(state)
    order = np.argsort(i * state.clock["n_nodes"][0] + j)
    return np.stack([i, j, rows["count"]], axis=1)[order]
