"""Pearson correlation of one sample with the members of a prototype, in each block of features.

The rows are standardised once, so that a correlation is a dot product, and the mean correlation with all
members is one dot product with their sum.
"""

from itertools import pairwise

import numpy as np

from ...jit.compile import jit


def standardise(X: np.ndarray, block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centre the rows and scale them to length 1 within each block of features; constant rows become 0.

    Returns the rows with the features sorted by block, and the boundaries of the blocks.
    """
    order = np.argsort(block, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(block))])
    rows = X[:, order]
    for begin, end in pairwise(start):
        if end > begin:
            rows[:, begin:end] = _standardised(rows[:, begin:end])
    return np.ascontiguousarray(rows), start


def _standardised(rows: np.ndarray) -> np.ndarray:
    constant = rows.min(axis=1) == rows.max(axis=1)  # exact; the mean may be rounded
    centred = rows - rows.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1))
    constant |= length == 0.0
    return np.where(constant[:, None], 0.0, centred / np.where(constant, 1.0, length)[:, None])


@jit
def agrees(row, total, n_members, start, threshold):
    """True if the mean correlation with the members exceeds the threshold in any block."""
    for b in range(start.shape[0] - 1):
        product = 0.0
        for j in range(start[b], start[b + 1]):
            product += row[j] * total[j]
        if product / n_members > threshold:
            return True
    return False
