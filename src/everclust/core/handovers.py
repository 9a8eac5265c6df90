"""Hand-overs w{i, j}: how often node j was second when i was first. Learning never reads them.

Where nodes get finer (resolution.py), new nodes outdate what coarse ones handed over to other clusters.

The counts are the CONN matrix of Taşdemir and Merényi: competitive Hebbian links (Martinetz and Schulten)
with weights. They are stored in a hash table of pairs of birth numbers: indices of nodes change when others
are dropped, birth numbers do not. Pairs of dropped nodes stay in the table until there are too many, and are
left out whenever it is read.
"""

import numpy as np

from ..jit.arrays import filled, taken
from ..jit.compile import jit, jit_allocating, kernel
from ..jit.reference import refer
from ..jit.sorting import counting_sort, in_order
from .layout import NONE
from .metric import distance
from .pair_table import scatter
from .state import HANDOVER, State

MOST_PAIRS_PER_NODE = 8  # three or four are common


@jit
def bucket_of(state, a, b):
    """Where the pair {a, b} of births, a < b, is in the table, or the empty row that it would take."""
    mask = state.handover.shape[0] - 1  # the size is a power of two
    bucket = scatter(a, b) & mask
    row = state.handover[bucket]
    while row.count > 0 and not (row.a == a and row.b == b):
        bucket = (bucket + 1) & mask
        row = state.handover[bucket]
    return bucket


@jit
def find_row(state, a, b):  # INOUT handover, scalars.n_handovers
    """Row of the pair {a, b} of births, a < b. A new row is empty until its caller counts."""
    row = state.handover[bucket_of(state, a, b)]
    if row.count == 0:
        row.a = a
        row.b = b
        state.scalars[0].n_handovers += 1
    return row


@jit
def hand_over(state, first, second):  # INOUT handover, scalars.n_handovers
    """w{first, second} += 1."""
    a, b = state.node[first].birth, state.node[second].birth
    find_row(state, min(a, b), max(a, b)).count += 1


@jit
def outdate_beyond(state, first, reach):  # INOUT handover
    """Node `first` has a new neighbour within `reach`: w{first, k} = 1 for all nodes k beyond it.

    Its samples handed over to those because no nearer node existed.
    """
    y, birth = state.prototype, state.node[first].birth
    for k in range(state.scalars[0].n_nodes):
        other = state.node[k].birth
        row = state.handover[bucket_of(state, min(birth, other), max(birth, other))]
        if row.count > 1 and distance(y[first], y[k], state.weight) > reach:
            row.count = 1


@kernel
def insert_rows(state, table):  # INOUT handover, scalars.n_handovers
    """Write the rows of another table into an empty one."""
    state = refer(state)
    for i in range(table.shape[0]):
        if table[i].count > 0:
            find_row(state, table[i].a, table[i].b).count = table[i].count


def table_of(pairs: np.ndarray) -> np.ndarray:
    """Rows (a, b, count) as a table for `insert_rows`."""
    table = np.zeros(len(pairs), HANDOVER)
    table["a"], table["b"], table["count"] = pairs.T
    return table


def pairs_of_births(state: State) -> np.ndarray:
    """Rows (a, b, count) of the table without those of dropped nodes."""
    births = births_of(state)
    rows = find_pairs(state.handover, births)
    rows[:, :2] = births[rows[:, :2]]
    return rows


def compacted(state: State) -> np.ndarray:
    """The table, without dropped nodes if there are many of them: leaving them out takes time."""
    if state.scalars["n_handovers"][0] <= MOST_PAIRS_PER_NODE * state.scalars["n_nodes"][0]:
        return state.handover
    return table_of(pairs_of_births(state))


def births_of(state: State) -> np.ndarray:
    """Birth numbers of the nodes, which rise."""
    return state.node["birth"][: state.scalars["n_nodes"][0]].copy()


def index_by_birth(births: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Index of the node of each wanted birth, or NONE; births rise."""
    if not len(births):
        return np.full(len(wanted), NONE)
    index = np.minimum(births.searchsorted(wanted), len(births) - 1)
    return np.where(births[index] == wanted, index, NONE)


def handovers(state: State) -> np.ndarray:
    """(i, j, count) of every pair of nodes with hand-overs, i < j, sorted."""
    return find_pairs(state.handover, births_of(state))


@kernel
def find_pairs(table, births):
    """(i, j, count) of the pairs among nodes of these births, indexed as they are here, sorted."""
    return pairs_among(table, births)


@jit_allocating
def pairs_among(table, births):
    """The same, for kernels."""
    buckets, pairs = new_buckets(births), np.empty((count_rows(table), 3), np.int64)
    n = 0
    for row in range(table.shape[0]):
        if table[row].count > 0:
            i, j = index_of(births, buckets, table[row].a), index_of(births, buckets, table[row].b)
            if i != NONE and j != NONE:
                pairs[n, 0], pairs[n, 1], pairs[n, 2] = i, j, table[row].count
                n += 1
    key = np.empty(n, np.int64)
    for k in range(n):
        key[k] = pairs[k, 1]
    by_second = counting_sort(key, births.shape[0])[1]
    for k in range(n):
        key[k] = pairs[by_second[k], 0]
    by_first = counting_sort(key, births.shape[0])[1]
    return in_order(pairs, taken(by_second, by_first))


@jit
def count_rows(table):
    """Rows in use."""
    n = 0
    for row in range(table.shape[0]):
        n += table[row].count > 0
    return n


@jit_allocating
def new_buckets(births):
    """A hash table of indices by birth, at most half full."""
    size = 2
    while size < 2 * births.shape[0]:
        size *= 2
    buckets = filled(size, NONE)
    for k in range(births.shape[0]):
        bucket = scatter(births[k], 0) & (size - 1)
        while buckets[bucket] != NONE:
            bucket = (bucket + 1) & (size - 1)
        buckets[bucket] = k
    return buckets


@jit
def index_of(births, buckets, birth):
    """Index of the node of that birth, or NONE."""
    mask = buckets.shape[0] - 1
    bucket = scatter(birth, 0) & mask
    while buckets[bucket] != NONE and births[buckets[bucket]] != birth:
        bucket = (bucket + 1) & mask
    return buckets[bucket]
