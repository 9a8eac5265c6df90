"""Which level of a path is the answer: where nodes sit best, unless the last answer is as good.

A node on the far side of its group is far from the next centre for no merit of the grouping. With two groups
half of the nodes are such, with many groups few, so that a silhouette favours few groups. Here every node is
seated as if it faced its neighbours: by itself or by its mirror image in the centre, whichever is nearer.

Two levels may be nearly equally good, and each new sample may turn the scales. So the level that is most like
the last answer stays unless the best one is better by more than a standard error; of which counts what the
last answer knew of the samples.
"""

import math
from typing import NamedTuple

import numpy as np

from ...jit.compile import jit, jit_allocating
from ..topology import NO_CLUSTER
from .communities import quick_square, seat

DECISION_INTERVAL = 1000  # samples between two answers that are kept


def share_known(n_seen: int) -> float:
    """Share of the samples that had come when the last answer was given."""
    return (n_seen - 1) // DECISION_INTERVAL * DECISION_INTERVAL / n_seen


@jit
def measure_between(seating, between, a):  # INOUT between
    """Squared distances of one centre to the others."""
    for b in range(between.shape[0]):
        between[a, b] = between[b, a] = quick_square(seating.centre[a], seating.centre[b])


class Facing(NamedTuple):
    """Which centre of another group every node faces, by itself or by its mirror image in its own centre."""

    between: np.ndarray  # squared distances of centres
    centre: np.ndarray  # which one every node faces


@jit_allocating
def new_facing(seating, groups):  # INOUT seating
    """All centres are looked at from all nodes."""
    n_groups, n = seating.size.shape[0], seating.group.shape[0]
    facing = Facing(np.empty((n_groups, n_groups)), np.empty(n, np.int64))
    for a in range(n_groups):
        measure_between(seating, facing.between, a)
    for i in range(n):
        look_around(facing, seating, groups, i)
    return facing


@jit
def look_around(facing, seating, groups, i):  # INOUT facing.centre, seating
    """From one node to the centres of all other groups."""
    home = seating.group[i]
    away, between = seating.away[i], facing.between[home]
    nearest, centre = np.inf, -1
    for c in groups:
        squared = face(away[home], between[c], away[c])
        if c != home and squared < nearest:
            nearest, centre = squared, c
    facing.centre[i] = centre
    seat(seating, i, nearest)


@jit
def face(own, between, here):
    """Squared distance of a node or of its mirror image to a centre, the lesser.

    With the centre at D and the node at v, as seen from its own centre, |v − D|² + |−v − D|² is
    2|v|² + 2|D|².
    """
    return max(min(here, 2.0 * (own + between) - here), 0.0)


@jit
def look_again(facing, seating, groups, a, b):  # INOUT facing, seating
    """Group b has joined group a: who has moved with them, or faced one of them, looks around."""
    measure_between(seating, facing.between, a)
    for i in range(facing.centre.shape[0]):
        home = seating.group[i]
        if home == a or facing.centre[i] in (a, b):
            look_around(facing, seating, groups, i)
        else:
            squared = face(seating.away[i, home], facing.between[a, home], seating.away[i, a])
            if squared < seating.nearest[i]:
                facing.centre[i] = a
                seat(seating, i, squared)


class Level(NamedTuple):
    """The level that is worth most so far."""

    worth: np.ndarray  # of one number
    group: np.ndarray
    seat: np.ndarray  # how well every node sits in its group


@jit_allocating
def new_level(n):
    """All nodes in one group, which is worth less than any other."""
    return Level(np.full(1, -math.inf), np.zeros(n, np.int64), np.zeros(n))


@jit
def consider(level, seating, worth):  # INOUT level
    """Take the present level if it is worth more; on ties, the one before, which is finer, stays."""
    if worth > level.worth[0]:
        level.worth[0] = worth
        for i in range(level.group.shape[0]):
            level.group[i] = seating.group[i]
            level.seat[i] = seating.seat[i]


@jit_allocating
def likeness(seating, before, groups):
    """Hand-overs of nodes that stay with the largest part of their group, seen from either side."""
    n_groups = seating.size.shape[0]
    common = np.zeros((before.max() + 1, n_groups))
    for i in range(before.shape[0]):
        if before[i] != NO_CLUSTER:
            common[before[i], seating.group[i]] += seating.g[i]
    largest = np.zeros(n_groups)
    total = 0.0
    for c in range(common.shape[0]):
        most = 0.0
        for a in groups:
            most = max(most, common[c, a])
            largest[a] = max(largest[a], common[c, a])
        total += most
    return total + largest.sum()


@jit
def is_clearly_better(g, seat, other, known):
    """Is the mean seat, weighted with g, better by more than the known share of the difference's standard
    error?"""
    weight, mean = 0.0, 0.0
    for i in range(g.shape[0]):
        weight += g[i]
        mean += g[i] * (seat[i] - other[i])
    mean /= weight
    squares = 0.0
    for i in range(g.shape[0]):
        squares += (g[i] * (seat[i] - other[i] - mean)) ** 2
    return mean > known * math.sqrt(squares) / weight
