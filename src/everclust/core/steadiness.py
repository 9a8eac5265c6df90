"""Which level of a path is the answer, when there has been an answer before.

Two levels may be nearly equally good, and each new sample may turn the scales. So the level that is most like
the last answer stays unless the best one is better by more than a standard error.
"""

import math
from typing import NamedTuple

import numpy as np

from .jit import jit, jit_allocating
from .topology import NO_CLUSTER


class Level(NamedTuple):
    """The level that is worth most so far."""

    worth: np.ndarray  # of one number
    group: np.ndarray
    seat: np.ndarray  # how well every node sits in its group


@jit_allocating
def new_level(seating):
    """None so far."""
    n = seating.group.shape[0]
    return Level(np.full(1, -math.inf), np.empty(n, np.int64), np.empty(n))


@jit
def consider(level, seating, worth):  # INOUT level
    """Take the present level if it is worth more; on ties, the one before, which is finer, stays."""
    if worth > level.worth[0]:
        level.worth[0] = worth
        for i in range(level.group.shape[0]):
            level.group[i] = seating.group[i]
            level.seat[i] = seating.seat[i]


@jit_allocating
def likeness(seating, before, n_groups):
    """Hand-overs of nodes that stay with the largest part of their group, seen from either side."""
    common = np.zeros((before.max() + 1, n_groups))
    for i in range(before.shape[0]):
        if before[i] != NO_CLUSTER:
            common[before[i], seating.group[i]] += seating.g[i]
    largest = np.zeros(n_groups)
    total = 0.0
    for c in range(common.shape[0]):
        most = 0.0
        for a in range(n_groups):
            most = max(most, common[c, a])
            largest[a] = max(largest[a], common[c, a])
        total += most
    return total + largest.sum()


@jit
def is_clearly_better(g, seat, other):
    """Is the mean seat, weighted with g, better by more than the standard error of the difference?"""
    weight, mean = 0.0, 0.0
    for i in range(g.shape[0]):
        weight += g[i]
        mean += g[i] * (seat[i] - other[i])
    mean /= weight
    squares = 0.0
    for i in range(g.shape[0]):
        squares += (g[i] * (seat[i] - other[i] - mean)) ** 2
    return mean > math.sqrt(squares) / weight
