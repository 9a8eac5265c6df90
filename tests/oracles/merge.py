"""Merging in slow, plain Python: what the fast code is compared with.

It follows the steps of docs/merging.md one after the other, node by node and pair by pair. Nothing is
imported from everclust, so that both cannot share a mistake.
"""

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, product

from oracles.idat import hazen_quantile

SCALE_FLOOR = 1e-6
Pairs = dict[tuple[int, int], int]  # (i, j) with i < j
Row = list[float]


@dataclass
class Node:
    """One node."""

    position: Row
    usage: int
    wins: int
    active: bool
    idle: int
    activity: int
    last_won: int
    birth: int
    scale: float = 0.0


@dataclass
class Model:
    """All that a model holds, but for the ids of its clusters."""

    n_seen: int
    n_born: int
    interval: int
    vigilance: float
    cluster_ratio: float
    since_recalibration: int
    mean: Row
    square_sum: Row
    weight: Row
    window: list[Row]  # oldest first
    nodes: list[Node]
    handover: Pairs
    evidence: Pairs
    edges: set[tuple[int, int]]
    direction: list[Row] = field(default_factory=list)  # of every feature
    projection: list[Row] = field(default_factory=list)  # excess and expected variance along each direction
    foretold: list[bool] = field(default_factory=list)  # of every feature


@dataclass
class Place:
    """A merged node in the making: its index in both parts and in the base."""

    a: int | None = None
    b: int | None = None
    base: int | None = None
    birth: int = -1
    index: int = field(default=-1)


def empty(n_features: int) -> Model:
    """A base that holds nothing."""
    zeros = [0.0] * n_features
    return Model(0, 0, 2, 0.0, 0.0, 0, zeros, zeros, [1.0] * n_features, [], [], {}, {}, set())


def merge(models: Sequence[Model], base: Model | None, capped: bool) -> Model:
    """Many models: sorted by rank, neighbours merged in pairs, level by level."""
    origin = base or empty(len(models[0].mean))
    ranked = sorted(models, key=rank, reverse=True)
    level = [model for model in ranked if model.n_seen > origin.n_seen]
    if not level:
        return ranked[0]
    while len(level) > 1:
        merged = [merge_pair(a, b, origin, capped) for a, b in list(pairwise(level))[::2]]
        level = merged + (level[-1:] if len(level) % 2 else [])
    return level[0]


def rank(model: Model) -> tuple[int, int, bytes]:
    """Larger for the model that comes first: samples, nodes, bytes of the positions."""
    positions = [x for node in model.nodes for x in node.position]
    return model.n_seen, len(model.nodes), struct.pack(f"<{len(positions)}d", *positions)


def merge_pair(one: Model, other: Model, base: Model, capped: bool) -> Model:
    """Two models."""
    a, b = sorted((one, other), key=rank, reverse=True)
    n, mean, square_sum = stream(a, b, base)
    direction, projection = correlation(a, b, base, n, square_sum)
    foretold = a.foretold if are_uncorrelated(n, projection) else [False] * len(mean)
    weight = weights(square_sum, foretold) if capped else [1.0] * len(mean)
    share = (b.n_seen - base.n_seen) / (a.n_seen - base.n_seen + (b.n_seen - base.n_seen))
    vigilance, ratio, interval = (
        x + (y - x) * share
        for x, y in (
            (a.vigilance, b.vigilance),
            (a.cluster_ratio, b.cluster_ratio),
            (a.interval, b.interval),
        )
    )
    interval = max(2, math.floor(interval + 0.5))
    places = [*old_places(a, b, base), *new_places(a, b, base, weight)]
    n_born = base.n_born + sum(place.base is None for place in places)
    merged = [merged_node(place, a, b, base, n) for place in places]
    kept = newest(merged, interval)
    places, merged = [places[k] for k in kept], [merged[k] for k in kept]
    for k, place in enumerate(places):
        place.index = k
        merged[k].scale = scale(n, square_sum, weight)
    evidence = counts("evidence", places, a, b, base)
    return Model(
        n_seen=n,
        n_born=n_born,
        interval=interval,
        vigilance=vigilance,
        cluster_ratio=ratio,
        since_recalibration=0,
        mean=mean,
        square_sum=square_sum,
        weight=weight,
        window=window(a, b, base, 2 * interval),
        nodes=merged,
        handover=counts("handover", places, a, b, base),
        evidence=evidence,
        edges={edge for edge in edges(places, a, b, base) if edge in evidence},
        direction=direction,
        projection=projection,
        foretold=a.foretold if direction else [],
    )


def stream(a: Model, b: Model, base: Model) -> tuple[int, Row, Row]:
    """All samples of a, and those of b since the base."""
    later = b.n_seen - base.n_seen
    n = a.n_seen + later
    mean, square_sum = [], []
    for j in range(len(a.mean)):
        m, s = b.mean[j], b.square_sum[j]
        if base.n_seen:
            step = (m - base.mean[j]) * (b.n_seen / later)
            m = base.mean[j] + step
            s = max(s - base.square_sum[j] - step * step * (base.n_seen * (later / b.n_seen)), 0.0)
        delta = m - a.mean[j]
        mean.append(a.mean[j] + delta * (later / n))
        square_sum.append(a.square_sum[j] + s + delta * delta * (a.n_seen * (later / n)))
    return n, mean, square_sum


def correlation(a: Model, b: Model, base: Model, n: int, square_sum: Row) -> tuple[list[Row], list[Row]]:
    """The directions of a, in standard deviations of all samples, and the sums of both models, what the
    base has counting once; nothing if one of them has none."""
    if not (a.direction and b.direction):
        return [], []
    later = b.n_seen - base.n_seen
    mean = b.mean
    excess, expected = b.projection
    if base.n_seen:
        step = [(m - m_base) * (b.n_seen / later) for m, m_base in zip(b.mean, base.mean, strict=True)]
        mean = [m_base + s for m_base, s in zip(base.mean, step, strict=True)]
        if base.projection:
            share = base.n_seen * (later / b.n_seen)
            more, usual = along(b.direction, step)
            excess = [x - y - z * share for x, y, z in zip(excess, base.projection[0], more, strict=True)]
            expected = [
                max(x - y - z * share, 0.0)
                for x, y, z in zip(expected, base.projection[1], usual, strict=True)
            ]
    direction = []
    for signs, s in zip(a.direction, square_sum, strict=True):
        unit = 1.0 / math.sqrt(s / (n - 1)) if s > 0 else 0.0
        direction.append([unit if sign > 0 else -unit if sign < 0 else 0.0 for sign in signs])
    more, usual = along(direction, [m - m_a for m, m_a in zip(mean, a.mean, strict=True)])
    share = a.n_seen * (later / n)
    return direction, [
        [x + y + z * share for x, y, z in zip(a.projection[0], excess, more, strict=True)],
        [x + y + z * share for x, y, z in zip(a.projection[1], expected, usual, strict=True)],
    ]


def along(direction: list[Row], step: Row) -> list[Row]:
    """Of a step between two means, as of a sample: its excess and its squares along every direction."""
    excess, expected = [], []
    for k in range(len(direction[0])):
        total = squares = 0.0
        for j in range(len(step)):
            z = max(-3.0, min(3.0, direction[j][k] * step[j]))
            total += z
            squares += z * z
        excess.append(total * total - squares)
        expected.append(squares)
    return [excess, expected]


def are_uncorrelated(n: int, projection: list[Row]) -> bool:
    if n < 256 or not projection or min(projection[1]) <= 0:
        return False
    shares = [(excess / expected) ** 2 for excess, expected in zip(*projection, strict=True)]
    return sum(shares) / len(shares) <= 0.1**2


def weights(square_sum: Row, foretold: list[bool]) -> Row:
    """No feature weighs more than the median one; one that others foretell, no more than four of it nor than
    the second largest, if that is above the median."""
    positive = [s for s in square_sum if s > 0]
    if not positive:
        return [1.0] * len(square_sum)
    cap = hazen_quantile(positive, 0.5)
    wide = max(cap, min(4 * cap, sorted([0.0, *square_sum])[-2]))
    limits = [wide if is_foretold else cap for is_foretold in foretold]
    return [min(1.0, limit / s) if s > 0 else 1.0 for limit, s in zip(limits, square_sum, strict=True)]


def scale(n: int, square_sum: Row, weight: Row) -> float:
    if n < 2:
        return SCALE_FLOOR
    largest = max(s * w for s, w in zip(square_sum, weight, strict=True))
    return max(math.sqrt(largest / (n - 1)), SCALE_FLOOR)


def reach(model: Model) -> float:
    """The distance at which the similarity equals the vigilance."""
    if model.vigilance == 0:
        return math.inf
    return scale(model.n_seen, model.square_sum, model.weight) * (1.0 / model.vigilance - 1.0)


def distance(x: Row, y: Row, weight: Row) -> float:
    total = 0.0
    for j in range(len(x)):
        total += (x[j] - y[j]) * (x[j] - y[j]) * weight[j]
    return math.sqrt(total)


def old_places(a: Model, b: Model, base: Model) -> list[Place]:
    """Nodes of the base, in order of birth."""
    in_a = {node.birth: k for k, node in enumerate(a.nodes)}
    in_b = {node.birth: k for k, node in enumerate(b.nodes)}
    places = []
    for k, node in enumerate(base.nodes):
        i, j = in_a.get(node.birth), in_b.get(node.birth)
        used = (i is not None and a.nodes[i].usage > node.usage) or (
            j is not None and b.nodes[j].usage > node.usage
        )
        if (i is not None and j is not None) or used:
            places.append(Place(i, j, k, node.birth))
    return places


def new_places(a: Model, b: Model, base: Model, weight: Row) -> list[Place]:
    """Nodes that came after the base, as if both parts had learnt side by side."""
    new_a = [k for k, node in enumerate(a.nodes) if node.birth >= base.n_born]
    new_b = [k for k, node in enumerate(b.nodes) if node.birth >= base.n_born]
    farthest = min(reach(a), reach(b))
    pairs = sorted(
        (distance(a.nodes[i].position, b.nodes[j].position, weight), i, j) for i, j in product(new_a, new_b)
    )
    partner: dict[int, int] = {}
    for away, i, j in pairs:
        if away <= farthest and i not in partner and j not in partner.values():
            partner[i] = j
    timed = []
    for i in new_a:
        when = Fraction(2 * i + 1, 2 * len(a.nodes))
        if i in partner:
            when = min(when, Fraction(2 * partner[i] + 1, 2 * len(b.nodes)))
        timed.append((when, Place(i, partner.get(i))))
    alone = [j for j in new_b if j not in partner.values()]
    timed += [(Fraction(2 * j + 1, 2 * len(b.nodes)), Place(None, j)) for j in alone]
    timed.sort(key=lambda pair: pair[0])  # stable: a before b
    places = [place for _, place in timed]
    for k, place in enumerate(places):
        place.birth = base.n_born + k
    return places


def merged_node(place: Place, a: Model, b: Model, base: Model, n: int) -> Node:
    """One node of one or two."""
    in_a = None if place.a is None else a.nodes[place.a]
    in_b = None if place.b is None else b.nodes[place.b]
    before = None if place.base is None else base.nodes[place.base]
    present = [(node, model.n_seen) for node, model in ((in_a, a), (in_b, b)) if node is not None]
    last_won = max(n - math.floor((length - node.last_won) * (n / length)) for node, length in present)
    activity = sum(node.activity for node, _ in present)
    usage, wins = sum(node.usage for node, _ in present), sum(node.wins for node, _ in present)
    if before is not None and len(present) == 2:
        usage, wins = usage - before.usage, wins - before.wins
        if all(node.activity >= before.activity for node, _ in present):
            activity -= before.activity
    idle = [node.idle for node, _ in present if node.active]
    return Node(
        position=position(in_a, in_b, before),
        usage=usage,
        wins=wins,
        active=bool(idle),
        idle=min(idle, default=0),
        activity=activity,
        last_won=last_won,
        birth=place.birth,
    )


def position(in_a: Node | None, in_b: Node | None, before: Node | None) -> Row:
    """The mean weighted with usage; where one part only has moved the node, its position."""
    moved = [
        node for node in (in_a, in_b) if node is not None and (before is None or node.usage > before.usage)
    ]
    if len(moved) == 1:
        return moved[0].position
    if not moved:
        return (in_a or in_b).position
    p, q = moved
    m, origin = (before.usage, before.position) if before else (0, p.position)
    return [
        y + (q.usage * (z - y) + m * (y - o)) / (p.usage + q.usage - m)
        for y, z, o in zip(p.position, q.position, origin, strict=True)
    ]


def newest(nodes: list[Node], interval: int) -> list[int]:
    """Of the nodes used once, the newest stay."""
    once = [k for k, node in enumerate(nodes) if node.usage == 1]
    dropped = set(once[:-interval]) if len(once) < len(nodes) else set()
    return [k for k in range(len(nodes)) if k not in dropped]


def counts(name: str, places: list[Place], a: Model, b: Model, base: Model) -> Pairs:
    """Of pairs of merged nodes."""
    found = {}
    for low, high in product(places, places):
        if low.index < high.index:
            count = sum(
                getattr(model, name).get(tuple(sorted((i, j))), 0)
                for model, i, j in ((a, low.a, high.a), (b, low.b, high.b))
                if i is not None and j is not None
            )
            if None not in (low.a, low.b, low.base, high.a, high.b, high.base):
                count -= getattr(base, name).get((low.base, high.base), 0)
            if count > 0:
                found[low.index, high.index] = count
    return found


def edges(places: list[Place], a: Model, b: Model, base: Model) -> set[tuple[int, int]]:
    """Edges of both, without those of the base that one of them has cut."""
    found = set()
    for low, high in product(places, places):
        if low.index < high.index:
            views = [
                tuple(sorted((i, j))) in model.edges
                for model, i, j in ((a, low.a, high.a), (b, low.b, high.b))
                if i is not None and j is not None
            ]
            was_edge = (low.base, high.base) in base.edges
            if any(views) and (all(views) or not was_edge):
                found.add((low.index, high.index))
    return found


def window(a: Model, b: Model, base: Model, length: int) -> list[Row]:
    """Newest rows of both by relative age, then the base's; oldest first."""
    aged = []
    for model in (a, b):
        n = model.n_seen - base.n_seen
        for age, row in enumerate(reversed(model.window)):
            if age < n:
                aged.append(((2 * age + 1) / (2 * n), row))
    aged.sort(key=lambda pair: pair[0])
    newest_first = [row for _, row in aged] + base.window[::-1]
    return newest_first[:length][::-1]
