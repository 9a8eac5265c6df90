"""Which level of a merge path is the answer: the best silhouette, unless the last answer is as good.

A node on the far side of its group is far from the next centre however good the grouping is. With two groups
half of the nodes are such, with many groups few, so that a silhouette favours few groups. Here every node
faces its neighbours: its distance to another centre is that of the node or of its mirror image in its own
centre, whichever is nearer.

Two levels may be nearly equally good, and each new sample may tip the balance. So the level closest to the
previous answer stays unless the best level is better by more than one standard error, scaled by the share of
samples that the previous answer had seen.
"""

import math
from bisect import bisect_right
from typing import NamedTuple

import numpy as np

from ...jit.arrays import highest_index, sum_of
from ...jit.compile import jit, jit_allocating
from ..layout import NO_CLUSTER
from .silhouette import quick_square, update_value

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
    for c in groups:
        here = mirrored_distance(squared[own], between[c], squared[c])
        if c != own and here < nearest:
            nearest, centre = here, c
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
    """Group b has joined group a: update the nodes that moved with them or faced one of them."""
    measure_between(silhouette, facing.between, a)
    for i in range(facing.centre.shape[0]):
        own = silhouette.group[i]
        if own == a or facing.centre[i] in (a, b):
            find_facing(facing, silhouette, groups, i)
        else:
            squared = mirrored_distance(
                silhouette.squared[i, own], facing.between[a, own], silhouette.squared[i, a]
            )
            if squared < silhouette.nearest[i]:
                facing.centre[i] = a
                update_value(silhouette, i, squared)


class Level(NamedTuple):
    """The level with the highest score so far."""

    score: np.ndarray  # of one number
    group: np.ndarray
    value: np.ndarray  # silhouette of every node


@jit_allocating
def new_level(n):
    """All nodes in one group, which scores less than any other."""
    score = np.empty(1)
    score[0] = -math.inf
    return Level(score, np.zeros(n, np.int64), np.zeros(n))


@jit
def consider(level, silhouette, score):  # INOUT level
    """Take the present level if it scores higher; on ties the earlier one, which is finer, stays."""
    if score > level.score[0]:
        level.score[0] = score
        for i in range(level.group.shape[0]):
            level.group[i] = silhouette.group[i]
            level.value[i] = silhouette.value[i]


class Overlap(NamedTuple):
    """Hand-overs of the nodes that the clusters of the last answer share with the groups of a level."""

    shared: np.ndarray  # [group, cluster]
    of_cluster: np.ndarray  # the largest part of every cluster
    of_group: np.ndarray  # and of every group


@jit_allocating
def new_overlap(g, group, before, n_groups):
    """The overlap of these groups with the clusters before."""
    shared = np.zeros((n_groups, highest_index(before) + 1))
    for i in range(before.shape[0]):
        if before[i] != NO_CLUSTER:
            shared[group[i], before[i]] += g[i]
    overlap = Overlap(shared, np.zeros(shared.shape[1]), np.zeros(n_groups))
    for a in range(n_groups):
        update_overlap(overlap, a)
    return overlap


@jit
def update_overlap(overlap, a):  # INOUT overlap.of_cluster, overlap.of_group
    """Compare the parts of group a, which may have become larger, with the largest ones."""
    for c in range(overlap.of_cluster.shape[0]):
        here = overlap.shared[a, c]
        overlap.of_cluster[c] = max(overlap.of_cluster[c], here)
        overlap.of_group[a] = max(overlap.of_group[a], here)


@jit
def merge_overlap(overlap, a, b):  # INOUT overlap
    """Group b has joined group a."""
    for c in range(overlap.of_cluster.shape[0]):
        overlap.shared[a, c] += overlap.shared[b, c]
    overlap.of_group[b] = 0.0
    update_overlap(overlap, a)


@jit
def likeness_of(overlap):
    """Hand-overs of nodes that stay with the largest part of their group, counted from either side."""
    return sum_of(overlap.of_cluster) + sum_of(overlap.of_group)


@jit
def is_clearly_better(g, value, other, known):
    """Whether the mean value, weighted with g, is better by more than `known` times its standard error."""
    weight, mean = 0.0, 0.0
    for i in range(g.shape[0]):
        weight += g[i]
        mean += g[i] * (value[i] - other[i])
    mean /= weight
    squares = 0.0
    for i in range(g.shape[0]):
        squares += (g[i] * (value[i] - other[i] - mean)) ** 2
    return mean > known * math.sqrt(squares) / weight
