"""A frozen copy of a model: what predictions, plots and the live page read."""

from typing import NamedTuple

import numpy as np

from ..core.readout import ReadOut, edges, read_out
from ..core.state import State, scalars_of
from .clusters import COMPONENTS, Clusters


class Snapshot(NamedTuple):
    """A model at one moment. It shares no memory with the model, and its arrays are read-only.

    Parameters
    ----------
    n_samples_seen : int
        Number of samples learnt.
    interval, vigilance : int, float
        The recalculation interval and the vigilance threshold.
    feature_weights : ndarray of shape (n_features,)
        Weight of each feature in squared distances.
    prototypes : ndarray of shape (n_nodes, n_features)
        Positions of the nodes, in order of creation.
    scales, usage, wins, active : ndarray of shape (n_nodes,)
        Distance scale of each node, how often it was moved, how many samples it was the nearest node of,
        whether it is active.
    edges : ndarray of shape (m, 2)
        Pairs of nodes joined by an edge.
    last_won : ndarray of shape (n_nodes,)
        Number of the latest sample that moved the node.
    group : ndarray of shape (n_nodes,)
        Lowest node of each node's connected component or community.
    node_labels, since : ndarray of shape (n_nodes,)
        Id of each node's cluster, or -1, and the sample at which that cluster appeared.
    n_clusters : int
        Number of clusters.
    candidates : ReadOut
        Nodes that rows are compared with.
    clusters : {"components", "handover"}
        What a cluster is.
    vote_weights : ndarray of shape (n_candidates,)
        Weights of the candidates when they vote; empty where the nearest one decides.
    mean, deviation : ndarray of shape (n_features,)
        Mean and standard deviation of each feature over the whole stream.
    """

    n_samples_seen: int
    interval: int
    vigilance: float
    feature_weights: np.ndarray
    prototypes: np.ndarray
    scales: np.ndarray
    usage: np.ndarray
    wins: np.ndarray
    active: np.ndarray
    edges: np.ndarray
    last_won: np.ndarray
    group: np.ndarray
    node_labels: np.ndarray
    since: np.ndarray
    n_clusters: int
    candidates: ReadOut
    clusters: str
    vote_weights: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray


def take_snapshot(state: State, clusters: Clusters) -> Snapshot:
    """Copy a state and its clusters."""
    scalars = scalars_of(state)
    nodes = state.node[: scalars.n_nodes]
    snapshot = Snapshot(
        n_samples_seen=int(scalars.n_seen),
        interval=int(scalars.interval),
        vigilance=float(scalars.vigilance),
        feature_weights=state.weight.copy(),
        prototypes=state.prototype[: scalars.n_nodes].copy(),
        scales=nodes["scale"].copy(),
        usage=nodes["usage"].copy(),
        wins=nodes["wins"].copy(),
        active=nodes["active"].copy(),
        edges=edges(state),
        last_won=nodes["last_won"].copy(),
        group=clusters.group,
        node_labels=clusters.ids,
        since=clusters.since,
        n_clusters=len(np.unique(clusters.ids[clusters.candidates])),
        # Hand-over clusters compare plain distances: σ only records the age of a node.
        candidates=read_out(state, clusters.candidates, by_scale=clusters.kind == COMPONENTS),
        clusters=clusters.kind,
        vote_weights=clusters.vote_weights,
        mean=state.mean.copy(),
        deviation=np.sqrt(state.square_sum / max(int(scalars.n_seen) - 1, 1)),
    )
    for part in snapshot:
        if isinstance(part, np.ndarray):
            part.flags.writeable = False
    return snapshot
