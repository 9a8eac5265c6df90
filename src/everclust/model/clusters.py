"""Which nodes are in which cluster: connected components, or hand-over clusters (communities)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.layout import NO_CLUSTER
from ..core.readout import candidates, cluster_ids, cluster_roots, components
from ..core.state import State, scalars_of

COMPONENTS, HANDOVER = "components", "handover"  # what a cluster is


class Clusters(NamedTuple):
    """The clusters of a state at one moment."""

    kind: str  # COMPONENTS or HANDOVER
    candidates: np.ndarray  # nodes that rows are compared with
    group: np.ndarray  # of every node: the lowest node of its component or community
    ids: np.ndarray  # of every node: the id of its cluster, or NO_CLUSTER
    since: np.ndarray  # of every node: the sample at which its cluster appeared, or 0
    vote_weights: np.ndarray  # of the candidates, when they vote; empty where the nearest one decides


def read_components(state: State) -> Clusters:
    """Connected components. While no node is active, all of them are one cluster with a provisional id."""
    scalars = scalars_of(state)
    ids = cluster_ids(state)
    since = np.zeros(len(ids), np.int64)
    if scalars.n_active:
        named = np.flatnonzero(ids != NO_CLUSTER)
        since[named] = state.slot["since"][cluster_roots(state, named)]
    else:
        ids[:] = scalars.provisional
    return Clusters(COMPONENTS, candidates(state), components(state), ids, since, np.empty(0))
