"""Is it one cloud? A cut that no valley justifies is refused."""

import math

import numpy as np

from .boundaries import (
    closed_nowhere,
    direction,
    excess,
    is_open,
    joined,
    measure,
    project,
    sort_by_group,
    strengths,
)
from .jit import jit, jit_allocating


@jit_allocating
def heal(position, links, group, n_groups, finest_cut):  # INOUT group
    """Join groups that are open to each other, if all of them are parts of one cloud."""
    cut = measure(position, links, group, n_groups)
    if not (closed_nowhere(finest_cut) and closed_nowhere(cut)):
        return
    pair = widest_boundaries(cut)
    if not (is_crossed(cut, pair) and is_level(position, links, group, cut, pair)):
        return
    open_to = np.zeros((n_groups, n_groups), np.bool_)
    for a in range(n_groups):
        for b in range(n_groups):
            open_to[a, b] = is_open(cut, a, b)
    label = joined(open_to)
    for k in range(group.shape[0]):
        group[k] = label[group[k]]


@jit_allocating
def widest_boundaries(cut):
    """[a, b], a < b: is it the boundary with the largest W/E of either group?"""
    n = cut.mass.shape[0]
    pair = np.zeros((n, n), np.bool_)
    for a in range(n):
        best, most = 0, -1.0
        for b in range(n):
            ratio = 0.0
            if cut.crossing[a, b] > 0.0:
                ratio = cut.crossing[a, b] / cut.plane[a, b] if cut.plane[a, b] > 0.0 else math.inf
            if ratio > most:
                best, most = b, ratio
        pair[min(a, best), max(a, best)] = True
    return pair


@jit
def is_crossed(cut, pair):
    """Pooled over these boundaries, does more cross than in one cloud by more than a standard error?

    And is the error small enough: would it show if half of what crosses were missing, at two of them?
    """
    crossing = squares = n_links = plane = 0.0
    n = cut.mass.shape[0]
    for a in range(n):
        for b in range(n):
            if pair[a, b]:
                crossing += cut.crossing[a, b]
                squares += cut.squares[a, b]
                n_links += cut.n_links[a, b]
                plane += cut.plane[a, b]
    error = math.sqrt(excess(squares, crossing, n_links))
    return crossing - error > plane and crossing / 2.0 > 2.0 * error


@jit_allocating
def is_level(position, links, group, cut, pair):
    """Pooled over these boundaries, is there no dip between the centres beyond a standard error?"""
    n = cut.mass.shape[0]
    inside = sort_by_group(links, group, n)
    g = strengths(links, group.shape[0])
    x = np.empty(group.shape[0])
    valley = ridge = spread = 0.0
    for a in range(n):
        for b in range(a + 1, n):
            if pair[a, b]:
                u = direction(cut.centre[a], cut.centre[b])
                at_a, width_a = project(position, g, inside, a, u, x)
                at_b, width_b = project(position, g, inside, b, u, x)
                wide_a, wide_b = math.sqrt(width_a), math.sqrt(width_b)
                share = wide_a / (wide_a + wide_b) if wide_a + wide_b > 0.0 else 0.5
                middle = across(links, group, a, b, x, at_a + share * (at_b - at_a))
                valley += middle[0]
                spread += excess(middle[1], middle[0], middle[2])
                ridge += min(across(links, group, a, b, x, at_a)[0], across(links, group, a, b, x, at_b)[0])
    return valley + math.sqrt(spread) >= ridge


@jit
def across(links, group, a, b, x, plane):
    """(Σ w, Σ w², number) of the links among the nodes of two groups that cross a plane."""
    total = squares = n = 0.0
    for i, j, count in links:
        both = (group[i] == a or group[i] == b) and (group[j] == a or group[j] == b)
        if both and min(x[i], x[j]) <= plane < max(x[i], x[j]):
            total += count
            squares += float(count) * count
            n += 1.0
    return total, squares, n
