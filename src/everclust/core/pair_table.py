"""Pairs of seats, found by hashing: the sparse form of a symmetric matrix."""

from ..jit.compile import jit, kernel
from ..jit.reference import refer

EMPTY = -1


@jit
def scatter(a, b):
    """A number for the pair, to be cut to the size of the hash table."""
    return (a * 0x9E3779B1) ^ (b * 0x85EBCA6B)


@jit
def _slot_of(state, a, b):
    """Where the pair {a, b}, a < b, stands in the hash table, or the empty place it would take."""
    mask = state.pair.shape[0] - 1  # the size is a power of two
    place = scatter(a, b) & mask
    while True:
        row = state.pair[place].slot
        if row == EMPTY or (state.pair[row].a == a and state.pair[row].b == b):
            return place
        place = (place + 1) & mask


@jit
def pair_of(state, a, b):  # INOUT pair, clock.n_pairs
    """Row of the pair {a, b}; a new pair starts without evidence."""
    clock = state.clock[0]
    low, high = min(a, b), max(a, b)
    place = _slot_of(state, low, high)
    if state.pair[place].slot == EMPTY:
        pair = state.pair[clock.n_pairs]
        pair.a, pair.b = low, high
        pair.evidence = 0
        pair.is_edge = False
        state.pair[place].slot = clock.n_pairs
        clock.n_pairs += 1
    return state.pair[place].slot


@kernel
def rehash(state):  # INOUT pair.slot
    """Enter every pair into a hash table that has just grown."""
    state = refer(state)
    for place in range(state.pair.shape[0]):
        state.pair[place].slot = EMPTY
    for row in range(state.clock[0].n_pairs):
        place = _slot_of(state, state.pair[row].a, state.pair[row].b)
        state.pair[place].slot = row
