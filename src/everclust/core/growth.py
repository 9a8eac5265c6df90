"""More room for a state. Arrays grow outside the kernel: it returns early, Python doubles, it goes on."""

import numpy as np

from ..jit.compile import jit
from .handovers import compacted, insert_rows
from .layout import NOT_CENTRED
from .pair_table import rehash
from .state import State, allocate, copy_rows, scalar
from .window import window_rows

#: Arrays that are copied as they are; the others are rebuilt.
COPIED = (
    *("scalars", "node", "prototype", "touched", "mean", "square_sum", "weight", "direction", "projection"),
    *("slot", "isolated", "changed", "pair", "edge", "event", "event_centre"),
    *("probe", "probe_distance", "distance_count"),
)


@jit
def has_room(state):
    """Whether one more sample can be learnt without more memory."""
    scalars = state.scalars[0]
    return (
        scalars.n_nodes < state.node.shape[0]
        and scalars.n_slots + 2 <= state.slot.shape[0]
        and 2 * scalars.n_pairs < state.pair.shape[0]  # half of the hash table stays empty
        and 2 * scalars.interval <= state.window.shape[0]
        and 2 * scalars.n_handovers < state.handover.shape[0]
        # At worst every active node is a part of a split and of a merger, and two clusters are new.
        and scalars.n_events + 2 * scalars.n_active + 4 <= state.event.shape[0]
        and scalars.n_event_centres + scalars.n_active + 4 <= state.event_centre.shape[0]
    )


def grow(state: State) -> State:
    """A copy with twice the room in every array that is full, or nearly: each time costs a copy of all."""
    is_crowded = 4 * scalar(state, "n_handovers") >= len(state.handover)
    handover = compacted(state) if is_crowded else state.handover
    n_nodes, n_active = scalar(state, "n_nodes"), scalar(state, "n_active")
    bigger = allocate(
        state.prototype.shape[1],
        nodes=max(2 * n_nodes, len(state.node)),
        slots=max(2 * scalar(state, "n_slots"), len(state.slot)),
        pairs=max(4 * scalar(state, "n_pairs"), len(state.pair)),
        window=max(2 * scalar(state, "interval"), len(state.window)),
        events=max(scalar(state, "n_events") + 4 * n_active + 4, len(state.event)),
        event_centres=max(scalar(state, "n_event_centres") + 2 * n_active + 4, len(state.event_centre)),
        handovers=4 * int(np.count_nonzero(handover["count"])) if is_crowded else len(handover),
        probes=state.probe.shape[1],
        directions=state.direction.shape[1],
    )
    for name in COPIED:
        copy_rows(getattr(bigger, name), getattr(state, name))
    rows = window_rows(state)
    bigger.window[: len(rows)] = rows
    bigger.scalars["window_head"] = len(rows) % len(bigger.window)
    bigger.scalars["n_coarse_misses"] = NOT_CENTRED
    rehash(bigger)
    if is_crowded:
        bigger.scalars["n_handovers"] = 0
        insert_rows(bigger, handover)
    else:
        copy_rows(bigger.handover, handover)
    return bigger
