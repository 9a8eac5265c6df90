"""The path: groups merged one pair at a time, down to two, and every level on the way noted.

As long as there are open boundaries (boundaries.py), the one that most exceeds its expectation is merged
first; after that, the pair whose merger costs the least modularity. Every group remembers the pair that is
its first, so that a merger looks again only at groups that it changes something for.
"""

import math
from typing import NamedTuple

import numpy as np

from ...jit.arrays import copied, copied_matrix, counted_up, sum_of
from ...jit.compile import jit, jit_allocating
from .boundaries import ROUNDING
from .levels import new_facing, new_levels, note_level, update_facing
from .silhouette import merge_groups, new_silhouette


class Path(NamedTuple):
    """What is between any two groups of the present level."""

    crossing: np.ndarray  # W
    expected: np.ndarray  # E'
    mass: np.ndarray  # Σ g of every group
    total: float  # Σ g
    partner: np.ndarray  # of every group but the last: the later one that it would be merged with first


@jit_allocating
def merge_down(nodes, cut, group):
    """Merge down to two groups; returns all levels on the way."""
    n = cut.mass.shape[0]
    groups, levels = counted_up(n), new_levels(n - 1, group.shape[0])
    path = new_path(cut, groups)
    silhouette = new_silhouette(nodes.g, group, n, nodes.position)
    facing = new_facing(silhouette, groups)
    while True:
        note_level(levels, n - groups.shape[0], silhouette)
        if groups.shape[0] == 2:
            return levels
        a, b = next_pair(path, groups)
        groups = without(groups, b)
        merge_pair(path, groups, a, b)
        merge_groups(silhouette, a, b)
        update_facing(facing, silhouette, groups, a, b)


@jit_allocating
def new_path(cut, groups):
    """The level of the finest groups."""
    mass = copied(cut.mass)
    path = Path(copied_matrix(cut.crossing), copied_matrix(cut.expected), mass, sum_of(mass), copied(groups))
    for m in range(groups.shape[0] - 1):
        find_first(path, groups, m)
    return path


@jit_allocating
def without(groups, b):
    """The groups but for b."""
    others = np.empty(groups.shape[0] - 1, np.int64)
    n = 0
    for a in groups:
        if a != b:
            others[n] = a
            n += 1
    return others


@jit
def merging_gain(path, a, b):
    """Whether the boundary of two groups is open, and what is gained where it is merged."""
    W, E = path.crossing[a, b], path.expected[a, b]
    if W > (1.0 + ROUNDING) * E:
        return True, W - E
    return False, W * path.total - path.mass[a] * path.mass[b]


@jit
def find_first(path, groups, m):  # INOUT path.partner
    """The later group that group number m would be merged with first, the lowest on ties."""
    a, any_open, most = groups[m], False, -math.inf
    for k in range(m + 1, groups.shape[0]):
        is_open, gain = merging_gain(path, a, groups[k])
        if is_open > any_open or (is_open == any_open and gain > most):
            path.partner[a], any_open, most = groups[k], is_open, gain


@jit
def next_pair(path, groups):
    """The open boundary that most exceeds its expectation; without one, the least loss of modularity."""
    best, any_open, most = groups[0], False, -math.inf
    for m in range(groups.shape[0] - 1):
        is_open, gain = merging_gain(path, groups[m], path.partner[groups[m]])
        if is_open > any_open or (is_open == any_open and gain > most):
            best, any_open, most = groups[m], is_open, gain
    return best, path.partner[best]


@jit
def merge_pair(path, groups, a, b):  # INOUT path
    """Group b has joined group a."""
    unite(path.crossing, a, b)
    unite(path.expected, a, b)
    path.mass[a] += path.mass[b]
    for m in range(groups.shape[0] - 1):
        c = groups[m]
        if c == a or path.partner[c] == a or path.partner[c] == b:
            find_first(path, groups, m)
        elif c < a:
            is_open, gain = merging_gain(path, c, a)
            any_open, most = merging_gain(path, c, path.partner[c])
            is_first = gain > most or (gain == most and a < path.partner[c])
            if is_open > any_open or (is_open == any_open and is_first):
                path.partner[c] = a


@jit
def unite(matrix, a, b):  # INOUT matrix
    """Sums of unions are the sums over their parts."""
    for c in range(matrix.shape[0]):
        matrix[a, c] += matrix[b, c]
        matrix[c, a] = matrix[a, c]
    matrix[a, a] = 0.0
