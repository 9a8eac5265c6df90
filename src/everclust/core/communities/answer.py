"""Which level is the answer: the one with the best silhouette, unless an answer like the last is as good.

Two levels may be nearly equally good, and each new sample may tip the balance. So of the levels that are not
clearly worse than the best, the read-out takes the one whose answer is most like the previous answer. Its
answer are its groups, or what is left of them where no valley divides them (undivided.py): two levels of one
cloud may differ in every cut and have the same answer.

A level is clearly worse if the mean of its silhouettes is less by more than one standard error, scaled by the
share of samples that the previous answer had seen. Where the nodes of a group are better or worse together,
single nodes do not show how far that is chance. So in favour of one cloud instead of several clusters, the
error is that of sums over groups, if that is greater. In favour of several clusters, nothing counts against
a best level that no valley divides. For levels that follow from the last answer (previous.py), the error is
that of sums over groups, too, and they may be worse by one and a half of them.
"""

import math
from typing import NamedTuple

import numpy as np

from ...jit.arrays import highest_index, sum_of
from ...jit.compile import jit, jit_allocating
from ..layout import NO_CLUSTER
from .levels import group_at
from .undivided import count_known, likeness, unite_open

ERRORS_OF_PREVIOUS = 1.5  # standard errors by which levels that follow from the last answer may be worse


@jit_allocating
def choose_answer(nodes, levels, known, n_found):
    """Group of every node: the answer most like the last one among those of levels that are as good.

    `n_found`: the levels after so many follow from the last answer.
    """
    best = best_level(levels.score)
    n_groups = count_known(group_at(levels, best))
    answer = unite_open(nodes, group_at(levels, best), known)
    if count_known(answer) < n_groups:
        return answer
    most, highest, change = likeness(nodes, answer), highest_likeness(nodes), np.empty(nodes.g.shape[0])
    for k in range(levels.score.shape[0]):
        if most == highest:
            break
        lead = lead_over(nodes.g, levels, best, k, change)
        is_good = lead.mean <= known * lead.error
        n_errors = known * (ERRORS_OF_PREVIOUS if k >= n_found else 1.0)
        if not is_good and lead.mean > n_errors * max(
            lead.error, error_of_groups(nodes.g, levels, best, k, change)
        ):
            continue
        if highest_of_unions(nodes, levels.group[k], highest) <= most:
            continue
        other = unite_open(nodes, group_at(levels, k), known)
        n_left = count_known(other)
        is_union = n_left < n_groups and n_left < count_known(group_at(levels, k))
        may_be_worse = is_union or k >= n_found
        if (is_good or may_be_worse) and likeness(nodes, other) > most:
            answer, most = other, likeness(nodes, other)
    return answer


@jit
def best_level(score):
    """The first of the levels with the highest score."""
    best = 0
    for k in range(score.shape[0]):
        if score[k] > score[best]:
            best = k
    return best


@jit
def highest_likeness(nodes):
    """Of groups that are those of the last answer, but for nodes that it did not know."""
    total = 0.0
    for i in range(nodes.g.shape[0]):
        if nodes.before[i] != NO_CLUSTER:
            total += 2.0 * nodes.g[i]
    return total


@jit_allocating
def highest_of_unions(nodes, group, highest):
    """The likeness that groups, or unions of them, may have at most: unions can have no more in common with
    the clusters of the last answer than these have, nor than their parts have together."""
    n_groups = highest_index(group) + 1
    common, largest = np.zeros((n_groups, highest_index(nodes.before) + 1)), np.zeros(n_groups)
    for i in range(group.shape[0]):
        if nodes.before[i] != NO_CLUSTER:
            common[group[i], nodes.before[i]] += nodes.g[i]
            largest[group[i]] = max(largest[group[i]], common[group[i], nodes.before[i]])
    return highest / 2.0 + sum_of(largest)


class Lead(NamedTuple):
    """By how much the silhouettes of one level are higher than those of another, weighted with g."""

    mean: float
    error: float  # standard error of the mean, node by node


@jit
def lead_over(g, levels, best, k, change):  # INOUT change
    """The lead of the best level over level k; the change of every node is its part in what differs from
    the mean."""
    n, mean = g.shape[0], 0.0
    for i in range(n):
        change[i] = levels.value[best, i] - levels.value[k, i]
    weight = sum_of(g)
    for i in range(n):
        mean += g[i] * change[i]
    mean /= weight
    squares = 0.0
    for i in range(n):
        change[i] = g[i] * (change[i] - mean)
        squares += change[i] * change[i]
    return Lead(mean, math.sqrt(squares) / weight)


@jit_allocating
def error_of_groups(g, levels, best, k, change):
    """The standard error of the mean from sums over the groups of either level, the greater."""
    squares = max(sum_of_squares(change, levels.group[best]), sum_of_squares(change, levels.group[k]))
    return math.sqrt(squares) / sum_of(g)


@jit_allocating
def sum_of_squares(values, group):
    """Of the sums over groups."""
    sums, total = np.zeros(highest_index(group) + 1), 0.0
    for i in range(group.shape[0]):
        sums[group[i]] += values[i]
    for c in range(sums.shape[0]):
        total += sums[c] * sums[c]
    return total
