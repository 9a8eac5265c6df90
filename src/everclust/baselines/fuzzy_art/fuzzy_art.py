"""Fuzzy ART in compiled parts: complement coding, |I ∧ W|, choice, match and learning.

`weight[j, k]` is number j of category k: one pass over an item meets all categories side by side, and every
sum still runs over the numbers in order.
"""

import numpy as np

from ...jit.compile import ORDERLESS, jit

NONE = -1
ROOM = 64  # categories that new weights have room for
PADDING = 16  # columns beyond a power of two, lest a category's numbers share one cache set


def complement_code(X: np.ndarray) -> np.ndarray:
    """I = (x, 1 − x) for every row x in [0, 1]; its size |I| is the number of features."""
    n, d = X.shape
    items = np.empty((n, 2 * d))  # the kernels are compiled for rows that lie in one piece
    items[:, :d], items[:, d:] = X, 1.0 - X
    return items


def new_weights(n_numbers: int, categories: int = ROOM) -> np.ndarray:
    """Room for at least so many categories of items with so many numbers."""
    return np.zeros((n_numbers, (1 << (categories - 1).bit_length()) + PADDING))


def grown(weight: np.ndarray) -> np.ndarray:
    """The same weights with twice the room."""
    bigger = new_weights(len(weight), 2 * (weight.shape[1] - PADDING))
    bigger[:, : weight.shape[1]] = weight
    return bigger


@jit
def size_of(item):
    """|I|, added up in the same order as |I ∧ W|, which it equals to the bit where W = I."""
    total = 0.0
    for j in range(item.shape[0]):
        total += item[j]
    return total


def _overlaps(item, weight, out):
    """|I ∧ W_k| for as many categories as there is room for."""
    n = out.shape[0]
    for k in range(n):
        out[k] = 0.0
    j = 0
    while j + 4 <= item.shape[0]:  # four numbers per pass spare three of four ways to memory
        x0, x1, x2, x3 = item[j], item[j + 1], item[j + 2], item[j + 3]
        w0, w1, w2, w3 = weight[j], weight[j + 1], weight[j + 2], weight[j + 3]
        for k in range(n):
            total = out[k] + min(x0, w0[k])
            total += min(x1, w1[k])
            total += min(x2, w2[k])
            out[k] = total + min(x3, w3[k])
        j += 4
    while j < item.shape[0]:
        xj, wj = item[j], weight[j]
        for k in range(n):
            out[k] += min(xj, wj[k])
        j += 1


overlaps = jit(_overlaps, ORDERLESS)  # INOUT out


@jit
def choice(overlap, norm, alpha):
    """|I ∧ W| / (α + |W|): by this the categories are put in order."""
    return overlap / (alpha + norm)


@jit
def is_before(choices, a, b):
    """Does category a come before category b: larger choice, or as large and older?"""
    return choices[a] > choices[b] or (choices[a] == choices[b] and a < b)


@jit
def is_better(choices, k, best):
    """Is category k's choice larger than that of the best so far, which may be NONE?"""
    return best == NONE or choices[k] > choices[best]


@jit
def match(overlap, size):
    """|I ∧ W| / |I|: this has to reach the vigilance."""
    return overlap / size


@jit
def commit(weight, k, item):  # INOUT weight
    """Make an item category k, W = I; returns |W|."""
    for j in range(item.shape[0]):
        weight[j, k] = item[j]
    return size_of(item)


@jit
def absorb(weight, k, item, rate):  # INOUT weight
    """W ← β(I ∧ W) + (1 − β)W with rate β; returns |W|. No number ever grows, not even by rounding."""
    norm = 0.0
    for j in range(item.shape[0]):
        if item[j] < weight[j, k]:
            weight[j, k] = min(weight[j, k], rate * item[j] + (1.0 - rate) * weight[j, k])
        norm += weight[j, k]
    return norm
