"""Hand-overs and Louvain in slow, plain Python: what the fast code is compared with.

The first half adds to the specification of IDAT what hand-over clusters need while learning: a
count of hand-overs per pair of nodes and, for the capped metric, a weight per feature. The second
half has the steps that the read-out in valleys.py begins with. Nothing is imported from everclust, so a
slip in one is not a slip in both.

Notation: w{i,j} the hand-overs between nodes i and j, g_i all those of node i, G_c all those of
group c, total the sum of all g. A gain of modularity is written times total: it is a whole number then,
and every comparison is exact.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from oracles import idat as oracle

Pairs = dict[tuple[int, int], int]  # (i, j) with i < j; only positive counts are kept
Point = Sequence[float] | np.ndarray
Points = Sequence[Point] | np.ndarray

NOT_A_CANDIDATE = -1
LEAST_LINKED = 3
MOST_PASSES = 100
FINENESS = 10**12  # a move gains more than one part in so many

N_DIRECTIONS = 8
MOST_DEVIATIONS = 3.0
ENOUGH_SAMPLES = 256
LARGEST_EXCESS = 0.1
ALL_UNTIL, ONE_IN = 1024, 8
MOST_NODES, FEWEST_NODES = 128, 8
FAR = 0.7


# ---- While learning --------------------------------------------------------------------------


class HandoverOracle(oracle.Oracle):
    """IDAT that counts hand-overs, with or without the capped metric."""

    def __init__(self, *, capped: bool = False, **variant: Any) -> None:
        super().__init__(**variant)
        self.is_capped = capped
        self.handover: Pairs = {}
        self.feature_weight: list[float] = []
        self.nearest: tuple[int, int] = (-1, -1)  # of the newest sample
        self.directions: list[list[float]] = []  # signs of features, in standard deviations
        self.excess = [0.0] * N_DIRECTIONS  # of the variance along each direction
        self.expected = [0.0] * N_DIRECTIONS
        self.foretold: list[bool] = []  # for every feature
        self.foretold_at = 0
        self.n_relaxed = 0  # recalibrations, for tests to see that there were some

    def learn(self, x: Point) -> None:
        if not self.feature_weight:
            self.feature_weight = [1.0] * len(x)
            self.foretold = [False] * len(x)
        super().learn(x)

    def resonate(self, x: list[float]) -> None:
        """Hand-over: the two nearest nodes count one, also if the second does not resonate.

        Birth: a new node counts one with the node nearest to it.
        """
        n_before = len(self.prototype)
        super().resonate(x)
        first, second = self.nearest
        if len(self.prototype) == n_before:
            self.hand_over(first, second)
        else:
            self.link_birth(n_before, first)

    def nearest_two(self, x: list[float]) -> tuple[int, int]:
        self.nearest = super().nearest_two(x)
        return self.nearest

    def link_birth(self, k: int, first: int) -> None:
        self.hand_over(k, first)

    def hand_over(self, i: int, j: int) -> None:
        ij = oracle.pair(i, j)
        self.handover[ij] = self.handover.get(ij, 0) + 1

    def keep_only(self, kept: list[int]) -> None:
        """A dropped node takes its pairs with it; the indices of the others close up."""
        super().keep_only(kept)
        self.handover = between(self.handover, kept)

    def distance(self, a: Point, b: Point) -> float:
        return weighted_distance(a, b, self.feature_weight)

    def distances(self, x: Point, points: Points) -> list[float]:
        return weighted_distances(x, points, self.feature_weight)

    def spread(self) -> float:
        """The largest standard deviation of any weighted feature, not below the floor."""
        if self.n_welford < 2:
            return oracle.SCALE_FLOOR
        variance = variances(self.m2, self.n_welford)
        weighted = [weight * v for weight, v in zip(self.feature_weight, variance, strict=True)]
        widest = max(math.sqrt(v) for v in weighted)
        return widest if self.above(widest, oracle.SCALE_FLOOR) else oracle.SCALE_FLOOR

    def recalibrate(self) -> None:
        """Cap: new weights right after interval and vigilance, also when those were kept."""
        if self.is_capped and self.directions:
            self.project_newest()
        super().recalibrate()
        if self.is_capped:
            if len(self.prototype) >= N_DIRECTIONS:
                self.directions = [self.standardised(k) for k in range(N_DIRECTIONS)]
            self.feature_weight = self.capped()

    def capped(self) -> list[float]:
        """The cap is relaxed for features that others foretell, where features are uncorrelated."""
        variance = variances(self.m2, self.n_welford)
        if not self.are_uncorrelated():
            return capped_weights(self.feature_weight, self.m2, self.n_welford)
        cap = median([v for v in variance if v > 0])
        wide = max(cap, min(4 * cap, sorted([0.0, *variance])[-2]))
        n_used = sum(usage > 1 for usage in self.usage)
        if wide > cap and self.n_seen >= 2 * self.foretold_at and n_used >= FEWEST_NODES:
            self.foretold_at = self.n_seen
            self.foretold = self.find_foretold(variance, cap, wide)
        limits = [wide if foretold else cap for foretold in self.foretold]
        self.n_relaxed += wide > cap and any(self.foretold)
        return [min(1.0, limit / v) if v > 0 else 1.0 for limit, v in zip(limits, variance, strict=True)]

    def find_foretold(self, variance: Sequence[float], cap: float, wide: float) -> list[bool]:
        """Nodes that are near in half of the features should be near in the other half."""
        used = [k for k in range(len(self.usage)) if self.usage[k] > 1]
        places = [self.deviations(self.prototype[k], variance) for k in used]
        n, features = len(places), range(len(variance))
        mean = [sum(z[j] for z in places) / n for j in features]
        spread = [sum((z[j] - mean[j]) ** 2 for z in places) / n for j in features]
        found, expected = [0.0] * len(variance), [0.0] * len(variance)
        n_compared = min(n, MOST_NODES)
        for i in range(n_compared):
            k = i * n // n_compared
            direction = self.directions[i % N_DIRECTIONS]
            side = [places[k][j] * direction[j] > 0 for j in features]
            varying = {side[j] for j in features if variance[j] > 0}
            if len(varying) < 2:
                continue
            near = {half: nearest_in_half(places, k, side, half, variance, cap) for half in varying}
            for j in features:
                found[j] += (places[near[not side[j]]][j] - places[k][j]) ** 2
                expected[j] += ((places[k][j] - mean[j]) ** 2 + spread[j]) * (n / (n - 1))
        gain = [min(v, wide) - min(v, cap) for v in variance]
        found_in_all = sum(gain[j] * found[j] for j in features)
        expected_in_all = sum(gain[j] * expected[j] for j in features)
        are_foretold = self.above(FAR * expected_in_all, found_in_all)
        return [are_foretold and self.above(FAR * expected[j], found[j]) for j in features]

    def deviations(self, node: Sequence[float], variance: Sequence[float]) -> list[float]:
        """Where a node is, in standard deviations, at most three."""
        z = [
            (x - mean) * (1.0 / math.sqrt(v)) if v > 0 else 0.0
            for x, mean, v in zip(node, self.mean, variance, strict=True)
        ]
        return [max(-MOST_DEVIATIONS, min(MOST_DEVIATIONS, value)) for value in z]

    def project_newest(self) -> None:
        """The samples since the latest recalibration; late in the stream, one in eight, eight times."""
        newest_first = self.window[::-1][: self.since_recalibration]
        for i, x in enumerate(newest_first):
            number = self.n_seen - i
            if number <= ALL_UNTIL:
                self.project(x, 1)
            elif number % ONE_IN == 0:
                self.project(x, ONE_IN)

    def project(self, x: Point, times: int) -> None:
        """How much the variance along a direction exceeds the sum of the features' variances."""
        for k, direction in enumerate(self.directions):
            total = squares = 0.0
            for j in range(len(x)):
                z = (x[j] - self.mean[j]) * direction[j]
                z = max(-MOST_DEVIATIONS, min(MOST_DEVIATIONS, z))
                total += z
                squares += z * z
            self.excess[k] += (total * total - squares) * times
            self.expected[k] += squares * times

    def are_uncorrelated(self) -> bool:
        if self.n_welford < ENOUGH_SAMPLES or min(self.expected) <= 0:
            return False
        shares = [excess / expected for excess, expected in zip(self.excess, self.expected, strict=True)]
        return self.at_least(LARGEST_EXCESS**2, sum(share**2 for share in shares) / N_DIRECTIONS)

    def standardised(self, k: int) -> list[float]:
        """Direction k: where a feature had no sign, node k·K/8 says on which side of the mean it is."""
        node = self.prototype[k * len(self.prototype) // N_DIRECTIONS]
        sides = self.directions[k] if self.directions else [0.0] * len(node)
        found = []
        for j, variance in enumerate(variances(self.m2, self.n_welford)):
            side = sides[j] or node[j] - self.mean[j]
            found.append(math.copysign(1.0 / math.sqrt(variance), side) if variance > 0 and side else 0.0)
        return found


def variances(m2: Sequence[float], n: int) -> list[float]:
    return [square_sum / (n - 1) for square_sum in m2]


def nearest_in_half(
    places: Sequence[Sequence[float]],
    k: int,
    side: Sequence[bool],
    half: bool,
    variance: Sequence[float],
    cap: float,
) -> int:
    """The other node that is nearest to node k by the features on one side."""

    def squared_distance(i: int) -> float:
        return sum(
            (places[k][j] - places[i][j]) ** 2 * min(variance[j], cap)
            for j in range(len(side))
            if side[j] == half
        )

    return min((i for i in range(len(places)) if i != k), key=squared_distance)


def capped_weights(weights: Sequence[float], m2: Sequence[float], n: int) -> list[float]:
    """No feature may weigh more than the median of those that vary; without any, nothing changes."""
    if n < 2 or not any(v > 0 for v in variances(m2, n)):
        return list(weights)
    variance = variances(m2, n)
    cap = median([v for v in variance if v > 0])
    return [min(1.0, cap / v) if v > 0 else 1.0 for v in variance]


def median(values: Sequence[float]) -> float:
    """The middle one, or the mean of the middle two."""
    ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2 == 1:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2


def weighted_distance(a: Point, b: Point, weights: Sequence[float]) -> float:
    total = 0.0
    for j in range(len(a)):
        difference = a[j] - b[j]
        total += weights[j] * (difference * difference)
    return math.sqrt(total)


def weighted_distances(x: Point, points: Points, weights: Sequence[float]) -> list[float]:
    """The same to many points at once, bit for bit: feature after feature, nothing is regrouped."""
    columns = np.array(points, float).T.copy()
    total = np.zeros(len(points))
    for j in range(len(x)):
        difference = x[j] - columns[j]
        total += weights[j] * (difference * difference)
    return np.sqrt(total).tolist()


# ---- First steps of the read-out ---------------------------------------------------------------


# 1. Candidates, and the hand-overs among them.


def candidates(usage: Sequence[int]) -> list[int]:
    """1. B: the nodes used more than once, or all if there is none."""
    nodes = range(len(usage))
    return [k for k in nodes if usage[k] > 1] or list(nodes)


def between(w: Pairs, nodes: Sequence[int]) -> Pairs:
    """1. The pairs within `nodes`, each node called by its place among them."""
    place = {node: i for i, node in enumerate(nodes)}
    return {(place[i], place[j]): n for (i, j), n in w.items() if i in place and j in place}


def strengths(w: Pairs, n: int) -> list[int]:
    """1. g_i: all hand-overs of node i."""
    g = [0] * n
    for (i, j), count in w.items():
        g[i] += count
        g[j] += count
    return g


def linked_nodes(w: Pairs, base: Sequence[int]) -> list[int]:
    """1. L: the candidates that share a hand-over with another candidate."""
    g = strengths(between(w, base), len(base))
    return [k for i, k in enumerate(base) if g[i] > 0]


# 2. The finest answer.


def louvain(w: Pairs, n: int) -> list[int]:
    """2. Groups that hand over to each other more often than chance, numbered from 0 by label."""
    nodes = list(range(n))
    g = strengths(w, n)
    group = nodes
    level_w, level_g = w, g
    while True:
        alone = list(range(len(level_g)))
        label = move_until_stable(level_w, level_g, alone)
        if label == alone:
            break
        number = numbered(label)
        group = [number[group[i]] for i in nodes]
        level_w, level_g = aggregate(level_w, level_g, number)
    return numbered(move_until_stable(w, g, group))


def move_until_stable(w: Pairs, g: Sequence[int], label: Sequence[int]) -> list[int]:
    """2. Passes over all nodes until none moves."""
    label = list(label)
    for _ in range(MOST_PASSES):
        before = list(label)
        for i in range(len(label)):
            label[i] = best_group(i, w, g, label)
        if label == before:
            break
    return label


def best_group(i: int, w: Pairs, g: Sequence[int], label: Sequence[int]) -> int:
    """2. Where node i goes: to the linked group with the largest gain, if it beats staying."""
    shared = links(i, w, label)
    total = sum(g)
    own = label[i]

    def gain(c: int) -> int:
        others = sum(g[j] for j in range(len(g)) if j != i and label[j] == c)
        return shared.get(c, 0) * total - g[i] * others

    elsewhere = sorted(c for c in shared if c != own)
    if not elsewhere:
        return own
    best = max(elsewhere, key=gain)  # the first of equals: the lowest label
    return best if beats(gain(best), gain(own), total) else own


def links(i: int, w: Pairs, label: Sequence[int]) -> dict[int, int]:
    """2. w(i -> c) for every group that node i is linked with."""
    shared: dict[int, int] = {}
    for (j, k), count in w.items():
        if i in (j, k):
            other = k if i == j else j
            shared[label[other]] = shared.get(label[other], 0) + count
    return shared


def beats(gain: int, stay: int, total: int) -> bool:
    """2. Better by more than 1e-12, both given times total."""
    return (gain - stay) * FINENESS > total


def aggregate(w: Pairs, g: Sequence[int], number: Sequence[int]) -> tuple[Pairs, list[int]]:
    """2. Groups become nodes. What they hold inside, a loop, shows in g alone."""
    outer: Pairs = {}
    for (i, j), count in w.items():
        if number[i] != number[j]:
            ab = oracle.pair(number[i], number[j])
            outer[ab] = outer.get(ab, 0) + count
    return outer, group_sums(g, number)


def group_sums(g: Sequence[int], number: Sequence[int]) -> list[int]:
    """G_c: the sum of g over each group."""
    return [sum(g[i] for i in range(len(g)) if number[i] == c) for c in range(max(number) + 1)]


def numbered(label: Sequence[int]) -> list[int]:
    """Groups counted from 0 in the order of their labels."""
    number = {c: k for k, c in enumerate(sorted(set(label)))}
    return [number[c] for c in label]


# Levels.


def centres(y: Points, g: Sequence[int], level: Sequence[int]) -> list[list[float]]:
    """The mean node of each group, nodes weighing as much as they handed over."""
    sums = group_sums(g, level)
    centre = [[0.0] * len(y[0]) for _ in sums]
    for i, c in enumerate(level):
        for j in range(len(y[i])):
            centre[c][j] += g[i] * y[i][j]
    return [[value / total for value in point] for point, total in zip(centre, sums, strict=True)]


def choose_level(scores: Sequence[float]) -> int:
    """The highest score; of equals the first, which is the finer."""
    return max(range(len(scores)), key=lambda level: scores[level])


# The nearest node.


def nearest_of(x: Point, nodes: Sequence[int], prototype: Points, weights: Sequence[float]) -> int:
    """The nearest of some nodes, given in ascending order; of equals the lowest."""
    away = weighted_distances(x, np.asarray(prototype)[nodes], weights)
    return nodes[away.index(min(away))]
