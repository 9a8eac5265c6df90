"""Pairs of slots, found by hashing: the sparse form of a symmetric matrix."""

from ..jit.compile import jit, kernel
from ..jit.reference import refer
from .layout import NONE


@jit
def scatter(a, b):
    """Hash of the pair, to be cut to the size of the table."""
    return (a * 0x9E3779B1) ^ (b * 0x85EBCA6B)


@jit
def _bucket_of(state, a, b):
    """Bucket of the pair {a, b}, a < b, or the empty one that it would take."""
    mask = state.pair_bucket.shape[0] - 1  # the size is a power of two
    bucket = scatter(a, b) & mask
    while True:
        row = state.pair_bucket[bucket]
        if row == NONE or (state.pair[row].a == a and state.pair[row].b == b):
            return bucket
        bucket = (bucket + 1) & mask


@jit
def pair_of(state, a, b):  # INOUT pair, pair_bucket, scalars.n_pairs
    """Row of the pair {a, b}; a new pair starts without evidence."""
    scalars = state.scalars[0]
    low, high = min(a, b), max(a, b)
    bucket = _bucket_of(state, low, high)
    if state.pair_bucket[bucket] == NONE:
        pair = state.pair[scalars.n_pairs]
        pair.a, pair.b = low, high
        pair.evidence = 0
        pair.is_edge = False
        state.pair_bucket[bucket] = scalars.n_pairs
        scalars.n_pairs += 1
    return state.pair_bucket[bucket]


@kernel
def rehash(state):  # INOUT pair_bucket
    """Enter every pair into an empty table."""
    state = refer(state)
    for bucket in range(state.pair_bucket.shape[0]):
        state.pair_bucket[bucket] = NONE
    for row in range(state.scalars[0].n_pairs):
        state.pair_bucket[_bucket_of(state, state.pair[row].a, state.pair[row].b)] = row
