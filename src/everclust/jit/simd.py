"""A vector: a handful of numbers as one value of 64 bytes, which a processor computes with at once.

Compilers make vectors of simple loops by themselves, but not of minima, and they keep sums in memory that
fit into registers. With these functions a loop says what it means. `load`, `store` and `splat` go between
arrays and vectors; vectors are added, subtracted and multiplied number by number, like arrays. A machine
with shorter registers takes several. Where nothing is compiled, vectors are slices of arrays; without the
trick they are tuples.
"""

import numpy as np

BYTES = 64
WIDTH = BYTES // 8  # numbers in a vector of float64


def load(array, start):
    """The numbers of an array from start on."""
    return array[start : start + BYTES // array.itemsize]


def store(array, start, vector):  # INOUT array
    """Put a vector into an array."""
    array[start : start + BYTES // array.itemsize] = vector


def splat(number):
    """A vector of equal numbers."""
    return number


def lower(a, b):
    """The lower one of two numbers, place by place."""
    return np.minimum(a, b)


def lowest(vector):
    """The lowest number in a vector."""
    return vector.min()


def higher(a, b):
    """The higher one of two numbers, place by place."""
    return np.maximum(a, b)


def highest(vector):
    """The highest number in a vector."""
    return vector.max()


def square_root(vector):
    """Square roots."""
    return np.sqrt(vector)


def new_aligned(n, dtype=np.float64):
    """Room for n numbers that begins where a vector begins in memory: others are read half as fast."""
    raw = np.empty(n + BYTES, dtype)
    start = -raw.ctypes.data % BYTES // raw.itemsize
    return raw[start : start + n]
