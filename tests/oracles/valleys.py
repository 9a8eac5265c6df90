"""Hand-over clusters by density valleys in slow, plain Python, after docs/handover.md.

Everything is computed anew from the definitions: nothing is updated, sorted or kept from one step to the
next. Louvain and the geometry of levels are those of handover.py.
"""

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from oracles import handover as slow
from oracles import idat as oracle
from oracles.handover import Pairs, Points

UNKNOWN = -1
MOST_NUMBERINGS, MOST_NODES = 3, 1000
ROUNDING = 1e-9  # what differs by less is equal
NORMAL = math.sqrt(24 / math.pi * (1 - 2 / math.pi))  # W/E of a normal distribution cut in the middle
FEWEST_PER_UNKNOWN = 10
FEWEST_HANDOVERS, HIGHEST_SCORE, INWARD = 5000, 0.2, 8
MORE_ERRORS, ERRORS_OF_PREVIOUS = 1, 1.5


class Ends(NamedTuple):
    """At which distance clusters end, and from which part of all samples on a node may be one."""

    distance: float
    n_clusters: float
    wins: Sequence[int]
    n_seen: int

    def is_cluster(self, k: int) -> bool:
        return self.wins[k] >= self.n_seen / self.n_clusters / 8

    def parts(self, i: int, j: int, y: Points, weights: Sequence[float]) -> bool:
        is_far = slow.weighted_distance(y[i], y[j], weights) > self.distance
        return is_far and (self.is_cluster(i) or self.is_cluster(j))


def read_out(
    y: Points,
    usage: Sequence[int],
    w: Pairs,
    weights: Sequence[float],
    before: Sequence[int] | None = None,
    share: float = 1.0,
    ends: Ends | None = None,
) -> list[int]:
    """The cluster of every node; nodes that are no candidates have none.

    `before`: the last answer; `share`: of the samples that it knew; `ends`: of clusters.
    """
    base = slow.candidates(usage)
    if ends is not None:
        w = {ij: n for ij, n in w.items() if not ends.parts(*ij, y, weights)}
    linked = slow.linked_nodes(w, base)
    group = dict.fromkeys(linked, 0)
    if len(linked) >= slow.LEAST_LINKED:
        position = [[value * math.sqrt(o) for value, o in zip(y[k], weights, strict=True)] for k in linked]
        known = [UNKNOWN if before is None else before[k] for k in linked]
        group = dict(zip(linked, group_linked(position, slow.between(w, linked), known, share), strict=True))
    for k in base:
        if ends is not None and k not in group and ends.is_cluster(k):
            group[k] = len(usage) + k  # a name of its own
    others = sorted(group)
    labels = [slow.NOT_A_CANDIDATE] * len(usage)
    for k in base:
        nearest = k if k in group or not others else slow.nearest_of(y[k], others, y, weights)
        labels[k] = group.get(nearest, 0)
    return labels


def group_linked(y: Points, w: Pairs, before: Sequence[int], share: float) -> list[int]:
    """Steps 1 to 4, the first two for several numberings of the nodes."""
    levels: list[list[int]] = []
    tried: list[set[tuple[int, ...]]] = []
    for turn in range(max(1, min(MOST_NUMBERINGS, MOST_NODES // len(y)))):
        groups = modular_groups(w, len(y), turn)
        if set(map(tuple, groups)) in tried:
            continue
        tried.append(set(map(tuple, groups)))
        level = finest(y, w, groups)
        if max(level) > 0:
            levels += path(y, w, level)
    if not levels:
        return [0] * len(y)
    return choose_answer(y, w, levels, before, share, previous_levels(y, w, levels, before))


# 1. Finest groups.


def order_of(n: int, turn: int) -> list[int]:
    """Nodes as they are numbered, or by the fractions of their multiples of the golden ratio."""
    return sorted(range(n), key=lambda i: i if turn == 0 else i * (turn * (math.sqrt(5) - 1) / 2) % 1)


def modular_groups(w: Pairs, n: int, turn: int) -> list[list[int]]:
    """Nodes of each of Louvain's groups, with the nodes in some order."""
    order = order_of(n, turn)
    turned = {oracle.pair(i, j): count for (i, j), count in slow.between(w, order).items()}
    found = slow.louvain(turned, n)
    first = [found[order.index(k)] for k in range(n)]
    return [members(first, c) for c in range(max(first) + 1)]


def finest(y: Points, w: Pairs, waiting: list[list[int]]) -> list[int]:
    """Louvain again inside of each group, until there is no clear valley."""
    done: list[list[int]] = []
    while waiting:
        nodes = waiting.pop(0)
        part = split([y[k] for k in nodes], slow.between(w, nodes))
        if max(part) == 0:
            done.append(nodes)
        else:
            waiting += [[nodes[m] for m in members(part, c)] for c in range(max(part) + 1)]
    return [next(c for c, nodes in enumerate(done) if k in nodes) for k in range(len(y))]


def split(y: Points, w: Pairs) -> list[int]:
    """Pieces with a clear valley between them, W + √Σw² < E; others hang together."""
    if len(y) <= slow.LEAST_LINKED or min(slow.strengths(w, len(y))) == 0:
        return [0] * len(y)
    part = slow.louvain(w, len(y))
    piece = list(range(max(part) + 1))
    for a, b in combinations(range(len(piece)), 2):
        across = crossing(w, part, a, b)
        error = math.sqrt(sum(count**2 for count in across.values()))
        if across and sum(across.values()) + error >= (1 - ROUNDING) * expected(y, w, part, a, b).plane:
            piece = [piece[a] if c == piece[b] else c for c in piece]
    number = {c: n for n, c in enumerate(dict.fromkeys(piece))}
    return [number[piece[c]] for c in part]


def members(level: Sequence[int], c: int) -> list[int]:
    """Nodes of a group."""
    return [k for k in range(len(level)) if level[k] == c]


def crossing(w: Pairs, level: Sequence[int], a: int, b: int) -> Pairs:
    """Hand-overs between two groups."""
    return {(i, j): count for (i, j), count in w.items() if {level[i], level[j]} == {a, b}}


# What would cross in one cloud.


class Expected(NamedTuple):
    """Hand-overs across a boundary if both sides were one homogeneous cloud."""

    plane: float  # E
    both: float  # E', the geometric mean of E and of the expectation by nodes at the boundary


def expected(y: Points, w: Pairs, level: Sequence[int], a: int, b: int) -> Expected:
    """The lesser of both sides."""
    g = slow.strengths(w, len(y))
    centre = slow.centres(y, g, level)
    u = [q - p for p, q in zip(centre[a], centre[b], strict=True)]
    length = math.sqrt(sum(value**2 for value in u))
    u = [value / length if length > 0 else 0.0 for value in u]
    x = [sum(p * q for p, q in zip(point, u, strict=True)) for point in y]
    sides = [side(x, w, g, level, c) for c in (a, b)]
    plane, per_node = (min(values) for values in zip(*sides, strict=True))
    at_boundary = len({k for ij in crossing(w, level, a, b) for k in ij}) / 2
    return Expected(plane, math.sqrt(plane * per_node * at_boundary))


def side(x: Sequence[float], w: Pairs, g: Sequence[int], level: Sequence[int], c: int) -> tuple[float, float]:
    """Hand-overs across a plane through group c, in the mean; and the same for each node at the plane."""
    inside = {(i, j): count for (i, j), count in w.items() if level[i] == level[j] == c}
    nodes = members(level, c)
    if not inside:
        return 0.0, 0.0
    weight = sum(g[k] for k in nodes)
    middle = sum(g[k] * x[k] for k in nodes) / weight
    variance = sum(g[k] * (x[k] - middle) ** 2 for k in nodes) / weight
    n_inside = sum(inside.values())
    variance += sum(count * (x[i] - x[j]) ** 2 for (i, j), count in inside.items()) / n_inside / 12
    total = sum(count * abs(x[i] - x[j]) for (i, j), count in inside.items())
    reach = 0.0
    for k in nodes:
        around = [x[k], *(x[j if k == i else i] for i, j in inside if k in (i, j))]
        reach += max(around) - min(around)
    if variance == 0:
        return 0.0, 0.0
    return total / math.sqrt(12 * variance), 2 * total / reach if reach > 0 else 0.0


# 2. Path.


def path(y: Points, w: Pairs, level: Sequence[int]) -> list[list[int]]:
    """All levels down to two groups. Crossings and expectations of unions are sums over the finest parts."""
    parts = {
        (a, b): (sum(across.values()), expected(y, w, level, a, b).both)
        for a, b in combinations(range(max(level) + 1), 2)
        if (across := crossing(w, level, a, b))
    }
    g = slow.strengths(w, len(y))
    place = list(range(max(level) + 1))  # of every finest group
    levels = [list(level)]
    while len(set(place)) > 2:
        a, b = best_merge(parts, slow.group_sums(g, level), place)
        place = [a if c == b else c for c in place]
        levels.append(slow.numbered([place[c] for c in level]))
    return levels


def best_merge(
    parts: dict[tuple[int, int], tuple[int, float]], mass: Sequence[int], place: Sequence[int]
) -> tuple[int, int]:
    """The open pair that exceeds its expectation most, or else the least loss of modularity."""
    places = sorted(set(place))
    weight = {a: sum(m for m, c in zip(mass, place, strict=True) if c == a) for a in places}
    opened: dict[tuple[int, int], float] = {}
    gains: dict[tuple[int, int], float] = {}
    for a, b in combinations(places, 2):
        between = [value for (p, q), value in parts.items() if {place[p], place[q]} == {a, b}]
        W, E = sum(count for count, _ in between), sum(e for _, e in between)
        gains[a, b] = W - weight[a] * weight[b] / sum(mass)
        if W > (1 + ROUNDING) * E:
            opened[a, b] = W - E
    choice = opened or gains
    return max(choice, key=lambda ab: choice[ab])


# 3. Level.


def silhouettes(y: Points, g: Sequence[int], level: Sequence[int]) -> list[float]:
    """(b - a)/max(a, b) of every node; b from itself or from its mirror image in the centre."""
    centre = slow.centres(y, g, level)
    values = []
    for i, own in enumerate(level):
        inner = 0.0 if list(level).count(own) == 1 else math.dist(y[i], centre[own])
        mirrored = [2 * middle - value for middle, value in zip(centre[own], y[i], strict=True)]
        others = [point for c, point in enumerate(centre) if c != own]
        outer = min(math.dist(place, point) for place in (y[i], mirrored) for point in others)
        values.append((outer - inner) / max(inner, outer) if max(inner, outer) > 0 else 0.0)
    return values


def mean(values: Sequence[float], g: Sequence[int]) -> float:
    """Weighted with g."""
    return sum(v * m for v, m in zip(values, g, strict=True)) / sum(g)


def standard_error(values: Sequence[float], g: Sequence[int]) -> float:
    """Of the mean weighted with g."""
    middle = mean(values, g)
    return math.sqrt(sum((m * (v - middle)) ** 2 for v, m in zip(values, g, strict=True))) / sum(g)


def choose_answer(
    y: Points,
    w: Pairs,
    levels: list[list[int]],
    before: Sequence[int],
    share: float,
    previous: Sequence[list[int]] = (),
) -> list[int]:
    """The answer of the best level, or the one most like the last among those of levels that are as good.

    Where no valley divides the best level, its answer stands. `previous`: levels that follow from the last
    answer.
    """
    g = slow.strengths(w, len(y))
    n_found, levels = len(levels), [*levels, *previous]
    values = [silhouettes(y, g, level) for level in levels]
    answers = [unite_open(y, w, level, before, share) for level in levels]
    best = slow.choose_level([mean(value, g) for value in values])
    n_best = len(set(levels[best]))
    if len(set(answers[best])) < n_best:
        return answers[best]
    like = {best: overlap(before, answers[best], g)}
    for k, level in enumerate(levels):
        change = [a - b for a, b in zip(values[best], values[k], strict=True)]
        error = standard_error(change, g)
        if k >= n_found:
            error = ERRORS_OF_PREVIOUS * max(
                error, *(error_of_sums(change, g, of) for of in (level, levels[best]))
            )
        elif len(set(answers[k])) < min(n_best, len(set(level))):  # a union, of fewer clusters
            error = max(error, *(error_of_sums(change, g, of) for of in (level, levels[best])))
        if mean(change, g) <= share * error:
            like.setdefault(k, overlap(before, answers[k], g))
    return answers[max(like, key=lambda k: like[k])]  # the first of equals, and the best is the first of all


def previous_levels(y: Points, w: Pairs, levels: list[list[int]], before: Sequence[int]) -> list[list[int]]:
    """The last answer and where new nodes go with it, merged down, if it may stay."""
    g = slow.strengths(w, len(y))
    best = max(mean(silhouettes(y, g, level), g) for level in levels)
    is_few = FEWEST_HANDOVERS <= sum(w.values()) < FEWEST_PER_UNKNOWN * (len(y) + len(y[0]))
    if not is_few or best > HIGHEST_SCORE or set(before) <= {UNKNOWN}:
        return []
    level = previous_groups(w, before)
    return path(y, w, level) if max(level) > 0 else []


def previous_groups(w: Pairs, before: Sequence[int]) -> list[int]:
    """Known nodes in their clusters, groups of new ones, and the rest with those they hand over to most."""
    group = {k: (c, UNKNOWN) for k, c in enumerate(before) if c != UNKNOWN}
    for nodes in new_groups(w, before):
        inside = sum(2 * count for ends, count in w.items() if nodes.issuperset(ends))
        outside = sum(count for ends, count in w.items() if len(nodes.intersection(ends)) == 1)
        if inside >= INWARD * outside:
            group |= dict.fromkeys(nodes, (UNKNOWN, min(nodes)))
    first = {c: k for k, c in sorted(group.items(), reverse=True)}  # node of every group
    while len(group) < len(before):
        rest = [k for k in range(len(before)) if k not in group]
        shared = {k: shared_with(k, w, group) for k in rest}
        group |= {k: min(to, key=lambda c: (-to[c], first[c])) for k, to in shared.items() if to}
    return slow.numbered([first[group[k]] for k in range(len(before))])


def shared_with(k: int, w: Pairs, group: dict[int, tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Hand-overs between a node and every group."""
    shared: dict[tuple[int, int], int] = {}
    for ends, count in w.items():
        if k in ends and sum(ends) - k in group:
            c = group[sum(ends) - k]
            shared[c] = shared.get(c, 0) + count
    return shared


def new_groups(w: Pairs, before: Sequence[int]) -> list[set[int]]:
    """New nodes that hand over more to new nodes than to known ones, connected by hand-overs."""
    groups: list[set[int]] = []
    for k in range(len(before)):
        to = {True: 0, False: 0}
        for ends, count in w.items():
            if k in ends:
                to[before[sum(ends) - k] == UNKNOWN] += count
        if before[k] == UNKNOWN and to[True] > to[False]:
            near = [group for group in groups if any(oracle.pair(k, other) in w for other in group)]
            groups = [group for group in groups if group not in near] + [{k}.union(*near)]
    return groups


def error_of_sums(values: Sequence[float], g: Sequence[int], level: Sequence[int]) -> float:
    """Standard error of the mean weighted with g, from sums over groups."""
    middle = mean(values, g)
    sums = [sum(g[k] * (values[k] - middle) for k in members(level, c)) for c in set(level)]
    return math.sqrt(sum(value**2 for value in sums)) / sum(g)


def overlap(before: Sequence[int], level: Sequence[int], g: Sequence[int]) -> float:
    """Hand-overs of nodes that stay with the largest part of their group, seen from either side."""
    common: dict[tuple[int, int], int] = {}
    for old, new, count in zip(before, level, g, strict=True):
        if old != UNKNOWN:
            common[old, new] = common.get((old, new), 0) + count
    total = 0
    for end in (0, 1):
        for c in {pair[end] for pair in common}:
            total += max(count for pair, count in common.items() if pair[end] == c)
    return total


# 4. No valley.


def unite_open(y: Points, w: Pairs, level: Sequence[int], before: Sequence[int], share: float) -> list[int]:
    """The groups, or components of open boundaries if every group is open to another without a dip.

    With one standard error more for the union, if it is then closer to the last answer, which had fewer.
    """
    n_before = len(set(before) - {UNKNOWN})
    if len(set(level)) == 1 or sum(w.values()) < FEWEST_PER_UNKNOWN * (len(y) + len(y[0])):
        return list(level)
    united = unite_groups(y, w, level, 0.0)
    if 0 < n_before < len(set(united)):
        once_more, g = unite_groups(y, w, level, MORE_ERRORS * share), slow.strengths(w, len(y))
        if overlap(before, once_more, g) > overlap(before, united, g):
            return once_more
    return united


def unite_groups(y: Points, w: Pairs, level: Sequence[int], leeway: float) -> list[int]:
    """Components of open boundaries, or the groups if one of them is closed or there is a dip."""
    places, g = sorted(set(level)), slow.strengths(w, len(y))
    mass = {a: sum(g[k] for k in members(level, a)) for a in places}
    few = sum(mass.values()) ** 2 < 2.5 * sum(m**2 for m in mass.values())
    excess = open_boundaries(y, w, level, few, leeway)
    least = (1 + ROUNDING) * (NORMAL if few else 1)
    valley = ridge = squares = 0.0
    pairs = partners(excess, mass, few)
    doubtful = [ends for ends in pairs if excess.get(ends, 0.0) <= least]
    if any(few or not is_nearly_open(y, w, level, *ends) for ends in doubtful):
        return list(level)
    for ends in pairs:
        at = planes(y, w, level, *ends)
        lesser = min(at[1:], key=sum)
        valley += sum(at[0])
        ridge += sum(lesser)
        squares += sum(count**2 for count in [*at[0], *lesser])
    error = math.sqrt(squares)
    bound = min(error, 2 * math.sqrt(valley + ridge)) if doubtful else error
    if valley + bound + leeway * error < ridge:
        return list(level)
    name = {a: a for a in places}
    for (a, b), value in [*excess.items(), *dict.fromkeys(pairs, math.inf).items()]:
        if value > least:
            name = {c: name[a] if name[c] == name[b] else name[c] for c in places}
    return [name[c] for c in level]


def is_nearly_open(y: Points, w: Pairs, level: Sequence[int], a: int, b: int) -> bool:
    """No clear valley between two groups that have more than half of their variance in that direction."""
    across = crossing(w, level, a, b).values()
    error = math.sqrt(sum(count**2 for count in across))
    if not across or sum(across) + error < (1 - ROUNDING) * expected(y, w, level, a, b).plane:
        return False
    g = np.array(slow.strengths(w, len(y)), float)
    inside = [np.array(level) == c for c in (a, b)]
    position = np.array(y)
    centre = [np.average(position[of], axis=0, weights=g[of]) for of in inside]
    along = (centre[1] - centre[0]) / np.linalg.norm(centre[1] - centre[0])
    for of, middle in zip(inside, centre, strict=True):
        away = position[of] - middle
        total = float(g[of] @ (away**2).sum(axis=1))
        if 2 * float(g[of] @ (away @ along) ** 2) <= (1 + ROUNDING) * total:
            return False
    return True


def open_boundaries(
    y: Points, w: Pairs, level: Sequence[int], few: bool, leeway: float
) -> dict[tuple[int, int], float]:
    """W/E of every pair of groups, W greater by so many standard errors."""
    excess: dict[tuple[int, int], float] = {}
    for a, b in combinations(sorted(set(level)), 2):
        if across := crossing(w, level, a, b):
            W, E = sum(across.values()), expected(y, w, level, a, b).plane
            error = math.sqrt(sum(count**2 for count in across.values()))
            excess[a, b] = (W + leeway * error) / E if E > 0 else math.inf
            if few and W - max(across.values()) < E:
                excess[a, b] = 0.0
    return excess


def partners(excess: dict[tuple[int, int], float], mass: dict[int, int], few: bool) -> set[tuple[int, int]]:
    """Boundaries between each group and the one it is most open to, among few only heavier ones."""
    found = set()
    for a in mass:
        others = [b for b in sorted(mass) if b != a and (not few or (-mass[b], b) < (-mass[a], a))]
        if others:
            found.add(oracle.pair(a, max(others, key=lambda b: excess.get(oracle.pair(a, b), 0.0))))
    return found


def planes(y: Points, w: Pairs, level: Sequence[int], a: int, b: int) -> list[list[int]]:
    """Hand-overs of the links across the plane between two groups, and those through their centres."""
    g = slow.strengths(w, len(y))
    nodes = {c: members(level, c) for c in (a, b)}
    centre = {
        c: [sum(g[k] * y[k][j] for k in of) / sum(g[k] for k in of) for j in range(len(y[0]))]
        for c, of in nodes.items()
    }
    u = [q - p for p, q in zip(centre[a], centre[b], strict=True)]
    length = math.sqrt(sum(value**2 for value in u))
    x = [sum(p * q for p, q in zip(point, u, strict=True)) / length if length > 0 else 0.0 for point in y]
    middle, width = {}, {}
    for c, of in nodes.items():
        middle[c] = sum(g[k] * x[k] for k in of) / sum(g[k] for k in of) if len(of) > 1 else x[of[0]]
        width[c] = math.sqrt(sum(g[k] * (x[k] - middle[c]) ** 2 for k in of) / sum(g[k] for k in of))
    if width[b] == 0:
        between = middle[b] if width[a] > 0 else (middle[a] + middle[b]) / 2
    else:
        between = middle[a] + width[a] / (width[a] + width[b]) * (middle[b] - middle[a])
    return [
        [
            count
            for (i, j), count in w.items()
            if {level[i], level[j]} <= {a, b} and min(x[i], x[j]) <= t <= max(x[i], x[j])
        ]
        for t in (between, middle[a], middle[b])
    ]


# 6. Samples.


def vote(nodes: Points, clusters: Sequence[int], weight: Sequence[float], x: Sequence[float]) -> int:
    """The cluster for which the nearest of these nodes vote."""
    n_neighbours = min(len(nodes), 1 + math.ceil(math.log2(len(nodes))))
    near = sorted((math.dist(node, x), k) for k, node in enumerate(nodes))[:n_neighbours]
    if near[0][0] == 0:
        return clusters[near[0][1]]
    votes = {clusters[k]: 0.0 for _, k in near}
    for away, k in near:
        votes[clusters[k]] += weight[k] * (near[-1][0] / away - 1)
    return max(votes, key=lambda c: votes[c])  # the first of equals, and they are in the order of distance


def vote_weights(w: Pairs, clusters: Sequence[int]) -> list[float]:
    """Share of every node's hand-overs that stay in its cluster."""
    found = []
    for k, cluster in enumerate(clusters):
        mine = {sum(ends) - k: count for ends, count in w.items() if k in ends}
        inside = sum(count for other, count in mine.items() if clusters[other] == cluster)
        found.append(inside / sum(mine.values()) if mine else 1.0)
    return found
