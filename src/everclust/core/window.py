"""Ring of the latest samples, at most two intervals of them."""

from ..jit.blocks import copy_row
from ..jit.compile import jit


@jit
def remember(state, x):  # INOUT window, clock.window_head, clock.window_size
    """Append x; the oldest beyond 2Λ is forgotten."""
    clock = state.clock[0]
    copy_row(state.window[clock.window_head], x)
    clock.window_head = (clock.window_head + 1) % state.window.shape[0]
    clock.window_size = min(clock.window_size + 1, 2 * clock.interval)


@jit
def average(state, out):  # INOUT out
    """Mean of the samples in the window."""
    clock = state.clock[0]
    for j in range(out.shape[0]):
        out[j] = 0.0
    for i in range(clock.window_size):
        x = state.window[(clock.window_head - 1 - i) % state.window.shape[0]]
        for j in range(out.shape[0]):
            out[j] += (x[j] - out[j]) / (i + 1)
