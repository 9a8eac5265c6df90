"""Which nodes of two models are the same node: a step of merging (docs/merging.md).

Nodes that both models took over from a common base have the same birth number in both. Of the others, nodes
at nearly the same place are matched.
"""

from typing import NamedTuple

import numpy as np

from ..jit.arrays import fill
from ..jit.blocks import LANES, least
from ..jit.compile import jit, kernel
from ..jit.reference import refer
from .layout import NONE
from .nearest import nearest_two, new_scratch, update_coarse
from .serialise import Arrays
from .state import State, allocate, scalars_of


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


def index_by_birth(births: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Index of the node of each wanted birth, or NONE; births rise."""
    index = np.minimum(np.searchsorted(births, wanted), len(births) - 1)
    return np.where(births[index] == wanted, index, NONE)


def match_nodes(a: np.ndarray, b: np.ndarray, weight: np.ndarray, reach: float) -> np.ndarray:
    """Partner in b of every node of a, or NONE: nearest pair first, each node once, none beyond reach.

    Ties go to the lower node of a, then of b.
    """
    return choose_partners(_searchable(b, weight), np.ascontiguousarray(a), reach)


def _searchable(points: np.ndarray, weight: np.ndarray) -> State:
    """A state with these nodes, and two more at infinity: a search always finds two."""
    n, d = points.shape
    state = allocate(d, nodes=n + 2)
    scalars = scalars_of(state)
    scalars.n_nodes = n + 2
    state.prototype[:n], state.prototype[n : n + 2] = points, np.inf
    state.weight[:] = weight
    if n:  # where the coarse copy is centred, and its unit
        state.window[0], state.square_sum[:] = points.mean(axis=0), points.var(axis=0) * n
        scalars.window_size = scalars.window_head = 1
        scalars.n_seen = n
    return state


@kernel
def choose_partners(state, a, reach):  # INOUT state
    """Match the nearest pair as long as there is one; a node of the state that is taken moves to infinity.

    A node of a searches anew only when its turn comes and the two nearest that it knows are taken. Until
    then, its bound is not above its distance to any node that is left.
    """
    state = refer(state)
    n, scratch = a.shape[0], new_scratch(state)
    nearest, second, partner = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    n_groups = (n + LANES - 1) // LANES
    bound, group_least, to_second = np.empty(n_groups * LANES), np.empty(n_groups), np.empty(n)
    fill(bound, np.inf)
    fill(group_least, np.inf)
    is_taken = np.zeros(state.scalars[0].n_nodes, np.bool_)
    for i in range(n):
        partner[i] = NONE
        nearest[i], second[i], bound[i], to_second[i] = search(state, a[i], scratch)
        group_least[i // LANES] = min(group_least[i // LANES], bound[i])
    i = least_within(bound, group_least, reach)
    while i != NONE:
        j = nearest[i]
        if not is_taken[j]:
            partner[i], is_taken[j], bound[i] = j, True, np.inf
            state.prototype[j, 0] = np.inf
            update_coarse(state, j)
        elif second[i] != NONE:
            nearest[i], bound[i], second[i] = second[i], to_second[i], NONE
        else:
            nearest[i], second[i], bound[i], to_second[i] = search(state, a[i], scratch)
        update_least(bound, group_least, i // LANES)
        i = least_within(bound, group_least, reach)
    return partner


@jit
def search(state, x, scratch):  # INOUT scratch, (coarse)
    """`nearest_two`, compiled once."""
    return nearest_two(state, x, scratch)


@jit
def update_least(values, group_least, g):  # INOUT group_least
    """The least value of group g has changed."""
    group_least[g] = least(values[g * LANES : (g + 1) * LANES])


@jit
def least_within(values, group_least, limit):
    """Index of the least value, the lowest on ties; or NONE when it is infinite or beyond the limit."""
    group, lowest = NONE, np.inf
    for g in range(group_least.shape[0]):
        if group_least[g] < lowest:
            group, lowest = g, group_least[g]
    if group == NONE or lowest > limit:
        return NONE
    index = group * LANES
    while values[index] != lowest:
        index += 1
    return index
