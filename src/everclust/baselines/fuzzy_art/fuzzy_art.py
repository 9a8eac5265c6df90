"""Fuzzy ART: complement coding, |I ∧ W|, choice, match and learning, as compiled functions.

`weight[j, k]` is coordinate j of category k: one pass over an item updates all categories at once, and each
sum still adds the coordinates in order.
"""

import numpy as np

from ...jit.compile import ORDERLESS, jit

NONE = -1
ROOM = 64  # categories for which new weights have room
PADDING = 16  # columns added to a power of two, to avoid cache-set conflicts


def complement_code(X: np.ndarray) -> np.ndarray:
    """I = (x, 1 − x) for every row x in [0, 1]; its size |I| is the number of features."""
    n, d = X.shape
    items = np.empty((n, 2 * d))  # C-contiguous, as the kernels expect
    items[:, :d], items[:, d:] = X, 1.0 - X
    return items


def new_weights(n_numbers: int, categories: int = ROOM) -> np.ndarray:
    """Weights with room for at least this many categories of items of this size."""
    return np.zeros((n_numbers, (1 << (categories - 1).bit_length()) + PADDING))


def grown(weight: np.ndarray) -> np.ndarray:
    """Copy the weights with twice the room."""
    bigger = new_weights(len(weight), 2 * (weight.shape[1] - PADDING))
    bigger[:, : weight.shape[1]] = weight
    return bigger


@jit
def size_of(item):
    """|I|, summed in the same order as |I ∧ W|, so that both are equal to the bit if W = I."""
    total = 0.0
    for j in range(item.shape[0]):
        total += item[j]
    return total


def _overlaps(item, weight, out):
    """|I ∧ W_k| for all categories, unused ones included."""
    n = out.shape[0]
    for k in range(n):
        out[k] = 0.0
    j = 0
    while j + 4 <= item.shape[0]:  # four coordinates per pass save three of four loads and stores of `out`
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
    """|I ∧ W| / (α + |W|), by which the categories are ranked."""
    return overlap / (alpha + norm)


@jit
def is_before(choices, a, b):
    """True if category a has a larger choice than b, or the same choice and is older."""
    return choices[a] > choices[b] or (choices[a] == choices[b] and a < b)


@jit
def is_better(choices, k, best):
    """True if category k has a larger choice than the best so far, which may be NONE."""
    return best == NONE or choices[k] > choices[best]


@jit
def match(overlap, size):
    """|I ∧ W| / |I|, which is compared with the vigilance."""
    return overlap / size


@jit
def commit(weight, k, item):  # INOUT weight
    """Set category k to an item, W = I; returns |W|."""
    for j in range(item.shape[0]):
        weight[j, k] = item[j]
    return size_of(item)


@jit
def absorb(weight, k, item, rate):  # INOUT weight
    """W ← β(I ∧ W) + (1 − β)W with rate β; returns |W|. No coordinate increases, not even by rounding."""
    norm = 0.0
    for j in range(item.shape[0]):
        if item[j] < weight[j, k]:
            weight[j, k] = min(weight[j, k], rate * item[j] + (1.0 - rate) * weight[j, k])
        norm += weight[j, k]
    return norm
