"""The loop: the only file that knows the order. It reads like the paper's Algorithm 1."""

from collections.abc import Callable

import numpy as np

from ..jit.compile import Direct, jit_inlined, kernel
from ..jit.reference import refer
from .cluster_ids import recognise
from .eviction import evict
from .maintenance import maintain
from .metric import cap
from .nearest import new_scratch
from .resonance import create, resonate
from .state import SEED_NODES, State, grow, has_room, scalar
from .topology import NOTHING_NEW
from .variants import PUBLISHED, UNBOUNDED, Reading
from .vigilance import recalibrate
from .window import remember


@jit_inlined
def take_in(state, X, i, reading, scratch):  # INOUT state, scratch
    """One sample becomes a node or meets the nodes. No row in the kernel itself, which would count it."""
    x = X[i]
    remember(state, x)
    if state.clock[0].n_nodes < SEED_NODES:
        create(state, x)
    else:
        resonate(state, x, reading, scratch)


@kernel
def learn_rows(state, X, start, reading):  # INOUT state
    """Learn the rows from start on, each once; returns the first row that found no room."""
    state = refer(state)
    clock, scratch = state.clock[0], new_scratch(state)
    for i in range(start, X.shape[0]):
        if clock.n_nodes > reading.max_nodes or not has_room(state):
            return i
        take_in(state, X, i, reading, scratch)
        if clock.n_seen % clock.interval == 0:
            maintain(state, reading.capped)
        if clock.change != NOTHING_NEW:
            recognise(state)
        clock.n_seen += 1
        clock.since_recalibration += 1
        due = clock.since_recalibration >= clock.interval and clock.n_nodes >= SEED_NODES
        if due and reading.recalibrates:
            recalibrate(state, reading)
            if reading.capped:
                cap(state)
            clock.since_recalibration = 0
            clock.window_size = min(clock.window_size, 2 * clock.interval)
    return X.shape[0]


_direct = Direct(learn_rows)


def learn(
    state: State,
    X: np.ndarray,
    reading: Reading = PUBLISHED,
    pause: Callable[[State], None] = lambda state: None,
) -> State:
    """Learn all rows of a C-contiguous float64 array.

    Writes into the state and returns it, or a roomier one that takes its place. Now and then it pauses;
    who takes down meanwhile what has happened to clusters, and clears it, keeps the state small.
    """
    is_bounded = reading.max_nodes != UNBOUNDED
    done = surplus = 0
    while True:
        before = done, surplus
        done = _direct.run(state, X, done, reading)
        if is_bounded:
            surplus = _let_go(state, reading.max_nodes)
        pause(state)
        if done == len(X) and not surplus:
            return state
        if (done, surplus) == before:  # nothing goes on for want of room
            state = grow(state)


def _let_go(state: State, max_nodes: int) -> int:
    """Keep so many nodes; returns how many more there are for want of room."""
    if scalar(state, "n_nodes") > max_nodes:
        evict(state, max_nodes)
    return max(scalar(state, "n_nodes") - max_nodes, 0)
