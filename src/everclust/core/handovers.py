"""Hand-overs w{i, j}: how often node j was second when i was first. Learning never reads them.

They are written down one after the other, as pairs of birth numbers, and added up when the page is full:
then nodes are given their own places as new birth numbers, and pairs of dropped nodes are forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .jit import jit, record

if TYPE_CHECKING:
    from .state import State

HANDOVER = record(("a", np.int64), ("b", np.int64), ("count", np.int64))  # a, b: births, in any order
SHORT_PAGE, LONG_PAGE = 2048, 32768  # rows: what it costs to add up is spread over so many samples

CELLS_PER_ROW = 16


@jit
def hand_over(state, first, second):  # INOUT handover, clock.n_handovers
    """w{first, second} += 1."""
    clock = state.clock[0]
    row = state.handover[clock.n_handovers]
    row.a = state.node[first].birth
    row.b = state.node[second].birth
    row.count = 1
    clock.n_handovers += 1


def handovers(state: State) -> np.ndarray:
    """(i, j, count) of every pair of nodes with hand-overs, i < j, sorted."""
    clock = state.clock[0]
    n_nodes = int(clock["n_nodes"])
    rows = state.handover[: clock["n_handovers"]]
    births = state.node["birth"][:n_nodes]
    # Births rise with the node number, and so does the number of a birth that is no more.
    number = np.full(int(clock["n_born"]), -1)
    number[births] = np.arange(n_nodes)
    ends = number[rows["a"]], number[rows["b"]]
    low, high = np.minimum(*ends), np.maximum(*ends)
    alive = low >= 0
    return _added_up(low[alive] * n_nodes + high[alive], rows["count"][alive], n_nodes)


def _added_up(key: np.ndarray, count: np.ndarray, n_nodes: int) -> np.ndarray:
    if n_nodes * n_nodes <= CELLS_PER_ROW * len(key):  # a table of all pairs is quicker than sorting
        total = np.bincount(key, count)
        key = np.flatnonzero(total)
        return np.stack([key // n_nodes, key % n_nodes, total[key].astype(np.int64)], axis=1)
    order = np.argsort(key)
    key = key[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    if not len(starts):
        return np.empty((0, 3), np.int64)
    key = key[starts]
    return np.stack([key // n_nodes, key % n_nodes, np.add.reduceat(count[order], starts)], axis=1)


def turn_page(state: State) -> State:
    """The same model with at least half of the page empty; the old one stays whole, if it must be kept."""
    total = handovers(state)
    longer = max(2 * len(total), min(2 * len(state.handover), LONG_PAGE))
    turned = type(state)(*(array.copy() for array in state))._replace(handover=new_page(longer))
    write_page(turned, total)
    return turned


def new_page(n_rows: int = SHORT_PAGE) -> np.ndarray:
    """An empty page."""
    return np.zeros(n_rows, HANDOVER)


def write_page(state: State, total: np.ndarray) -> None:  # INOUT handover, node.birth, clock
    """Begin the page with these (i, j, count)."""
    clock: Any = state.clock.view(np.recarray)[0]
    state.node["birth"][: clock.n_nodes] = np.arange(clock.n_nodes)
    clock.n_born = clock.n_nodes
    clock.n_handovers = len(total)
    page = state.handover[: len(total)]
    page["a"], page["b"], page["count"] = total.T
