"""Pearson's correlation of one sample with the members of a prototype, block of features by block.

The rows are standardised once, so that a correlation is a dot product; and so that the mean over all members
is one dot product with their sum.
"""

from itertools import pairwise

import numpy as np

from ...jit.compile import jit


def standardise(X: np.ndarray, block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows centred and of length 1 within every block of features, 0 where they are constant.

    Returns them with the features in order of their blocks, and where each block begins and the last ends.
    """
    order = np.argsort(block, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(block))])
    rows = X[:, order]
    for begin, end in pairwise(start):
        if end > begin:
            rows[:, begin:end] = _standardised(rows[:, begin:end])
    return np.ascontiguousarray(rows), start


def _standardised(rows: np.ndarray) -> np.ndarray:
    constant = rows.min(axis=1) == rows.max(axis=1)  # their mean may be off by a rounding
    centred = rows - rows.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1))
    constant |= length == 0.0
    return np.where(constant[:, None], 0.0, centred / np.where(constant, 1.0, length)[:, None])


@jit
def agrees(row, total, n_members, start, threshold):
    """Is the mean correlation with the members above the threshold in any block?"""
    for b in range(start.shape[0] - 1):
        product = 0.0
        for j in range(start[b], start[b + 1]):
            product += row[j] * total[j]
        if product / n_members > threshold:
            return True
    return False
