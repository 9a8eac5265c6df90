"""Hazen quantiles and Tukey fences, by selection instead of sorting."""

import math

from .jit import jit

TUKEY = 1.5


@jit
def select(values, rank):  # INOUT values (order only)
    """The value of that rank, 0 being the smallest; afterwards no later value is smaller (Hoare)."""
    low, high = 0, values.shape[0] - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return values[rank]


@jit
def hazen(values, level):  # INOUT values (order only)
    """Quantile: the value at rank n·level − ½ (counted from 0), interpolated, ends clamped."""
    n = values.shape[0]
    rank = min(max(n * level - 0.5, 0.0), n - 1.0)
    below = math.floor(rank)
    lower = select(values, below)
    if rank == below:
        return lower
    upper = values[below + 1]
    for value in values[below + 2 :]:
        upper = min(upper, value)
    return lower + (rank - below) * (upper - lower)


@jit
def fences(values):  # INOUT values (order only)
    """(Q1 − 1.5·IQR, Q3 + 1.5·IQR)."""
    q1, q3 = hazen(values, 0.25), hazen(values, 0.75)
    return q1 - TUKEY * (q3 - q1), q3 + TUKEY * (q3 - q1)
