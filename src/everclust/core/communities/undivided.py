"""Levels that no valley divides: one cloud, or a few, that the silhouette has cut in pieces.

The silhouette compares cuts with each other, never with no cut at all. So the chosen level is tested once
more. If every group is open to another one, and there is no dip in the density on the way, the cuts are
arbitrary, and groups with open boundaries are one cluster. A curve has many boundaries, some with few
hand-overs by chance: between pieces that are long in that direction, it is enough that no clear valley is
there, if the counts show that there is no dip.

Where two groups hold nearly everything, one boundary must tell one cloud from two classes that overlap. So it
must be as open as a normal distribution cut in the middle, not over a single link, and small pieces do not
connect the two.

Counts vary, so a cloud near the limit would be one cluster now and several a thousand samples later. What was
one at the last answer stays one as long as one more standard error, scaled by the share of samples that this
answer had seen, leaves it so.
"""

import math

import numpy as np

from ...jit.arrays import counted_up, highest_index, sum_of, taken
from ...jit.compile import jit, jit_allocating
from ..layout import NO_CLUSTER
from .boundaries import EXTENT, ROUNDING, homogeneous, new_cut, sort_by_group, variance_along
from .levels import overlap
from .louvain import close_up

NORMAL = (
    2.0 / math.sqrt(2.0 * math.pi) * EXTENT * math.sqrt(1.0 - 2.0 / math.pi)
)  # its W/E, cut in the middle
SOME_CLOSED = -1
FEWEST_PER_UNKNOWN = 10.0  # hand-overs per node and feature: fewer do not show where there is a valley
MORE_ERRORS = 1.0  # standard errors in favour of the last answer


@jit_allocating
def unite_open(nodes, group, known):  # INOUT group
    """Connected components of open boundaries where no valley divides the groups, else the groups."""
    n_groups = close_up(group)
    if n_groups == 1 or has_few_handovers(nodes):
        return group
    cut = new_cut(nodes.position, nodes.links, nodes.g, group, n_groups)
    inside = sort_by_group(nodes.links, group, n_groups)
    few = are_few(cut.mass)
    found = unite_groups(nodes, group, cut, inside, few, 0.0)
    if 0 < count_known(nodes.before) < count_known(found):
        once_more = unite_groups(nodes, group, cut, inside, few, MORE_ERRORS * known)
        return once_more if likeness(nodes, once_more) > likeness(nodes, found) else found
    return found


@jit
def has_few_handovers(nodes):
    """Whether hand-overs are too few to show where there is a valley."""
    n, n_features = nodes.position.shape
    return sum_of(nodes.g) < 2.0 * FEWEST_PER_UNKNOWN * (n + n_features)


@jit_allocating
def unite_groups(nodes, group, cut, inside, few, leeway):
    """`unite_open` with so many standard errors in favour of one cluster."""
    least, n_groups = least_excess(few), cut.mass.shape[0]
    excess, partner = np.zeros((n_groups, n_groups)), counted_up(n_groups)
    n_nearly = measure_level(nodes, cut, inside, few, leeway, excess, partner)
    if n_nearly == SOME_CLOSED or has_dip(nodes, group, cut, inside, partner, n_nearly > 0, leeway):
        return group
    united = counted_up(n_groups)
    for a in range(n_groups):
        unite_names(united, a, partner[a])
        for b in range(a):
            if excess[a, b] > least:
                unite_names(united, a, b)
    return taken(united, group)


@jit_allocating
def likeness(nodes, group):
    """How close groups are to the last answer."""
    return overlap(nodes.g, group, nodes.before, counted_up(highest_index(group) + 1))


@jit_allocating
def count_known(label):
    """How many labels there are, without NO_CLUSTER."""
    is_there = np.zeros(highest_index(label) + 1, np.bool_)
    n = 0
    for c in label:
        if c != NO_CLUSTER and not is_there[c]:
            is_there[c] = True
            n += 1
    return n


@jit
def are_few(mass):
    """Whether the number of groups, weighted with what they hold, is nearer to two than to three."""
    total = squares = 0.0
    for a in range(mass.shape[0]):
        total += mass[a]
        squares += mass[a] * mass[a]
    return total * total < 2.5 * squares


@jit
def least_excess(few):
    """W/E of an open boundary is more than that."""
    return (1.0 + ROUNDING) * (NORMAL if few else 1.0)


@jit_allocating
def measure_level(nodes, cut, inside, few, leeway, excess, partner):  # INOUT excess, partner
    """Find W/E of every pair of groups and the partners of the groups, up to the first group that is closed.

    Returns how many groups are not open to their partners, but nearly; or that one is closed, as all such are
    among few.
    """
    least, n_nearly, x = least_excess(few), 0, np.empty(nodes.g.shape[0])
    for a in range(partner.shape[0]):
        for b in range(a + 1, partner.shape[0]):
            if cut.crossing[a, b] > 0.0:
                excess[a, b] = measure_excess(nodes, cut, inside, few, leeway, a, b, x)
                excess[b, a] = excess[a, b]
        b = partner[a] = find_partner(excess, cut.mass, few, a)
        if b != a and not excess[a, b] > least:
            if few or not is_nearly_open(nodes, cut, inside, a, b, x):
                return SOME_CLOSED
            n_nearly += 1
    return n_nearly


@jit_allocating
def measure_excess(nodes, cut, inside, few, leeway, a, b, x):  # INOUT x
    """W/E of two groups, W with so many of its standard errors √Σw² added; 0 if, among few, hand-overs cross
    over a single link."""
    W, expected = cut.crossing[a, b], homogeneous(nodes.position, nodes.g, cut, inside, a, b, x)
    if not few or W - cut.heaviest[a, b] >= expected:
        W += leeway * math.sqrt(cut.squares[a, b])
        return W / expected if expected > 0.0 else np.inf
    return 0.0


@jit
def find_partner(excess, mass, few, a):
    """The group that group a is most open to, the lowest on ties. Among few, only heavier ones count, and
    the heaviest is its own partner."""
    partner, most = a, -1.0
    for b in range(mass.shape[0]):
        is_heavier = mass[b] > mass[a] or (mass[b] == mass[a] and b < a)
        if b != a and (is_heavier or not few) and excess[a, b] > most:
            partner, most = b, excess[a, b]
    return partner


@jit_allocating
def is_nearly_open(nodes, cut, inside, a, b, x):  # INOUT x
    """Whether two groups that are long in that direction, as pieces of a curve, have no clear valley between
    them: few hand-overs at one of many boundaries may be chance."""
    expected = homogeneous(nodes.position, nodes.g, cut, inside, a, b, x)
    W = cut.crossing[a, b]
    no_valley = W > 0.0 and W + math.sqrt(cut.squares[a, b]) >= (1.0 - ROUNDING) * expected
    return no_valley and is_long(nodes, cut, inside, a, x) and is_long(nodes, cut, inside, b, x)


@jit
def is_long(nodes, cut, inside, c, x):
    """Whether more than half of a group's variance lies in one direction, given the coordinates there."""
    members = inside.node[inside.node_start[c] : inside.node_start[c + 1]]
    total = 0.0
    for k in members:
        share = nodes.g[k] / cut.mass[c]
        for j in range(nodes.position.shape[1]):
            total += share * (nodes.position[k, j] - cut.centre[c, j]) ** 2
    return 2.0 * variance_along(nodes.g, members, x)[1] > (1.0 + ROUNDING) * total


@jit_allocating
def has_dip(nodes, group, cut, inside, partner, strictly, leeway):
    """Whether fewer hand-overs cross between each group and its partner than at their centres, by more than
    a standard error; strictly, by more than two standard deviations of such counts; and with leeway, by more
    than so many standard errors in addition. All these boundaries are added up, each of them once."""
    x = np.empty(group.shape[0])
    valley = ridge = squares = 0.0
    for a in range(partner.shape[0]):
        b = partner[a]
        if a < b or partner[b] != a:
            homogeneous(nodes.position, nodes.g, cut, inside, a, b, x)
            between, through, of_between, of_through = dip(nodes.g, group, inside, a, b, x)
            valley += between
            ridge += through
            squares += of_between + of_through
    error = math.sqrt(squares)
    bound = min(error, 2.0 * math.sqrt(valley + ridge)) if strictly else error
    return valley + bound + leeway * error < ridge


@jit
def dip(g, group, inside, a, b, x):
    """Hand-overs across the plane between two groups, and across those through their centres, the lesser;
    Σ w² of both. All links among the nodes of the two groups count."""
    centre_a, width_a = spread_along(g, inside, a, x)
    centre_b, width_b = spread_along(g, inside, b, x)
    middle = between_planes(centre_a, width_a, centre_b, width_b)
    between, of_between = flow_at(group, inside, a, b, x, middle)
    through, of_through = flow_at(group, inside, a, b, x, centre_a)
    other, of_other = flow_at(group, inside, a, b, x, centre_b)
    if other < through:
        through, of_through = other, of_other
    return between, through, of_between, of_through


@jit
def between_planes(centre_a, width_a, centre_b, width_b):
    """The plane that divides the way in the ratio of the widths; exactly that of a group without any."""
    if width_b == 0.0:
        return centre_b if width_a > 0.0 else (centre_a + centre_b) / 2.0
    return centre_a + width_a / (width_a + width_b) * (centre_b - centre_a)


@jit
def spread_along(g, inside, c, x):
    """Centre and standard deviation of a group, given the coordinates of its nodes."""
    nodes = inside.node[inside.node_start[c] : inside.node_start[c + 1]]
    if nodes.shape[0] == 1:
        return x[nodes[0]], 0.0  # exactly: the plane through it touches its links
    mean, variance = variance_along(g, nodes, x)
    return mean, math.sqrt(variance)


@jit
def flow_at(group, inside, a, b, x, t):
    """Hand-overs across the plane at t among the nodes of two groups, and the sum of their squares."""
    total = squares = 0.0
    for c in (a, b, inside.link_start.shape[0] - 2):  # the last ones cross
        for e in range(inside.link_start[c], inside.link_start[c + 1]):
            i, j, count = inside.link[e, 0], inside.link[e, 1], inside.link[e, 2]
            of_both = group[i] in (a, b) and group[j] in (a, b)
            if of_both and min(x[i], x[j]) <= t <= max(x[i], x[j]):
                total += count
                squares += float(count) * count
    return total, squares


@jit
def unite_names(name, a, b):  # INOUT name
    """Give all groups named like a or b the lower name."""
    low, high = min(name[a], name[b]), max(name[a], name[b])
    for k in range(name.shape[0]):
        if name[k] == high:
            name[k] = low
