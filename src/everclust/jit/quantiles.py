"""Hazen quantiles and Tukey fences, by selection instead of sorting."""

import math

import numpy as np

from .compile import jit

TUKEY = 1.5


@jit
def gather(values, low, high, bound):  # INOUT values (order only)
    """Put those below the bound first; returns where the others begin.

    Branch-free Lomuto partition: it moves every value, and so avoids mispredicted branches.
    """
    n_below = low
    for i in range(low, high):
        value = values[i]
        values[i] = values[n_below]
        values[n_below] = value
        n_below += value < bound
    return n_below


@jit
def select(values, rank):  # INOUT values (order only)
    """The value of that rank, 0 being the smallest; afterwards no later value is smaller."""
    low, high = 0, values.shape[0]
    while True:
        pivot = values[(low + high) // 2]
        first = gather(values, low, high, pivot)
        if rank < first:
            high = first
            continue
        low = gather(values, first, high, np.nextafter(pivot, np.inf))  # those that equal it
        if rank < low:
            return pivot


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
