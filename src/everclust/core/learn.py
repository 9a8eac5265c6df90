"""The loop: the only file that knows the order. It reads like the paper's Algorithm 1."""

import numpy as np

from .jit import kernel
from .maintenance import maintain
from .readings import PUBLISHED, Reading
from .resonance import create, resonate
from .search import new_scratch
from .state import SEED_NODES, State, grow, has_room
from .vigilance import recalibrate
from .window import remember


@kernel
def learn_rows(state, X, start, reading):  # INOUT state
    """Learn the rows from start on, each once; returns the first row that found no room."""
    clock = state.clock[0]
    scratch = new_scratch(state)
    for i in range(start, X.shape[0]):
        if not has_room(state):
            return i
        x = X[i]
        remember(state, x)
        if clock.n_nodes < SEED_NODES:
            create(state, x)
        else:
            resonate(state, x, reading.printed_evidence, scratch)
        if clock.n_seen % clock.interval == 0:
            maintain(state)
        clock.n_seen += 1
        clock.since_recalibration += 1
        due = clock.since_recalibration >= clock.interval and clock.n_nodes >= SEED_NODES
        if due and reading.recalibrates:
            recalibrate(state, reading)
            clock.since_recalibration = 0
            clock.window_size = min(clock.window_size, 2 * clock.interval)
    return X.shape[0]


def learn(state: State, X: np.ndarray, reading: Reading = PUBLISHED) -> State:
    """Learn all rows of a C-contiguous float64 array.

    Writes into the state and returns it, or a roomier one that takes its place.
    """
    done = learn_rows(state, X, 0, reading)
    while done < len(X):
        state = grow(state)
        done = learn_rows(state, X, done, reading)
    return state
