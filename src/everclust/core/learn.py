"""The loop: the only file that knows the order. It reads like the paper's Algorithm 1."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..jit.compile import Direct, jit_inlined, kernel
from ..jit.holding import hold
from ..jit.reference import refer
from .cluster_ids import update_ids
from .communities.newcomers import has_newcomers, is_due_in_kernel
from .eviction import evict
from .growth import grow, has_room
from .layout import FEWEST, FIRST_YOUNG, FOUND_AT, NEVER, NEXT_PAUSE, NONE_CHANGED, SEED_NODES
from .maintenance import maintain
from .metric import cap
from .nearest import new_scratch
from .resolution import observe
from .resonance import create, resonate
from .state import State, scalar
from .variants import PUBLISHED, UNBOUNDED, Variant
from .vigilance import recalibrate
from .window import remember


@jit_inlined
def learn_sample(state, X, i, variant, scratch):  # INOUT state, scratch
    """Learn one sample: it becomes a node, or resonates with the nodes.

    Taking the row here, not in the kernels, avoids a reference count per sample.
    """
    x = X[i]
    remember(state, x)
    if state.scalars[0].n_nodes < SEED_NODES:
        create(state, x)
    else:
        resonate(state, x, variant, scratch)


@jit_inlined
def finish_sample(state, variant):  # INOUT state
    """Maintenance and ids after a sample, and recalibration where it is due; returns whether it was."""
    scalars = state.scalars[0]
    if scalars.n_seen % scalars.interval == 0:
        maintain(state, variant.capped)
    if scalars.n_changed != NONE_CHANGED:
        update_ids(state)
    scalars.n_seen += 1
    scalars.since_recalibration += 1
    due = scalars.since_recalibration >= scalars.interval and scalars.n_nodes >= SEED_NODES
    if due and variant.recalibrates:
        recalibrate(state, variant)
        return True
    return False


@jit_inlined
def begin_interval(state):  # INOUT scalars
    """Count from here to the next recalibration."""
    scalars = state.scalars[0]
    scalars.since_recalibration = 0
    scalars.window_size = min(scalars.window_size, 2 * scalars.interval)


@jit_inlined
def observe_row(state, X, i):  # INOUT state
    """Let a sample be a probe, or compare it with the probes."""
    observe(state, X[i])


@kernel
def learn_rows(state, X, start, variant):  # INOUT state
    """Learn the rows from start on, each once, as published; returns the first row that found no room."""
    state = refer(state)
    scalars, scratch = state.scalars[0], new_scratch(state)
    for i in range(start, X.shape[0]):
        if scalars.n_nodes > variant.max_nodes or not has_room(state):
            return i
        learn_sample(state, X, i, variant, scratch)
        if finish_sample(state, variant):
            begin_interval(state)
    return X.shape[0]


@kernel
def learn_rows_with_additions(state, X, start, variant, watch):  # INOUT state, watch
    """The same with what `EverClust` adds: probes, weights, and looks for newcomers. Returns also after the
    sample to pause at, and after one at which newcomers were found.

    A kernel of its own, so that users of `IDAT` alone do not wait until it is compiled.
    """
    state = refer(state)
    scalars, scratch = state.scalars[0], new_scratch(state)
    for i in range(start, X.shape[0]):
        if scalars.n_nodes > variant.max_nodes or not has_room(state):
            return i
        learn_sample(state, X, i, variant, scratch)
        if state.probe.shape[1] != 0:
            observe_row(state, X, i)
        if finish_sample(state, variant):
            if variant.capped:
                cap(state)
            begin_interval(state)
        is_check = is_due_in_kernel(scalars.n_seen, min(scalars.n_nodes, variant.max_nodes))
        if is_check and has_newcomers(state, watch[FIRST_YOUNG], watch[FEWEST]):
            watch[FOUND_AT] = scalars.n_seen
            return i + 1
        if scalars.n_seen >= watch[NEXT_PAUSE]:
            return i + 1
    return X.shape[0]


_as_published, _with_additions = Direct(learn_rows), Direct(learn_rows_with_additions)
NOT_WATCHED = np.array([NEVER, NEVER, 0, 0])


def learn(
    state: State,
    X: np.ndarray,
    variant: Variant = PUBLISHED,
    pause: Callable[[State], None] = lambda state: None,
    watch: np.ndarray = NOT_WATCHED,
    held: Any = None,
) -> State:
    """Learn all rows of a C-contiguous float64 array.

    Writes into the state and returns it, or a roomier one that takes its place. `pause(state)` is called
    between kernel runs; it may drain `state.event` (the event buffer), which otherwise grows. `watch` asks
    for such pauses: see the kernels. A pause may write to it. `held` is `hold(state)`, if that is
    there already.
    """
    run: Callable[..., int] = _as_published.run
    rules: list[Any] = [variant]
    if variant.capped or state.probe.size or watch is not NOT_WATCHED:
        run, rules = _with_additions.run, [variant, watch]
    held = held or hold(state)
    is_bounded = variant.max_nodes != UNBOUNDED
    done = surplus = 0
    while True:
        before = done, surplus
        done = run(held, X, done, *rules)
        if is_bounded:
            surplus = _evict_surplus(state, variant.max_nodes)
        pause(state)
        if done == len(X) and not surplus:
            return state
        if (done, surplus) == before:  # no progress: there is no room
            state = grow(state)
            held = hold(state)
            pause(state)  # the kernel would spoil the old state for those who still hold it


def _evict_surplus(state: State, max_nodes: int) -> int:
    """Evict nodes beyond the bound; returns how many remain beyond it because there was no room."""
    if scalar(state, "n_nodes") > max_nodes:
        evict(state, max_nodes)
    return max(scalar(state, "n_nodes") - max_nodes, 0)
