"""More room for a state. Arrays grow outside the kernel: it returns early, Python doubles, it goes on."""

import numpy as np

from ..jit.compile import jit
from .handovers import compacted, insert_rows
from .layout import NONE, NOT_CENTRED
from .pair_table import rehash
from .state import HANDOVER, State, capacity, copy_rows, new_coarse, scalar
from .window import window_rows


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
    """The same model with twice the room in every array that is full, or nearly.

    It takes the place of the state, which is unchanged: both share the arrays that need not grow.
    """
    n_active = scalar(state, "n_active")
    bigger = _with_rows(
        state._replace(scalars=state.scalars.copy()),
        {
            ("node", "prototype", "touched"): 2 * scalar(state, "n_nodes"),
            ("slot", "isolated", "changed"): 2 * scalar(state, "n_slots"),
            ("pair", "edge"): 4 * scalar(state, "n_pairs"),
            ("event",): scalar(state, "n_events") + 4 * n_active + 4,
            ("event_centre",): scalar(state, "n_event_centres") + 2 * n_active + 4,
        },
    )
    if len(bigger.node) > len(state.node):
        bigger = bigger._replace(coarse=new_coarse(len(bigger.node), state.prototype.shape[1]))
        bigger.scalars["n_coarse_misses"] = NOT_CENTRED
    if len(bigger.pair) > len(state.pair):
        bigger = bigger._replace(pair_bucket=np.full(len(bigger.pair), NONE))
        rehash(bigger)
    if 2 * scalar(state, "interval") > len(state.window):
        rows = window_rows(state)
        bigger = bigger._replace(window=_extended(rows, 2 * scalar(state, "interval")))
        bigger.scalars["window_head"] = len(rows)
    if 4 * scalar(state, "n_handovers") >= len(state.handover):
        bigger = _with_roomy_handovers(bigger)
    return bigger


def _with_rows(state: State, needed: dict[tuple[str, ...], int]) -> State:
    """The same arrays, but for those that need more rows than they have."""
    rows = {name: n for names, n in needed.items() for name in names if n > len(getattr(state, name))}
    return state._replace(**{name: _extended(getattr(state, name), n) for name, n in rows.items()})


def _extended(array: np.ndarray, needed: int) -> np.ndarray:
    """The same rows, and zeros after them."""
    longer = np.zeros((capacity(needed), *array.shape[1:]), array.dtype)
    copy_rows(longer, array)
    return longer


def _with_roomy_handovers(state: State) -> State:
    """The same hand-overs in a table three quarters of which are empty."""
    handover = compacted(state)
    room = capacity(4 * int(np.count_nonzero(handover["count"])))
    bigger = state._replace(handover=np.zeros(room, HANDOVER))
    bigger.scalars["n_handovers"] = 0
    insert_rows(bigger, handover)
    return bigger
