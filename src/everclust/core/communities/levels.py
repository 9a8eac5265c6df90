"""Levels of merge paths and their silhouettes, and when answers are given that later ones are held to.

A node on the far side of its group is far from the next centre however good the grouping is. With two groups
half of the nodes are such, with many groups few, so that a silhouette favours few groups. Here every node
faces its neighbours: its distance to another centre is that of the node or of its mirror image in its own
centre, whichever is nearer.
"""

from bisect import bisect_right
from typing import NamedTuple

import numpy as np

from ...jit.arrays import highest_index, sum_of
from ...jit.compile import jit, jit_allocating
from ..layout import NO_CLUSTER
from .louvain import INDEX
from .silhouette import quick_square, update_value, weighted_mean

SHORTEST_PAUSE, LONGEST_PAUSE = 1000, 20_000  # samples between two answers that later ones are held to


def pause_after(answer: int) -> int:
    """Samples until the next answer: a quarter of the stream."""
    return min(max(answer // 4, SHORTEST_PAUSE), LONGEST_PAUSE)


def _first_answers() -> list[int]:
    """The answers whose pauses differ, and the one before all."""
    answers = [0]
    while pause_after(answers[-1]) < LONGEST_PAUSE:
        answers.append(answers[-1] + pause_after(answers[-1]))
    return answers


FIRST_ANSWERS = _first_answers()


def last_answer(n_seen: int) -> int:
    """The latest answer up to sample n_seen that later ones are held to, or 0."""
    answer = FIRST_ANSWERS[bisect_right(FIRST_ANSWERS, n_seen) - 1]
    return answer + (n_seen - answer) // pause_after(answer) * pause_after(answer)


def share_known(n_seen: int) -> float:
    """Share of the samples that had come when the last answer was given."""
    return last_answer(n_seen - 1) / n_seen


@jit
def measure_between(silhouette, between, a):  # INOUT between
    """Squared distances of one centre to the others."""
    for b in range(between.shape[0]):
        between[a, b] = between[b, a] = quick_square(silhouette.centre[a], silhouette.centre[b])


class Facing(NamedTuple):
    """Which centre of another group every node faces, by itself or by its mirror image in its own centre."""

    between: np.ndarray  # squared distances of centres
    centre: np.ndarray  # which one every node faces


@jit_allocating
def new_facing(silhouette, groups):  # INOUT silhouette
    """The nearest centre of every node."""
    n_groups, n = silhouette.size.shape[0], silhouette.group.shape[0]
    facing = Facing(np.empty((n_groups, n_groups)), np.empty(n, np.int64))
    for a in range(n_groups):
        measure_between(silhouette, facing.between, a)
    for i in range(n):
        find_facing(facing, silhouette, groups, i)
    return facing


@jit
def find_facing(facing, silhouette, groups, i):  # INOUT facing.centre, silhouette
    """Compare the centres of all other groups as seen from node i."""
    own = silhouette.group[i]
    squared, between = silhouette.squared[i], facing.between[own]
    nearest, centre = np.inf, -1
    for k in range(groups.shape[0]):
        c = INDEX(groups[k])
        here = mirrored_distance(squared[own], between[c], squared[c])
        if here < nearest and c != own:
            nearest, centre = here, groups[k]
    facing.centre[i] = centre
    update_value(silhouette, i, nearest)


@jit
def mirrored_distance(own, between, here):
    """Squared distance of a node or of its mirror image to a centre, the lesser.

    With the centre at D and the node at v, as seen from its own centre, |v − D|² + |−v − D|² is
    2|v|² + 2|D|².
    """
    return max(min(here, 2.0 * (own + between) - here), 0.0)


@jit
def update_facing(facing, silhouette, groups, a, b):  # INOUT facing, silhouette
    """Group b has joined group a: update the nodes that moved with them or faced one of them, and those that
    the new centre is nearer to than any before."""
    measure_between(silhouette, facing.between, a)
    for i in range(facing.centre.shape[0]):
        own = silhouette.group[i]
        squared = mirrored_distance(
            silhouette.squared[i, own], facing.between[a, own], silhouette.squared[i, a]
        )
        if own != a and squared < silhouette.nearest[i]:
            facing.centre[i] = a
            update_value(silhouette, i, squared)
        elif own == a or facing.centre[i] in (a, b):
            find_facing(facing, silhouette, groups, i)


class Levels(NamedTuple):
    """Levels of one path or of several, each finer than the next of its path."""

    score: np.ndarray  # mean silhouette of every level
    group: np.ndarray  # of every node at every level
    value: np.ndarray  # silhouette of every node at every level


@jit_allocating
def new_levels(n_levels, n):
    """Room for so many levels of n nodes."""
    return Levels(np.empty(n_levels), np.empty((n_levels, n), INDEX), np.empty((n_levels, n)))


@jit
def note_level(levels, k, silhouette):  # INOUT levels
    """Level k is the present one."""
    levels.score[k] = weighted_mean(silhouette.g, silhouette.value)
    for i in range(silhouette.group.shape[0]):
        levels.group[k, i] = silhouette.group[i]
        levels.value[k, i] = silhouette.value[i]


@jit_allocating
def joined_levels(first, second):
    """The levels of two paths."""
    n_first, n_second = first.score.shape[0], second.score.shape[0]
    levels = new_levels(n_first + n_second, first.group.shape[1])
    for k in range(n_first):
        copy_level(levels, k, first, k)
    for k in range(n_second):
        copy_level(levels, n_first + k, second, k)
    return levels


@jit
def copy_level(levels, k, source, m):  # INOUT levels
    """Level k is level m of others."""
    levels.score[k] = source.score[m]
    for i in range(source.group.shape[1]):
        levels.group[k, i] = source.group[m, i]
        levels.value[k, i] = source.value[m, i]


@jit_allocating
def group_at(levels, k):
    """Group of every node at level k."""
    group = np.empty(levels.group.shape[1], np.int64)
    for i in range(group.shape[0]):
        group[i] = levels.group[k, i]
    return group


@jit_allocating
def overlap(g, group, before, groups):
    """Hand-overs of nodes that stay with the largest part of their group, counted from either side."""
    n_groups = highest_index(group) + 1
    common = np.zeros((highest_index(before) + 1, n_groups))
    for i in range(before.shape[0]):
        if before[i] != NO_CLUSTER:
            common[before[i], group[i]] += g[i]
    largest = np.zeros(n_groups)
    total = 0.0
    for c in range(common.shape[0]):
        most = 0.0
        for a in groups:
            most = max(most, common[c, a])
            largest[a] = max(largest[a], common[c, a])
        total += most
    return total + sum_of(largest)
