"""Array operations as plain loops: numba takes up to a second to compile each of its own."""

import numpy as np

from .compile import jit, jit_allocating


@jit_allocating
def counted_up(n):
    """0, 1, …, n − 1."""
    numbers = np.empty(n, np.int64)
    for k in range(n):
        numbers[k] = k
    return numbers


@jit_allocating
def filled(n, value):
    """n times the same number."""
    values = np.empty(n, np.int64)
    fill(values, value)
    return values


@jit
def fill(values, value):  # INOUT values
    """values[:] = value."""
    for k in range(values.shape[0]):
        values[k] = value


@jit_allocating
def copied(values):
    """An independent copy of a vector."""
    other = np.empty_like(values)
    for k in range(values.shape[0]):
        other[k] = values[k]
    return other


@jit_allocating
def copied_matrix(values):
    """An independent copy of a matrix."""
    other = np.empty_like(values)
    for i in range(values.shape[0]):
        for j in range(values.shape[1]):
            other[i, j] = values[i, j]
    return other


@jit_allocating
def taken(values, index):
    """values[index] of a vector."""
    chosen = np.empty(index.shape[0], values.dtype)
    for k in range(index.shape[0]):
        chosen[k] = values[index[k]]
    return chosen


@jit
def sum_of(values):
    """Σ values, in order; of one value at least."""
    total = values[0]
    for k in range(1, values.shape[0]):
        total += values[k]
    return total


@jit
def accumulate(values):  # INOUT values
    """Replace every number by the sum of the numbers up to it."""
    for k in range(1, values.shape[0]):
        values[k] += values[k - 1]


@jit
def highest_index(values):
    """The largest of non-negative integers."""
    best = 0
    for k in range(values.shape[0]):
        best = max(best, values[k])
    return best


@jit_allocating
def as_floats(values):
    """The same numbers as float64."""
    other = np.empty(values.shape[0])
    for k in range(values.shape[0]):
        other[k] = values[k]
    return other
