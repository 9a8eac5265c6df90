"""Which nodes are in which cluster: connected components, or hand-over clusters (communities)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.communities.linked_nodes import base_nodes, links_of
from ..core.communities.newcomers import INWARD, newcomers_among, set_apart
from ..core.communities.valleys import base_labels
from ..core.handovers import births_of
from ..core.layout import NO_CLUSTER
from ..core.readout import candidates, cluster_ids, components
from ..core.state import State, scalar, scalars_of
from .matching import Matching, match_ids
from .members import NO_MEMBERS, Members

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
        since[named] = state.slot["since"][state.slot["cluster_root"][state.node["slot"][named]]]
    else:
        ids[:] = scalars.provisional
    return Clusters(COMPONENTS, candidates(state), components(state), ids, since, np.empty(0))


NEVER = 2**62  # a birth that no node has


class CommunityReadOut(NamedTuple):
    """Hand-over clusters as they are now, and their ids."""

    nodes: np.ndarray  # that take part
    links: np.ndarray  # (i, j, count) of the pairs of these nodes with hand-overs
    group: np.ndarray  # of every one of these nodes, from 0
    before: Members  # these nodes at the latest update of ids
    matching: Matching  # of the groups with the clusters before
    n_set_apart: int  # groups of newcomers that the read-out alone has not found

    @property
    def ids(self) -> np.ndarray:
        """Id of every one of these nodes."""
        return self.matching.group_ids[self.group]


def read_communities(
    state: State, members: Members = NO_MEMBERS, first_young: int = NEVER
) -> CommunityReadOut:
    """Find the hand-over clusters of a state and match them with those of the latest update of ids.

    Newcomers among the nodes from birth `first_young` on are clusters of their own.
    """
    nodes = base_nodes(state)
    links = links_of(state, nodes)
    found = base_labels(state, nodes, links)
    wins, before = state.node["wins"][nodes], members.of(births_of(state)[nodes])
    group = set_apart(found, wins, newcomers_among(state, nodes, first_young))
    next_id = scalar(state, "next_community")
    matching = match_ids(before.told, group, wins, next_id, before.candidate)
    return CommunityReadOut(nodes, links, group, before, matching, int(group.max() - found.max()))


def clear_clusters(found: CommunityReadOut) -> list[int]:
    """Ids of the clusters whose hand-overs stay inside as those of newcomers do."""
    n_groups = len(found.matching.group_ids)
    a, b, count = found.group[found.links[:, 0]], found.group[found.links[:, 1]], found.links[:, 2]
    inner = 2 * np.bincount(a, count * (a == b), n_groups)
    outer = np.bincount(a, count * (a != b), n_groups) + np.bincount(b, count * (a != b), n_groups)
    return found.matching.group_ids[inner >= INWARD * (outer + 1)].tolist()
