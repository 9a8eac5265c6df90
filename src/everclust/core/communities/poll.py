"""The voters of the coarse vote (`coarse_vote.py`), sixteen rows at a time, each in a lane of its own.

They are sorted by a network of comparisons, which has no branches to mispredict.
"""

from typing import NamedTuple

import numpy as np

from ...jit.blocks import aligned
from ...jit.compile import jit, jit_allocating
from ...jit.simd import higher, load, lower, splat, store
from ..coarse import N_ROWS, TILE_LANES

ABREAST = N_ROWS  # in the lanes of a vector of float32
N_VOTERS = TILE_LANES  # of a row; it is measured exactly when there are more
NO_VOTER = np.float32(1e38)  # more than any bound, and finite: NumPy warns of ∞/∞
FLAGS = 8  # in a word


def sorting_network(n: int) -> np.ndarray:
    """Batcher's odd-even merge sort: pairs of places to compare and exchange, for a power of two."""
    pairs, p = [], 1
    while p < n:
        q = p
        while q:
            pairs += [(a, a + q) for a in range(q % p, n - q) if _is_compared(a, p, q)]
            q //= 2
        p *= 2
    return np.array(pairs)


def _is_compared(a: int, p: int, q: int) -> bool:
    return (a - q % p) % (2 * q) < q and a // (2 * p) == (a + q) // (2 * p)


NETWORK = sorting_network(N_VOTERS)


class Poll(NamedTuple):
    """Working memory: the voters of sixteen rows. Row r is in column r of the tables."""

    bound: np.ndarray  # L of the voters, then √(ρ/L)
    table: np.ndarray  # numbers to sort, column by column
    voter: np.ndarray  # voter[r]: the voters of row r
    n_voters: np.ndarray  # 0 for rows that need no vote
    flag: np.ndarray  # of every candidate: whether it is within the limit
    word: np.ndarray  # the same memory, eight flags at a time
    busy: np.ndarray  # words that are not 0
    within: np.ndarray  # candidates within the limit
    minima: np.ndarray  # of one row
    limit: np.ndarray  # of every row: the largest bound of its neighbours
    floor: np.ndarray  # of every row: lower bounds count as this
    votes: np.ndarray  # of every cluster
    k: int


@jit_allocating
def new_poll(n_candidates, k):
    """Room for polls of the k nearest of so many candidates."""
    flag = np.zeros((n_candidates + FLAGS - 1) // FLAGS * FLAGS, np.uint8)
    return Poll(
        aligned(N_VOTERS * ABREAST, np.float32).reshape((N_VOTERS, ABREAST)),
        aligned(N_VOTERS * ABREAST, np.float32).reshape((N_VOTERS, ABREAST)),
        np.empty((ABREAST, N_VOTERS), np.int64),
        np.empty(ABREAST, np.int64),
        flag,
        flag.view(np.uint64),
        np.empty(flag.shape[0] + 1, np.int64),
        np.empty(flag.shape[0] + 1, np.int64),
        aligned(N_VOTERS, np.float32),
        np.empty(ABREAST, np.float32),
        aligned(ABREAST, np.float32),
        np.empty(n_candidates),
        k,
    )


@jit
def sort_columns(table):  # INOUT table
    """Sort every column."""
    for pair in range(NETWORK.shape[0]):
        a, b = table[NETWORK[pair, 0]], table[NETWORK[pair, 1]]
        low, high = lower(load(a, 0), load(b, 0)), higher(load(a, 0), load(b, 0))
        store(a, 0, low)
        store(b, 0, high)


@jit
def clear(poll):  # INOUT poll.bound, poll.table
    """Remove the voters of all rows."""
    for k in range(N_VOTERS):
        store(poll.bound[k], 0, splat(NO_VOTER))
        store(poll.table[k], 0, splat(NO_VOTER))


@jit
def register(bound, poll, r, n):  # INOUT poll
    """Let the n candidates in `within` vote on row r."""
    poll.n_voters[r] = n
    for k in range(n):
        poll.voter[r, k] = poll.within[k]
        poll.bound[k, r] = poll.table[k, r] = bound[poll.within[k]]
