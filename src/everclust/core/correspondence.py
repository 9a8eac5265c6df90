"""Which nodes of two models are the same node: a step of merging (docs/merging.md).

Nodes that both models took over from a common base have the same birth number in both. Of the others, nodes
at nearly the same place are matched.
"""

from typing import NamedTuple

import numpy as np

from ..jit.blocks import LANES, least, pack
from ..jit.compile import jit, kernel
from .layout import NONE
from .serialise import Arrays

PAIRS_AT_ONCE = 2**20  # measured between two growths of the list of pairs
FEATURES_AT_ONCE = 8  # added up between two looks at whether a block is out of reach


class Sources(NamedTuple):
    """Where merged nodes come from: for each of them, its node in both parts and in the base, or NONE."""

    a: np.ndarray
    b: np.ndarray
    base: np.ndarray
    birth: np.ndarray  # of the merged node


def select(sources: Sources, rows: np.ndarray) -> Sources:
    """The sources of some of the merged nodes."""
    return Sources(*(column[rows] for column in sources))


def find_sources(
    a: Arrays, b: Arrays, base: Arrays, n_born: int, weight: np.ndarray, reach: float
) -> Sources:
    """Merged nodes in their order: those of the base, then the others as if both parts had learnt side by
    side. `n_born` is the base's, and new birth numbers begin with it."""
    old = _kept(a, b, base)
    new_a, new_b = (np.flatnonzero(part["birth"] >= n_born) for part in (a, b))
    partner = match_nodes(a["prototype"][new_a], b["prototype"][new_b], weight, reach)
    is_matched = partner != NONE
    alone = np.setdiff1d(np.arange(len(new_b)), partner[is_matched])
    in_b = np.full(len(new_a), NONE)
    in_b[is_matched] = new_b[partner[is_matched]]
    # (2k + 1) / (2K) of both, multiplied by twice both K.
    when = (2 * new_a + 1) * len(b["birth"])
    when_in_b = (2 * in_b + 1) * len(a["birth"])
    when[is_matched] = np.minimum(when, when_in_b)[is_matched]
    when = np.concatenate([when, (2 * new_b[alone] + 1) * len(a["birth"])])
    order = np.argsort(when, kind="stable")  # a before b
    nowhere = np.full(len(order), NONE)
    new = Sources(
        np.concatenate([new_a, nowhere[: len(alone)]])[order],
        np.concatenate([in_b, new_b[alone]])[order],
        nowhere,
        n_born + np.arange(len(order)),
    )
    return Sources(*(np.concatenate(columns) for columns in zip(old, new, strict=True)))


def _kept(a: Arrays, b: Arrays, base: Arrays) -> Sources:
    """Nodes of the base that both parts still have, or one part that has used them since."""
    in_a, in_b = index_by_birth(a["birth"], base["birth"]), index_by_birth(b["birth"], base["birth"])
    kept = ((in_a != NONE) & (in_b != NONE)) | _is_used(a, in_a, base) | _is_used(b, in_b, base)
    return select(Sources(in_a, in_b, np.arange(len(in_a)), base["birth"]), kept)


def _is_used(part: Arrays, index: np.ndarray, base: Arrays) -> np.ndarray:
    return (index != NONE) & (part["usage"][index] > base["usage"])


def index_by_birth(births: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Index of the node of each wanted birth, or NONE; births rise."""
    index = np.minimum(np.searchsorted(births, wanted), len(births) - 1)
    return np.where(births[index] == wanted, index, NONE)


def match_nodes(a: np.ndarray, b: np.ndarray, weight: np.ndarray, reach: float) -> np.ndarray:
    """Partner in b of every node of a, or NONE: nearest pair first, each node once, none beyond reach.

    Ties go to the lower node of a, then of b.
    """
    i, j, distance = near_pairs(a, b, weight, reach)
    order = np.lexsort((j, i, distance))
    return choose_partners(i[order], j[order], len(a), len(b))


def near_pairs(
    a: np.ndarray, b: np.ndarray, weight: np.ndarray, reach: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(i, j, distance) of all pairs within reach."""
    blocks, limit = pack(b), reach * reach * (1.0 + 1e-12)  # not to lose one to rounding
    step = max(1, PAIRS_AT_ONCE // max(len(b), 1))
    room = min(step, len(a)) * len(b)
    i, j, squared = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
    found = []
    for start in range(0, len(a), step):
        n = list_near(a[start : start + step], blocks, len(b), weight, limit, i, j, squared)
        distance = np.sqrt(squared[:n])
        near = distance <= reach
        found.append((start + i[:n][near], j[:n][near], distance[near]))
    empty = np.empty(0, np.int64)
    return tuple(map(np.concatenate, zip((empty, empty, np.empty(0)), *found, strict=True)))  # type: ignore[return-value]


@kernel
def list_near(a, blocks, n_b, weight, limit, i, j, squared):  # INOUT i, j, squared
    """List the pairs with squared distances up to the limit; returns how many there are."""
    sums, n = np.empty(LANES), 0
    for k in range(a.shape[0]):
        for block in range(blocks.shape[0]):
            if is_out_of_reach(a[k], blocks[block], weight, limit, sums):
                continue
            for lane in range(min(LANES, n_b - block * LANES)):
                if sums[lane] <= limit:
                    i[n], j[n], squared[n] = k, block * LANES + lane, sums[lane]
                    n += 1
    return n


@jit
def is_out_of_reach(x, block, weight, limit, sums):  # INOUT sums
    """Squared distances of x to a block, added up in feature order, unless all of them exceed the limit."""
    for lane in range(LANES):
        sums[lane] = 0.0
    for j in range(x.shape[0]):
        position, w, row = x[j], weight[j], block[j]
        for lane in range(LANES):
            difference = position - row[lane]
            sums[lane] += difference * difference * w
        if j % FEATURES_AT_ONCE == FEATURES_AT_ONCE - 1 and least(sums) > limit:
            return True
    return False


@kernel
def choose_partners(i, j, n_a, n_b):
    """Go through the pairs and match both ends of each unless one of them has a partner already."""
    partner, is_taken = np.empty(n_a, np.int64), np.zeros(n_b, np.bool_)
    for k in range(n_a):
        partner[k] = NONE
    for pair in range(i.shape[0]):
        if partner[i[pair]] == NONE and not is_taken[j[pair]]:
            partner[i[pair]] = j[pair]
            is_taken[j[pair]] = True
    return partner
