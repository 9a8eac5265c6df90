"""Merging of models learnt apart, with or without a common base: docs/merging.md has the rules.

What a model holds is merged as plain arrays (`serialise.export`), and one state is made of them in the end.
What the base held counts once. Ids of clusters are left to `everclust.model.merging`.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..handovers import births_of, index_by_birth
from ..layout import NONE
from ..serialise import DIRECTION_ARRAYS, PROBE_ARRAYS, Arrays, export, restore
from ..state import State, copy, new_state, scalar
from .correspondence import Sources, find_sources, select
from .merged_nodes import Pieces, merge_nodes, merge_pairs, places_of, without_surplus
from .merged_stream import capped_weights, merge_streams, scale_of, stream_of

FEWEST_IN_INTERVAL = 2


class Part(NamedTuple):
    """All that a model holds."""

    scalars: dict[str, Any]
    arrays: Arrays


class Merged(NamedTuple):
    """A merged model, and what became of the nodes of the models that it was made of."""

    state: State
    places: list[np.ndarray]  # for every model: the merged node that each of its nodes became, or NONE
    order: list[int]  # of the models that were merged, without those that changed nothing


class Branch(NamedTuple):
    """A part, and the places in it of the nodes of the models that it was made of, by their numbers."""

    part: Part
    places: dict[int, np.ndarray]


def merge_states(states: Sequence[State], base: State | None = None, capped: bool = False) -> Merged:
    """One model of many, whose order does not matter. Those that have learnt nothing since the base, and
    empty ones, change nothing."""
    origin = new_state(states[0].prototype.shape[1]) if base is None else base
    n_before, before = scalar(origin, "n_seen"), Part(*export(origin, with_ids=False))
    branches = [Branch(part, {i: _all_nodes(states[i])}) for i, part in enumerate(_parts(states))]
    branches = _ranked(branches)
    level = [branch for branch in branches if branch.part.scalars["n_seen"] > n_before] or branches[:1]
    order = [i for branch in level for i in branch.places]
    if len(level) == 1:
        return _found(copy(states[order[0]]), level[0].places, states, order)
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [_joined(pair, before, capped) for pair in pairs]
    return _found(restore(*level[0].part), level[0].places, states, order)


def _found(state: State, places: dict[int, np.ndarray], states: Sequence[State], order: list[int]) -> Merged:
    """With the places of models that were left out: these have nodes of the base only."""
    births = births_of(state)
    every = [
        places[i] if i in places else index_by_birth(births, births_of(part)) for i, part in enumerate(states)
    ]
    return Merged(state, every, order)


def is_fork(state: State, base: State) -> bool:
    """Whether a model can have begun as a copy of the base."""
    if any(scalar(state, name) < scalar(base, name) for name in ("n_seen", "n_born")):
        return False
    births, usage = births_of(state), state.node["usage"]
    old = np.flatnonzero(births < scalar(base, "n_born"))
    index = index_by_birth(births_of(base), births[old])
    return bool((index != NONE).all() and (usage[old] >= base.node["usage"][index]).all())


def _all_nodes(state: State) -> np.ndarray:
    return np.arange(scalar(state, "n_nodes"))


def _parts(states: Sequence[State]) -> list[Part]:
    """What the models hold; ids of connected components, which are not merged here, only where they rank."""
    parts = [Part(*export(state, with_ids=False)) for state in states]
    return parts if _ranks(parts) is not None else [Part(*export(state)) for state in states]


def _ranked(branches: list[Branch]) -> list[Branch]:
    """The branches by samples, nodes, and bytes of the positions: the larger first. Where all these are the
    same, all that they hold decides."""
    parts = [branch.part for branch in branches]
    ranks = _ranks(parts) or [(*_sort_key(part), _bytes(part)) for part in parts]
    order = sorted(range(len(branches)), key=lambda i: ranks[i], reverse=True)
    return [branches[i] for i in order]


def _ranks(parts: list[Part]) -> list[tuple[Any, ...]] | None:
    """Ranks that tell all parts apart, if samples, nodes and positions do."""
    ranks: list[tuple[Any, ...]] = [_size(part) for part in parts]
    if len(set(ranks)) < len(ranks):  # bytes are compared where they must be
        ranks = [_sort_key(part) for part in parts]
    return ranks if len(set(ranks)) == len(ranks) else None


def _size(part: Part) -> tuple[int, int]:
    return part.scalars["n_seen"], len(part.arrays["prototype"])


def _sort_key(part: Part) -> tuple[int, int, bytes]:
    return *_size(part), part.arrays["prototype"].tobytes()


def _bytes(part: Part) -> bytes:
    arrays = [array for _, array in sorted(part.arrays.items())]
    return repr(sorted(part.scalars.items())).encode() + b"".join(array.tobytes() for array in arrays)


def _joined(pair: list[Branch], base: Part, capped: bool) -> Branch:
    """One branch of two; a last one without a neighbour stays as it is."""
    if len(pair) == 1:
        return pair[0]
    a, b = _ranked(pair)
    part, sources = merge_two(a.part, b.part, base, capped)
    return Branch(part, _moved(a, sources.a) | _moved(b, sources.b))


def _moved(branch: Branch, index: np.ndarray) -> dict[int, np.ndarray]:
    """Places after a merger of which these nodes of the branch are left."""
    place = places_of(index, len(branch.part.arrays["birth"]))
    return {i: np.where(nodes == NONE, NONE, place[nodes]) for i, nodes in branch.places.items()}


def merge_two(a: Part, b: Part, base: Part, capped: bool) -> tuple[Part, Sources]:
    """One part of two, of which a comes first, and where its nodes come from."""
    stream = merge_streams(stream_of(*a), stream_of(*b), stream_of(*base))
    merged = merge_scalars(a, b, base)
    weight = capped_weights(stream) if capped else np.ones(len(stream.mean))
    parts = a.arrays, b.arrays, base.arrays
    n_born, reach = base.scalars["n_born"], min(reach_of(a), reach_of(b))
    sources = find_sources(*parts, n_born, weight, reach)
    n_born += int((sources.base == NONE).sum())
    kept = without_surplus(Pieces(*parts, sources), merged["interval"])
    pieces = Pieces(*parts, select(sources, kept))
    arrays = {
        **merge_nodes(pieces, (a.scalars["n_seen"], b.scalars["n_seen"]), stream.n),
        **merge_pairs(pieces),
        "mean": stream.mean,
        "square_sum": stream.square_sum,
        "weight": weight,
        "scale": np.full(len(kept), scale_of(stream, weight)),
        "window": merge_windows(a, b, base, 2 * merged["interval"]),
        **{name: a.arrays[name] for name in PROBE_ARRAYS if name in a.arrays},
        **{name: getattr(stream, name) for name in DIRECTION_ARRAYS if stream.direction.size},
    }
    scalars = {**a.scalars, **merged, "n_seen": stream.n, "n_born": n_born, "since_recalibration": 0}
    if stream.direction.size:
        scalars["foretold_at"] = 0  # the next recalibration compares the merged nodes
    return Part(scalars, arrays), pieces.sources


def reach_of(part: Part) -> float:
    """The distance at which the similarity to a node with the present scale equals the vigilance."""
    vigilance = part.scalars["vigilance"]
    scale = scale_of(stream_of(*part), part.arrays["weight"])
    return scale * (1.0 / vigilance - 1.0) if vigilance > 0 else math.inf


def merge_scalars(a: Part, b: Part, base: Part) -> dict[str, Any]:
    """Vigilance, cluster ratio and interval: means weighted with the samples learnt since the base."""
    n_a, n_b = (part.scalars["n_seen"] - base.scalars["n_seen"] for part in (a, b))
    share = n_b / (n_a + n_b)
    merged = {
        name: a.scalars[name] + (b.scalars[name] - a.scalars[name]) * share
        for name in ("vigilance", "cluster_ratio", "interval")
    }
    merged["interval"] = max(math.floor(merged["interval"] + 0.5), FEWEST_IN_INTERVAL)
    return merged


def merge_windows(a: Part, b: Part, base: Part, length: int) -> np.ndarray:
    """The newest rows of both, by their age relative to what each part has learnt since the base; then those
    of the base, once."""
    rows, ages = [], []
    for part in (a, b):
        n_later = part.scalars["n_seen"] - base.scalars["n_seen"]
        newest_first = part.arrays["window"][::-1][:n_later]
        rows.append(newest_first)
        ages.append((2 * np.arange(len(newest_first)) + 1) / (2 * n_later))
    order = np.argsort(np.concatenate(ages), kind="stable")
    window = np.concatenate([np.concatenate(rows)[order], base.arrays["window"][::-1]])
    return np.ascontiguousarray(window[:length][::-1])
