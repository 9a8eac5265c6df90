"""Which nodes of two models are the same node: a step of merging (docs/merging.md).

Nodes that both models took over from a common base have the same birth number in both. Of the others, nodes
at nearly the same place are matched.
"""

from typing import NamedTuple

import numpy as np

from ...jit.arrays import fill, filled
from ...jit.blocks import LANES, least, pack
from ...jit.compile import jit, jit_allocating, kernel
from ...jit.simd import WIDTH
from ..coarse import EVERYTHING, N_ROWS, ROW_LIMIT, bound_rows, coarse_copy, has_near, new_bounds, round_up
from ..handovers import index_by_birth
from ..layout import NONE
from ..metric import distance
from ..readout import ReadOut
from ..serialise import Arrays

N_NEAR = 8  # of 1,457 nodes that sought partners among 1,194, 512 searched anew with 2, 280 with 4, 89 with 8


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
    is_alone = np.ones(len(new_b), bool)
    is_alone[partner[is_matched]] = False
    alone = np.flatnonzero(is_alone)
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


def match_nodes(a: np.ndarray, b: np.ndarray, weight: np.ndarray, reach: float) -> np.ndarray:
    """Partner in b of every node of a, or NONE: nearest pair first, each node once, none beyond reach.

    Ties go to the lower node of a, then of b.
    """
    if not len(a) or not len(b):
        return np.full(len(a), NONE)
    blocks = pack(b)
    coarse = coarse_copy(ReadOut(blocks, np.ones(len(blocks) * LANES), np.arange(len(b)), weight))
    unit = float(coarse.scale.max() / np.sqrt(weight.max()))
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return choose_partners(coarse, Candidates(a, b, weight, unit, float(reach)))


class Candidates(NamedTuple):
    """Nodes that may be matched."""

    a: np.ndarray
    b: np.ndarray
    weight: np.ndarray
    unit: float  # of the coarse copy of b
    reach: float


class Near(NamedTuple):
    """For every node of a, the nearest nodes of b that were free when it last searched, the nearest first."""

    node: np.ndarray
    away: np.ndarray  # infinite behind the last of them
    place: np.ndarray  # of the next of them
    bound: np.ndarray  # distance of the next of them, infinite for a node that has a partner or none in reach
    group_least: np.ndarray  # the least bound of every 64 nodes
    is_taken: np.ndarray  # of every node of b


@kernel
def choose_partners(coarse, candidates):
    """Match the nearest pair as long as there is one.

    A node of a searches anew only when its turn comes and all nodes that it knows are taken. Until then, its
    bound is not above its distance to any node that is left.
    """
    a = candidates.a
    near, bounds = new_near(a.shape[0], candidates.b.shape[0]), new_bounds(coarse)
    partner = filled(a.shape[0], NONE)
    for start in range(0, a.shape[0], N_ROWS):
        for r in range(bound_rows(coarse, a, start, bounds)):
            list_nearest(candidates, bounds, r, near, start + r)
    i = least_within(near, candidates.reach)
    while i != NONE:
        j = near.node[i, near.place[i]]
        if not near.is_taken[j]:
            partner[i], near.is_taken[j] = j, True
            set_bound(near, i, np.inf)
        elif near.place[i] < N_NEAR - 1:
            near.place[i] += 1
            set_bound(near, i, near.away[i, near.place[i]])
        else:
            bound_rows(coarse, a[i : i + 1], 0, bounds)
            list_nearest(candidates, bounds, 0, near, i)
        i = least_within(near, candidates.reach)
    return partner


@jit_allocating
def new_near(n, n_others):
    """Room for the lists of n nodes, with none of the others taken."""
    n_groups = (n + LANES - 1) // LANES
    bound, group_least = np.empty(n_groups * LANES), np.empty(n_groups)
    fill(bound, np.inf)
    fill(group_least, np.inf)
    node, away, place = np.empty((n, N_NEAR), np.int64), np.empty((n, N_NEAR)), np.empty(n, np.int64)
    return Near(node, away, place, bound, group_least, np.zeros(n_others, np.bool_))


@jit
def list_nearest(candidates, bounds, r, near, i):  # INOUT near
    """List the free nodes that are nearest to node i of a, whose bounds are those of row r."""
    x, b, bound, norm = candidates.a[i], candidates.b, bounds.bound[r], bounds.norm[r]
    nodes, away = near.node[i], near.away[i]
    fill(away, np.inf)
    near.place[i] = 0
    limit = coarse_limit(norm, candidates.reach * candidates.unit)
    for start in range(0, b.shape[0], WIDTH):
        if has_near(bound, start, limit):
            for k in range(start, min(start + WIDTH, b.shape[0])):
                if bound[k] <= limit and not near.is_taken[k]:
                    insert_near(nodes, away, k, distance(x, b[k], candidates.weight))
            limit = coarse_limit(norm, min(away[N_NEAR - 1], candidates.reach) * candidates.unit)
    set_bound(near, i, away[0])


@jit
def coarse_limit(norm, away):
    """The largest bound that a node within a distance can have, for a row with this ‖x‖²."""
    if norm < ROW_LIMIT and away * away < ROW_LIMIT:
        return round_up(0.5 * away * away)
    return EVERYTHING


@jit
def insert_near(nodes, away, k, to_k):  # INOUT nodes, away
    """Put node k, which comes after those that are in the list, where its distance belongs."""
    n = N_NEAR - 1
    if to_k < away[n]:
        while n > 0 and to_k < away[n - 1]:
            nodes[n], away[n] = nodes[n - 1], away[n - 1]
            n -= 1
        nodes[n], away[n] = k, to_k


@jit
def set_bound(near, i, bound):  # INOUT near.bound, near.group_least
    """Change the bound of node i."""
    near.bound[i] = bound
    g = i // LANES
    near.group_least[g] = least(near.bound[g * LANES : (g + 1) * LANES])


@jit
def least_within(near, limit):
    """Node with the least bound, the lowest on ties; or NONE when it is infinite or beyond the limit."""
    group, lowest = NONE, np.inf
    for g in range(near.group_least.shape[0]):
        if near.group_least[g] < lowest:
            group, lowest = g, near.group_least[g]
    if group == NONE or lowest > limit:
        return NONE
    index = group * LANES
    while near.bound[index] != lowest:
        index += 1
    return index
