"""Frozen picture of a model: all that predictions, plots, sinks and engines see."""

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from ..core.communities.linked_nodes import base_nodes, links_of, named_by_lowest
from ..core.communities.valleys import base_labels
from ..core.communities.voting import predict_by_vote, vote_weights
from ..core.layout import NO_CLUSTER
from ..core.readout import ReadOut, assign, candidates, cluster_ids, components, edges, read_out
from ..core.state import State, scalars_of
from .matching import succeed

CHUNK_CELLS = 2**20  # samples are read so many numbers at a time, whatever the input
FLOAT64 = np.dtype(np.float64)  # sooner compared with than the name of the type
PARALLEL_WORK = 2**24  # samples × candidates × features from which threads are worth their start


class Snapshot(NamedTuple):
    """A model at one moment. Nothing in it is shared with the model, and nothing can be written."""

    n_samples_seen: int
    interval: int
    vigilance: float
    feature_weights: np.ndarray
    prototypes: np.ndarray
    scales: np.ndarray
    usage: np.ndarray
    active: np.ndarray
    edges: np.ndarray
    last_won: np.ndarray  # number of the latest sample that moved the node
    group: np.ndarray  # lowest node of every node's connected component or community
    node_labels: np.ndarray  # id of every node's cluster; NO_CLUSTER for those in none
    since: np.ndarray  # from which sample on that cluster has been there
    n_clusters: int
    candidates: ReadOut
    handover: bool  # are the clusters communities?
    vote_weights: np.ndarray  # of the candidates, when they vote; nothing where the winner alone decides
    mean: np.ndarray  # of every feature over the whole stream
    deviation: np.ndarray  # standard deviation, likewise


def take_snapshot(state: State, communities_since: Mapping[int, int] | None = None) -> Snapshot:
    """Copy what the world may see of a state.

    Parameters
    ----------
    state : State
    communities_since : mapping of int to int, optional
        When the clusters are communities: from which sample on those with an id have been there.
    """
    scalars = scalars_of(state)
    nodes = state.node[: scalars.n_nodes]
    if communities_since is None:
        taking_part, group, ids, since, voice = _components(state)
    else:
        taking_part, group, ids, since, voice = _communities(state, communities_since)
    handover = communities_since is not None
    snapshot = Snapshot(
        n_samples_seen=int(scalars.n_seen),
        interval=int(scalars.interval),
        vigilance=float(scalars.vigilance),
        feature_weights=state.weight.copy(),
        prototypes=state.prototype[: scalars.n_nodes].copy(),
        scales=nodes["scale"].copy(),
        usage=nodes["usage"].copy(),
        active=nodes["active"].copy(),
        edges=edges(state),
        last_won=nodes["last_won"].copy(),
        group=group,
        node_labels=ids,
        since=since,
        n_clusters=len(np.unique(ids[taking_part])),
        # σ only records how old a node is: communities are won by plain distance.
        candidates=read_out(state, taking_part, by_scale=not handover),
        handover=handover,
        vote_weights=voice,
        mean=state.mean.copy(),
        deviation=np.sqrt(state.square_sum / max(int(scalars.n_seen) - 1, 1)),
    )
    for part in snapshot:
        if isinstance(part, np.ndarray):
            part.flags.writeable = False
    return snapshot


# Nodes that take part; of all: group, id, since; vote_weights of those that take part.
Clusters = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _components(state: State) -> Clusters:
    """While no node is active, all take part, in one cluster with the provisional id."""
    scalars = scalars_of(state)
    ids = cluster_ids(state)
    since = np.zeros(len(ids), np.int64)
    if scalars.n_active:
        named = np.flatnonzero(ids != NO_CLUSTER)
        since[named] = state.slot["since"][state.slot["cluster_root"][state.node["slot"][named]]]
    else:
        ids[:] = scalars.provisional
    return candidates(state), components(state), ids, since, np.empty(0)


def _communities(state: State, known_since: Mapping[int, int]) -> Clusters:
    """The present read-out, carried over to the ids that were decided about last."""
    scalars, nodes, base = scalars_of(state), state.node, base_nodes(state)
    n_nodes, now, links = int(scalars.n_nodes), int(scalars.n_seen), links_of(state, base)
    label = base_labels(state, base, links)
    inherited = succeed(nodes["community"][base], label, nodes["usage"][base], int(scalars.next_community))
    ids, since = np.full(n_nodes, NO_CLUSTER), np.zeros(n_nodes, np.int64)
    ids[base] = inherited.group_ids[label]
    since[base] = np.array([known_since.get(c, now) for c in inherited.group_ids.tolist()])[label]
    voice = vote_weights(links, label)
    return base, named_by_lowest(base, label, n_nodes), ids, since, voice


def winners_first(snapshot: Snapshot, found: np.ndarray) -> np.ndarray:
    """Ids of the clusters, those found among samples before the others, each in the order of their nodes."""
    ids = snapshot.node_labels[snapshot.candidates.node]
    wins = np.isin(ids, found)
    order = np.concatenate([ids[wins], ids[~wins]])
    return order[np.sort(np.unique(order, return_index=True)[1])]


def renamed(found: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Clusters found among samples, as the same nodes' clusters are called afterwards."""
    ids, node = np.unique(before, return_index=True)
    return after[node[np.searchsorted(ids, found)]]


def plain(rows: np.ndarray) -> np.ndarray:
    """The rows as the one kind of array for which the kernels are compiled (DataFrames are read-only)."""
    if rows.dtype == FLOAT64 and rows.flags.carray:
        return rows
    return np.array(rows, np.float64, order="C")


def labels(snapshot: Snapshot, X: np.ndarray) -> np.ndarray:
    """Cluster of every row: that of its winning node, or the one for which the nearest nodes vote."""

    def label(part: np.ndarray) -> np.ndarray:
        if len(snapshot.vote_weights):
            ids = snapshot.node_labels[snapshot.candidates.node]
            return predict_by_vote(snapshot.candidates, ids, snapshot.vote_weights, part)
        return snapshot.node_labels[_won(snapshot, part)[0]]

    return _answers(snapshot, X, np.int64, label)


def similarities(snapshot: Snapshot, X: np.ndarray) -> np.ndarray:
    """Similarity 1 / (1 + d/σ) of every row to its winning node."""

    def similarity(part: np.ndarray) -> np.ndarray:
        winner, nearness = _won(snapshot, part)
        return 1.0 / (1.0 + (nearness / snapshot.scales[winner] if snapshot.handover else nearness))

    return _answers(snapshot, X, np.float64, similarity)


def _won(snapshot: Snapshot, part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Winning node of every row, and d/σ to it."""
    winner, nearness = np.empty(len(part), np.int64), np.empty(len(part))
    assign(snapshot.candidates, part, winner, nearness)
    return winner, nearness


def _answers(
    snapshot: Snapshot, X: np.ndarray, dtype: Any, answer: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """`answer(rows)` for all rows, part by part; on all cores when there is much to do."""
    if X.shape[1] != snapshot.prototypes.shape[1]:
        raise ValueError(f"X has {X.shape[1]} features, but the model has {snapshot.prototypes.shape[1]}.")
    out = np.empty(len(X), dtype)

    def work(rows: slice) -> None:
        out[rows] = answer(plain(X[rows]))

    is_much = X.size * len(snapshot.candidates.node) >= PARALLEL_WORK
    n_workers = _n_cores() if is_much else 1
    parts = _parts(len(X), X.shape[1], n_workers)
    if n_workers == 1:
        for rows in parts:
            work(rows)
    else:
        with ThreadPoolExecutor(n_workers) as pool:
            for _ in pool.map(work, parts):
                pass
    return out


def _n_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _parts(n_rows: int, n_features: int, n_workers: int) -> Iterator[slice]:
    """Cut rows into slices of bounded memory, and into one for each worker at least."""
    step = max(1, min(CHUNK_CELLS // n_features, -(-n_rows // n_workers)))
    return (slice(start, start + step) for start in range(0, n_rows, step))
