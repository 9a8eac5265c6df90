"""Which nodes of two models are the same node: a step of merging (docs/merging.md).

Nodes that both models took over from a common base have the same birth number in both. Of the others, nodes
at nearly the same place are matched.
"""

import math
from typing import NamedTuple

import numpy as np

from ..jit.blocks import LANES, least, pack
from ..jit.compile import jit, kernel
from ..jit.simd import WIDTH, load, splat, store
from .layout import NONE
from .serialise import Arrays


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
    return choose_partners(np.ascontiguousarray(a), pack(b), weight, reach)


@kernel
def choose_partners(a, blocks, weight, reach):  # INOUT blocks
    """Match the nearest pair as long as there is one; a node of b that is taken moves to infinity.

    A node's nearest one in b is searched anew only when it comes to its turn and finds it taken: until then,
    its old distance is a lower bound.
    """
    n, squared = a.shape[0], np.empty(LANES)
    partner, nearest, away = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    is_taken = np.zeros(blocks.shape[0] * LANES, np.bool_)
    for i in range(n):
        partner[i] = NONE
        nearest[i], away[i] = find_nearest(a[i], blocks, weight, reach, squared)
    i = lowest_index(away)
    while i != NONE:
        j = nearest[i]
        if is_taken[j]:
            nearest[i], away[i] = find_nearest(a[i], blocks, weight, reach, squared)
        else:
            partner[i], is_taken[j], away[i] = j, True, np.inf
            blocks[j // LANES, 0, j % LANES] = np.inf
        i = lowest_index(away)
    return partner


@jit
def squared_distances(x, block, weight, out):  # INOUT out
    """Squared distances of x to the points of one block, with the bits of `metric.distance`."""
    for lane in range(0, LANES, 4 * WIDTH):
        a = b = c = d = splat(0.0)
        for j in range(x.shape[0]):
            xj, w, row = splat(x[j]), splat(weight[j]), block[j]
            difference = xj - load(row, lane)
            a = a + difference * difference * w
            difference = xj - load(row, lane + WIDTH)
            b = b + difference * difference * w
            difference = xj - load(row, lane + 2 * WIDTH)
            c = c + difference * difference * w
            difference = xj - load(row, lane + 3 * WIDTH)
            d = d + difference * difference * w
        store(out, lane, a)
        store(out, lane + WIDTH, b)
        store(out, lane + 2 * WIDTH, c)
        store(out, lane + 3 * WIDTH, d)


@jit
def find_nearest(x, blocks, weight, reach, squared):  # INOUT squared
    """(nearest point to x within reach, its distance), ties to the lowest; or (NONE, infinity)."""
    nearest, away, limit = NONE, np.inf, np.inf
    for b in range(blocks.shape[0]):
        squared_distances(x, blocks[b], weight, squared)
        if least(squared) >= limit:
            continue
        for lane in range(LANES):
            if squared[lane] < limit:
                distance = math.sqrt(squared[lane])
                if distance < away:
                    nearest, away, limit = b * LANES + lane, distance, squared[lane]
    return (nearest, away) if away <= reach else (NONE, np.inf)


@jit
def lowest_index(values):
    """Index of the least of the values, or NONE when all are infinite."""
    index, least_value = NONE, np.inf
    for k in range(values.shape[0]):
        if values[k] < least_value:
            index, least_value = k, values[k]
    return index
