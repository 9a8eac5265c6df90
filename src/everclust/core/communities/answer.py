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
    most, highest = likeness(nodes, answer), highest_likeness(nodes)
    for k in range(levels.score.shape[0]):
        if most == highest:
            break
        lead = lead_over(nodes.g, levels, best, k)
        n_errors = known * (ERRORS_OF_PREVIOUS if k >= n_found else 1.0)
        if lead.mean > n_errors * max(lead.error, lead.of_groups):
            continue
        other = unite_open(nodes, group_at(levels, k), known)
        n_left = count_known(other)
        is_union = n_left < n_groups and n_left < count_known(group_at(levels, k))
        may_vary = is_union or k >= n_found
        if (may_vary or lead.mean <= known * lead.error) and likeness(nodes, other) > most:
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


class Lead(NamedTuple):
    """By how much the silhouettes of one level are higher than those of another, weighted with g."""

    mean: float
    error: float  # standard error of the mean, node by node
    of_groups: float  # the same of sums over the groups of either level, the greater


@jit_allocating
def lead_over(g, levels, best, k):
    """The lead of the best level over level k."""
    change, n = np.empty(g.shape[0]), g.shape[0]
    for i in range(n):
        change[i] = levels.value[best, i] - levels.value[k, i]
    weight, mean = sum_of(g), 0.0
    for i in range(n):
        mean += g[i] * change[i]
    mean /= weight
    squares = 0.0
    for i in range(n):
        change[i] = g[i] * (change[i] - mean)
        squares += change[i] * change[i]
    of_groups = max(
        sum_of_squares(change, group_at(levels, best)), sum_of_squares(change, group_at(levels, k))
    )
    return Lead(mean, math.sqrt(squares) / weight, math.sqrt(of_groups) / weight)


@jit_allocating
def sum_of_squares(values, group):
    """Of the sums over groups."""
    sums, total = np.zeros(highest_index(group) + 1), 0.0
    for i in range(group.shape[0]):
        sums[group[i]] += values[i]
    for c in range(sums.shape[0]):
        total += sums[c] * sums[c]
    return total
