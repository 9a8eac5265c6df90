"""Fields of merged nodes and of pairs of them: both parts add up, and what the base held counts once."""

from typing import NamedTuple

import numpy as np

from ..layout import NO_CLUSTER, NONE
from ..serialise import Arrays
from .correspondence import Sources


class Pieces(NamedTuple):
    """Two parts, their base, and where merged nodes come from."""

    a: Arrays
    b: Arrays
    base: Arrays
    sources: Sources


def values_of(pieces: Pieces, name: str) -> list[np.ndarray]:
    """A field of the merged nodes in both parts and in the base; 0 where there is no such node."""
    tables = pieces.a[name], pieces.b[name], pieces.base[name]
    return [_taken(table, index) for table, index in zip(tables, pieces.sources, strict=False)]


def _taken(table: np.ndarray, index: np.ndarray) -> np.ndarray:
    taken = np.zeros((len(index), *table.shape[1:]), table.dtype)
    taken[index != NONE] = table[index[index != NONE]]
    return taken


def is_shared(sources: Sources) -> np.ndarray:
    """Whether both parts have the node from the base, so that both hold what the base held."""
    return (sources.a != NONE) & (sources.b != NONE) & (sources.base != NONE)


def total(pieces: Pieces, name: str) -> np.ndarray:
    """The sum of both parts, the base's share once."""
    a, b, before = values_of(pieces, name)
    return a + b - np.where(is_shared(pieces.sources), before, 0)


def without_surplus(pieces: Pieces, interval: int) -> np.ndarray:
    """Nodes that maintenance would keep: of those used once, the newest Λ."""
    usage = total(pieces, "usage")
    once = np.flatnonzero(usage == 1)
    n_surplus = max(len(once) - interval, 0) if len(once) < len(usage) else 0
    kept = np.ones(len(usage), bool)
    kept[once[:n_surplus]] = False
    return np.flatnonzero(kept)


def merge_nodes(pieces: Pieces, lengths: tuple[int, int], n_seen: int) -> Arrays:
    """Fields of nodes, from parts that have learnt so many samples, in a stream of n_seen."""
    n_nodes = len(pieces.sources.birth)
    active_a, active_b, _ = values_of(pieces, "active")
    return {
        "prototype": _positions(pieces),
        "usage": total(pieces, "usage"),
        "wins": total(pieces, "wins"),
        "active": active_a | active_b,
        "idle": _idle(pieces),
        "activity": _activities(pieces),
        "last_won": _last_won(pieces, lengths, n_seen),
        "birth": pieces.sources.birth,
        "cluster": np.full(n_nodes, NO_CLUSTER),
        "community": np.full(n_nodes, NO_CLUSTER),
        "since": np.zeros(n_nodes, np.int64),
    }


def _positions(pieces: Pieces) -> np.ndarray:
    """Means weighted with usage. A node that one part only has moved keeps that part's position exactly."""
    a, b, base, sources = pieces
    used_a, used_b, before = values_of(pieces, "usage")
    by_b = used_b > before
    both = (used_a > before) & by_b
    in_b = by_b | (sources.a == NONE)
    position = np.empty((len(in_b), a["prototype"].shape[1]))
    position[in_b], position[~in_b] = b["prototype"][sources.b[in_b]], a["prototype"][sources.a[~in_b]]
    at_a, at_b = a["prototype"][sources.a[both]], position[both]
    at_base = _taken(base["prototype"], sources.base[both])
    weight_a, weight_b, weight = (used[both, None].astype(float) for used in (used_a, used_b, before))
    change = weight_b * (at_b - at_a) + weight * (at_a - at_base)
    position[both] = at_a + change / (weight_a + weight_b - weight)
    return position


def _idle(pieces: Pieces) -> np.ndarray:
    """The least over the parts in which the node is active."""
    (active_a, active_b, _), (a, b, _) = values_of(pieces, "active"), values_of(pieces, "idle")
    least = np.where(active_a & active_b, np.minimum(a, b), np.where(active_a, a, b))
    return np.where(active_a | active_b, least, 0)


def _activities(pieces: Pieces) -> np.ndarray:
    """The sum of both parts; the base's share once where neither part has begun to count anew."""
    a, b, before = values_of(pieces, "activity")
    is_twice = is_shared(pieces.sources) & (a >= before) & (b >= before)
    return a + b - np.where(is_twice, before, 0)


def _last_won(pieces: Pieces, lengths: tuple[int, int], n_seen: int) -> np.ndarray:
    """Ages in the parts, stretched to the merged stream; the later of both."""
    won = [
        np.where(index == NONE, 0, n_seen - np.floor((length - value) * (n_seen / length)))
        for index, value, length in zip(pieces.sources, values_of(pieces, "last_won"), lengths, strict=False)
    ]
    return np.maximum(won[0], won[1]).astype(np.int64)


def merge_pairs(pieces: Pieces) -> Arrays:
    """Hand-overs and evidence of both parts, the base's share once; and the edges."""
    counts = {name: _merged_counts(pieces, name) for name in ("handover", "evidence")}
    return counts | {"edge": counts["evidence"][_is_edge(pieces, counts["evidence"]), :2]}


def _merged_counts(pieces: Pieces, name: str) -> np.ndarray:
    a, b, base, sources = pieces
    n, shared = len(sources.birth), np.where(is_shared(sources), sources.base, NONE)
    tables, indices = (a[name], b[name], base[name]), (sources.a, sources.b, shared)
    rows = [_carried(pairs, index, n) for pairs, index in zip(tables, indices, strict=True)]
    keys = np.concatenate([keys for keys, _ in rows])
    of_a, of_b, of_base = (pairs[kept, 2] for pairs, (_, kept) in zip(tables, rows, strict=True))
    counts = np.concatenate([of_a, of_b, -of_base])
    order = np.argsort(keys, kind="stable")  # quick where runs are sorted
    keys = keys[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    count = np.add.reduceat(counts[order], first) if len(keys) else counts
    keys, count = keys[first][count > 0], count[count > 0]
    return np.stack([keys // n, keys % n, count], axis=1)


def _is_edge(pieces: Pieces, evidence: np.ndarray) -> np.ndarray:
    """Which pairs with evidence are edges: those of both parts, less those of the base that one has cut."""
    a, b, base, sources = pieces
    n = len(sources.birth)
    keys = evidence[:, 0] * n + evidence[:, 1]
    is_edge, is_cut = np.zeros((2, len(keys)), bool)
    for edges, index in ((a["edge"], sources.a), (b["edge"], sources.b)):
        has = _occurs(keys, _carried(edges, index, n)[0])
        had = _occurs(keys, _carried(base["edge"], np.where(index == NONE, NONE, sources.base), n)[0])
        is_edge |= has
        is_cut |= had & ~has
    return is_edge & ~is_cut


def _occurs(keys: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Whether each of the sorted keys is one of the others."""
    found = np.zeros(len(keys), bool)
    place = np.searchsorted(keys, others)
    inside = place < len(keys)
    place = place[inside]
    found[place[keys[place] == others[inside]]] = True
    return found


def places_of(index: np.ndarray, n: int) -> np.ndarray:
    """Where each of n nodes occurs in a list of indices, or NONE."""
    place = np.full(n, NONE)
    place[index[index != NONE]] = np.flatnonzero(index != NONE)
    return place


def _carried(pairs: np.ndarray, index: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(keys i·n + j of the pairs in their new places, i < j; which pairs these are: both nodes have one)."""
    place = places_of(index, max(pairs[:, :2].max(initial=0), index.max(initial=0)) + 1)
    i, j = place[pairs[:, 0]], place[pairs[:, 1]]
    kept = (i != NONE) & (j != NONE)
    return (np.minimum(i, j) * n + np.maximum(i, j))[kept], kept
