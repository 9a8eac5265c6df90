"""Ring of the latest samples, at most two intervals of them."""

import numpy as np

from ..jit.blocks import copy_row
from ..jit.compile import jit
from .state import State, scalar


@jit
def remember(state, x):  # INOUT window, scalars.window_head, scalars.window_size
    """Append x; the oldest beyond 2Λ is forgotten."""
    scalars = state.scalars[0]
    copy_row(state.window[scalars.window_head], x)
    scalars.window_head = (scalars.window_head + 1) % state.window.shape[0]
    scalars.window_size = min(scalars.window_size + 1, 2 * scalars.interval)


@jit
def average(state, out):  # INOUT out
    """Mean of the samples in the window."""
    scalars = state.scalars[0]
    for j in range(out.shape[0]):
        out[j] = 0.0
    for i in range(scalars.window_size):
        x = state.window[(scalars.window_head - 1 - i) % state.window.shape[0]]
        for j in range(out.shape[0]):
            out[j] += (x[j] - out[j]) / (i + 1)


def window_rows(state: State) -> np.ndarray:
    """The remembered samples, oldest first."""
    head = scalar(state, "window_head")
    rows = np.arange(head - scalar(state, "window_size"), head)
    return state.window[rows % len(state.window)]
