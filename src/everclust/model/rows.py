"""Rows as the kernels take them: the type, the largest value and number, and how many are read at a time."""

import numpy as np

FLOAT64 = np.dtype(np.float64)  # a dtype is compared faster with this than with its name
CHUNK_CELLS = 2**20  # rows are converted and read in chunks of at most so many values
MOST_SAMPLES = 2**53  # more than any model has learnt: sums of larger counts could overflow
LARGEST = 1e140  # of the absolute values: the squares of larger ones would overflow float64


def as_kernel_rows(rows: np.ndarray) -> np.ndarray:
    """The rows as a writable, aligned, C-contiguous float64 array, the only type kernels are compiled for."""
    if rows.dtype == FLOAT64 and rows.flags.carray:
        return rows
    return np.array(rows, np.float64, order="C")
