"""The read-out with the null of a homogeneous cloud, in plain NumPy: nodes -> clusters.

One principle: a boundary is compared with the hand-overs that would cross it if both sides were one
homogeneous cloud. Where more cross (the boundary is *open*), there is no valley. The expectation serves three
times: to split groups that modularity is too coarse for, to order the mergers, and to refuse a cut through
one cloud.

Everything is a function of (position, links): position = prototypes of the base nodes times the roots of the
feature weights, links = (i, j, count). Louvain is the compiled one of the package.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from everclust.core.communities.louvain import close_up, louvain, new_graph

EXTENT = np.sqrt(12.0)  # of a uniform distribution, in standard deviations
FEWEST_LINKED = 3


@njit
def _louvain(links, n_nodes):
    graph = new_graph(links, n_nodes)
    linked = np.flatnonzero(graph.strength)
    group = louvain(graph)
    group[graph.strength == 0] = group[linked[0]]
    n_groups = close_up(group)
    return group, n_groups


class Cut(NamedTuple):
    """What crosses the boundary of every pair of groups, and what would in a homogeneous cloud."""

    crossing: np.ndarray  # W: hand-overs
    squares: np.ndarray  # Σ w² over the links that cross
    links: np.ndarray  # their number
    plane: np.ndarray  # expected: the mean over planes through the thinner side
    expected: np.ndarray  # geometric mean of `plane` and of what the nodes on the boundary would hand over
    mass: np.ndarray  # Σ g of every group
    centre: np.ndarray  # g-weighted


def strengths(links, n_nodes):
    """g: hand-overs of every node."""
    return np.bincount(links[:, 0], links[:, 2], n_nodes) + np.bincount(links[:, 1], links[:, 2], n_nodes)


def measure(position, links, group, n_groups):
    """All boundaries between groups that hand over to each other."""
    g = strengths(links, len(position))
    mass = np.bincount(group, g, n_groups)
    centre = np.stack([np.bincount(group, g * x, n_groups) for x in position.T], axis=1) / mass[:, None]
    i, j, count = links[:, 0], links[:, 1], links[:, 2].astype(float)
    a, b = np.minimum(group[i], group[j]), np.maximum(group[i], group[j])
    crossing, squares, n_crossing, plane, expected = np.zeros((5, n_groups, n_groups))
    cut = Cut(crossing, squares, n_crossing, plane, expected, mass, centre)
    sides = [_Side(position, links, g, group, c) for c in range(n_groups)]
    for p, q in np.unique(np.stack([a, b], axis=1)[a != b], axis=0):
        across = (a == p) & (b == q)
        u = centre[q] - centre[p]
        length = np.linalg.norm(u)
        u = u / length if length > 0 else u
        on_boundary = len(np.unique(links[across, :2])) / 2
        planes, per_node = np.minimum(sides[p].flow(u), sides[q].flow(u))
        values = (
            count[across].sum(),
            (count[across] ** 2).sum(),
            across.sum(),
            planes,
            np.sqrt(planes * per_node * on_boundary),
        )
        for matrix, value in zip(cut[:5], values, strict=True):
            matrix[p, q] = matrix[q, p] = value
    return cut


class _Side:
    """One group and the links inside it."""

    def __init__(self, position, links, g, group, c):
        inside = (group[links[:, 0]] == c) & (group[links[:, 1]] == c)
        self.nodes = np.flatnonzero(group == c)
        place = np.empty(len(group), np.int64)
        place[self.nodes] = np.arange(len(self.nodes))
        self.i, self.j = place[links[inside, 0]], place[links[inside, 1]]
        self.count = links[inside, 2].astype(float)
        self.g, self.position = g[self.nodes], position[self.nodes]

    def flow(self, u):
        """Hand-overs across a plane at right angles to u: the mean over all planes through the group, and
        the same per node that has a link across the plane."""
        if not len(self.count):
            return 0.0, 0.0
        x = self.position @ u
        span = np.abs(x[self.i] - x[self.j])
        variance = np.average((x - np.average(x, weights=self.g)) ** 2, weights=self.g)
        variance += np.average(span**2, weights=self.count) / 12  # it lies anywhere between two nodes
        if variance == 0:
            return 0.0, 0.0
        total = self.count @ span
        low, high = x.copy(), x.copy()
        np.minimum.at(low, self.i, x[self.j])
        np.minimum.at(low, self.j, x[self.i])
        np.maximum.at(high, self.i, x[self.j])
        np.maximum.at(high, self.j, x[self.i])
        reach = (high - low).sum()
        return total / (EXTENT * np.sqrt(variance)), 2 * total / reach if reach > 0 else 0.0


def components(joined):
    """Connected component of every group, numbered by the first group in it."""
    label = np.arange(len(joined))
    for _ in range(len(joined)):
        lowest = np.where(joined, label[None, :], len(joined)).min(axis=1)
        new = np.minimum(label, lowest)
        if (new == label).all():
            break
        label = new
    return np.unique(label, return_inverse=True)[1]


def finest(position, links):
    """Louvain, and Louvain again inside every group, as long as a clear valley is found there."""
    n = len(position)
    group, n_groups = _louvain(links, n)
    waiting = [np.flatnonzero(group == c) for c in range(n_groups)]
    label, n_found = np.empty(n, np.int64), 0
    while waiting:
        nodes = waiting.pop(0)
        part = split(position, links, nodes)
        if part.max() == 0:
            label[nodes] = n_found
            n_found += 1
        waiting += [nodes[part == c] for c in range(part.max() + 1)] if part.max() > 0 else []
    return label, n_found


def split(position, links, nodes):
    """Part of every node of a group: pieces that a clear valley parts, W + √Σw² < E."""
    place = np.full(len(position), -1)
    place[nodes] = np.arange(len(nodes))
    inside = (place[links[:, 0]] >= 0) & (place[links[:, 1]] >= 0)
    own = np.stack([place[links[inside, 0]], place[links[inside, 1]], links[inside, 2]], axis=1)
    whole = np.zeros(len(nodes), np.int64)
    if len(nodes) <= FEWEST_LINKED or (strengths(own, len(nodes)) == 0).any():
        return whole
    part, n_parts = _louvain(own, len(nodes))
    if n_parts < 2:
        return whole
    cut = measure(position[nodes], own, part, n_parts)
    not_clear = (cut.crossing > 0) & (cut.crossing + np.sqrt(cut.squares) >= cut.plane)
    return components(not_clear)[part]


def path(cut):
    """Label of every finest group at every level, down to two: open boundaries first, then modularity."""
    W, E, mass = cut.crossing.copy(), cut.expected.copy(), cut.mass.copy()
    n = len(mass)
    label, alive = np.arange(n), np.ones(n, bool)
    levels = [label.copy()]
    for _ in range(n - 2):
        gain = W - np.outer(mass, mass) / mass.sum()
        is_open = (W > 0) & (W > E)
        pairs = np.triu(np.outer(alive, alive), 1)
        if (is_open & pairs).any():
            gain, pairs = W - E, is_open & pairs
        a, b = np.unravel_index(np.where(pairs, gain, -np.inf).argmax(), gain.shape)
        for matrix in (W, E):  # sums of unions are the sums over their parts
            matrix[a] += matrix[b]
            matrix[:, a] = matrix[a]
            matrix[a, a] = 0
            matrix[b] = matrix[:, b] = 0
        mass[a] += mass[b]
        mass[b] = 0
        alive[b] = False
        label[label == b] = a
        levels.append(label.copy())
    return levels


def silhouettes(position, g, group, n_groups):
    """(b − a)/max(a, b) of every node: simplified silhouette."""
    mass = np.bincount(group, g, n_groups)
    centre = np.stack([np.bincount(group, g * x, n_groups) for x in position.T], axis=1) / mass[:, None]
    rows = np.arange(len(position))
    away = np.stack([np.sqrt(((position - c) ** 2).sum(axis=1)) for c in centre], axis=1)
    own = np.where(np.bincount(group)[group] > 1, away[rows, group], 0.0)
    away[rows, group] = np.inf
    other = away.min(axis=1)
    longest = np.maximum(own, other)
    return np.divide(other - own, longest, out=np.zeros(len(rows)), where=longest > 0)


def is_one_cloud(position, links, group):
    """Whether every group is open to another, by more than a standard error, with no dip in between."""
    n_groups = group.max() + 1
    cut = measure(position, links, group, n_groups)
    if not closed_nowhere(cut):
        return False
    ratio = np.divide(cut.crossing, cut.plane, out=np.full_like(cut.plane, np.inf), where=cut.plane > 0)
    ratio[cut.crossing == 0] = 0
    nearest = ratio.argmax(axis=1)
    pairs = np.unique(np.sort(np.stack([np.arange(n_groups), nearest], axis=1), axis=1), axis=0)
    W, squares, n_links, E, _ = (matrix[pairs[:, 0], pairs[:, 1]].sum() for matrix in cut[:5])
    error = np.sqrt(max(squares - W**2 / n_links, 0))
    if W - error <= E or 4 * error >= W:
        return False
    valley, ridge, spread = np.sum([dip(position, links, group, cut.centre, a, b) for a, b in pairs], axis=0)
    return bool(valley + np.sqrt(spread) >= ridge)


def closed_nowhere(cut):
    """Whether every group has a neighbour to which it is open."""
    return bool(((cut.crossing > 0) & (cut.crossing > cut.plane)).any(axis=1).all())


def dip(position, links, group, centre, a, b):
    """Hand-overs across the plane between two groups; across those through their centres, the lesser; and
    the squared standard error of the first. All links among the nodes of both count, whichever side."""
    g = strengths(links, len(position))
    u = centre[b] - centre[a]
    x = position @ u
    both = np.isin(group, (a, b))
    inside = both[links[:, 0]] & both[links[:, 1]]
    ends = np.stack([x[links[inside, 0]], x[links[inside, 1]]])
    low, high, count = ends.min(axis=0), ends.max(axis=0), links[inside, 2]
    middle = centre[[a, b]] @ u
    width = [
        np.sqrt(np.average((x[group == c] - m) ** 2, weights=g[group == c]))
        for c, m in zip((a, b), middle, strict=True)
    ]
    share = width[0] / sum(width) if sum(width) > 0 else 0.5
    planes = (middle[0] + share * (middle[1] - middle[0]), *middle)
    between, through_a, through_b = (count[(low <= t) & (high > t)] for t in planes)
    spread = ((between - between.mean()) ** 2).sum() if len(between) else 0.0
    return between.sum(), min(through_a.sum(), through_b.sum()), spread


def levels_of(position, links):
    """(group of every node, silhouette of every node) at every level, finest first; all nodes are linked."""
    g = strengths(links, len(position))
    group, n_groups = finest(position, links)
    if n_groups == 1:
        return [(group, np.zeros(len(group)))]
    answer = []
    for label in path(measure(position, links, group, n_groups)):
        merged = np.unique(label, return_inverse=True)[1][group]
        answer.append((merged, silhouettes(position, g, merged, merged.max() + 1)))
    return answer


def choose(levels, g):
    """The level with the best mean silhouette, the finer on ties."""
    return int(np.argmax([np.average(value, weights=g) for _, value in levels]))


def clusters(prototype, weight, links):
    """Cluster of every base node."""
    n = len(prototype)
    position = prototype * np.sqrt(weight)
    g = strengths(links, n) if len(links) else np.zeros(n)
    linked = np.flatnonzero(g > 0)
    if len(linked) < FEWEST_LINKED:
        return np.zeros(n, np.int64)
    place = np.full(n, -1)
    place[linked] = np.arange(len(linked))
    inner = np.stack([place[links[:, 0]], place[links[:, 1]], links[:, 2]], axis=1)
    label = np.empty(n, np.int64)
    label[linked] = of_linked(position[linked], inner)
    for k in np.flatnonzero(g == 0):
        label[k] = label[linked[((position[linked] - position[k]) ** 2).sum(axis=1).argmin()]]
    return label


def of_linked(position, links):
    """Cluster of every node, all of them linked."""
    levels = levels_of(position, links)
    group = levels[choose(levels, strengths(links, len(position)))][0]
    if group.max() == 0:
        return group
    finest_cut = measure(position, links, levels[0][0], levels[0][0].max() + 1)
    if not closed_nowhere(finest_cut) or not is_one_cloud(position, links, group):
        return group
    cut = measure(position, links, group, group.max() + 1)
    return components((cut.crossing > 0) & (cut.crossing > cut.plane))[group]
