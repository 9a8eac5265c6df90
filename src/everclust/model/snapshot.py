"""Frozen picture of a model: all that predictions, plots, sinks and engines see."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..core.communities.communities import base_nodes, links_of, named_by_lowest
from ..core.communities.valleys import base_labels
from ..core.communities.voting import voices
from ..core.readout import ReadOut, candidates, cluster_ids, components, edges, read_out
from ..core.spread import MEAN, SQUARE_SUM, WEIGHT
from ..core.state import State, clock_of
from ..core.topology import NO_CLUSTER
from .matching import match_ids


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
    voices: np.ndarray  # of the candidates, when they vote; nothing where the winner alone decides
    mean: np.ndarray  # of every feature over the whole stream
    deviation: np.ndarray  # standard deviation, likewise


def take_snapshot(
    state: State, communities_since: Mapping[int, int] | None = None, valleys: bool = True
) -> Snapshot:
    """Copy what the world may see of a state.

    Parameters
    ----------
    state : State
    communities_since : mapping of int to int, optional
        When the clusters are communities: from which sample on those with an id have been there.
    valleys : bool, default=True
        Which read-out of communities.
    """
    clock = clock_of(state)
    nodes = state.node[: clock.n_nodes]
    if communities_since is None:
        taking_part, group, ids, since, voice = _components(state)
    else:
        taking_part, group, ids, since, voice = _communities(state, communities_since, valleys)
    handover = communities_since is not None
    snapshot = Snapshot(
        n_samples_seen=int(clock.n_seen),
        interval=int(clock.interval),
        vigilance=float(clock.vigilance),
        feature_weights=state.feature[WEIGHT].copy(),
        prototypes=state.prototype[: clock.n_nodes].copy(),
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
        voices=voice,
        mean=state.feature[MEAN].copy(),
        deviation=np.sqrt(state.feature[SQUARE_SUM] / max(int(clock.n_seen) - 1, 1)),
    )
    for part in snapshot:
        if isinstance(part, np.ndarray):
            part.flags.writeable = False
    return snapshot


# Nodes that take part; of all: group, id, since; voices of those that take part.
Clusters = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _components(state: State) -> Clusters:
    """While no node is active, all take part, in one cluster with the provisional id."""
    clock = clock_of(state)
    ids = cluster_ids(state)
    since = np.zeros(len(ids), np.int64)
    if clock.n_active:
        named = np.flatnonzero(ids != NO_CLUSTER)
        since[named] = state.seat["since"][state.seat["home"][state.node["seat"][named]]]
    else:
        ids[:] = clock.provisional
    return candidates(state), components(state), ids, since, np.empty(0)


def _communities(state: State, known_since: Mapping[int, int], valleys: bool) -> Clusters:
    """The present read-out, carried over to the ids that were decided about last."""
    clock, nodes, base = clock_of(state), state.node, base_nodes(state)
    n_nodes, now, links = int(clock.n_nodes), int(clock.n_seen), links_of(state, base)
    label = base_labels(state, base, links, valleys)
    matching = match_ids(nodes["community"][base], label, nodes["usage"][base], int(clock.next_community))
    ids, since = np.full(n_nodes, NO_CLUSTER), np.zeros(n_nodes, np.int64)
    ids[base] = matching.group_ids[label]
    since[base] = np.array([known_since.get(c, now) for c in matching.group_ids.tolist()])[label]
    voice = voices(links, label) if valleys else np.empty(0)
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
