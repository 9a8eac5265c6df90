"""Hand-over clusters as they are now: the read-out, newcomers and parts that move apart, matched with ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...core.communities.ends import fewest_of_cluster
from ...core.communities.levels import share_known
from ...core.communities.linked_nodes import Base, base_of
from ...core.communities.matching import NO_MEMBERS, Matched, Members
from ...core.communities.newcomers import FEWEST_WINS, INWARD, are_settled, newcomers_among, set_apart
from ...core.communities.valleys import find_clusters
from ...core.handovers import births_of, index_by_birth
from ...core.layout import NEVER, NO_CLUSTER, NONE
from ...core.state import State, scalar
from ...jit.compile import Direct
from .communities import match_members
from .divisions import RecentWins, set_divided_apart

_find_clusters = Direct(find_clusters)


class CommunityReadOut(NamedTuple):
    """Hand-over clusters as they are now, and their ids."""

    base: Base  # the nodes that take part
    group: np.ndarray  # of every one of these nodes, from 0
    matching: Matched  # of the groups with the clusters before
    newcomers: np.ndarray | None = None  # group of newcomers that each of these nodes is in, or NONE
    n_set_apart: int = 0  # groups of newcomers that the read-out alone has not found
    is_divided: np.ndarray | None = None  # of every one of these nodes: whether its group has come apart

    @property
    def ids(self) -> np.ndarray:
        """Id of every one of these nodes."""
        return self.matching.group_ids[self.group]


def read_communities(
    state: State,
    members: Members = NO_MEMBERS,
    first_young: int = NEVER,
    fewest: int = FEWEST_WINS,
    recent: Callable[[Base], RecentWins] | None = None,
) -> CommunityReadOut:
    """Find the hand-over clusters of a state and match them with those of the latest update of ids.

    Newcomers among the nodes from birth `first_young` on that won the `fewest` samples are clusters of their
    own, and so are the parts of clusters that move apart, given what their nodes have won recently.
    """
    base = base_of(state)
    known = share_known(scalar(state, "n_seen"))
    nodes = base.position, state.weight, base.links, base.before
    group = _find_clusters.run(*nodes, known, base.wins, fewest_of_cluster(state))
    newcomers, n_set_apart = newcomers_among(state, base.nodes, first_young, fewest), 0
    if newcomers is not None:
        found, group = group, set_apart(group, base.wins, newcomers)
        n_set_apart = int(group.max() - found.max())
        members = _without_early_members(members, base, newcomers, first_young)
    is_divided = None
    if recent is not None:
        group, is_divided = set_divided_apart(group, base, recent(base))
    next_id = scalar(state, "next_community")
    matching = match_members(members, base.births, base.wins, group, next_id, base.links)
    return CommunityReadOut(base, group, matching, newcomers, n_set_apart, is_divided)


def _without_early_members(members: Members, base: Base, newcomers: np.ndarray, first_young: int) -> Members:
    """The members, but newcomers only of clusters that they stay in."""
    reported = reported_of(members, base.births)
    stays = are_settled(newcomers, reported, base.births >= first_young, base.wins)
    is_early = np.isin(members.births, base.births[(newcomers != NONE) & ~stays])
    return members._replace(reported=np.where(is_early, NO_CLUSTER, members.reported))


def has_unsettled(state: State, members: Members, first_young: int, fewest: int) -> bool:
    """Whether most samples of a group of newcomers were won by nodes that are in no cluster to stay."""
    births = births_of(state)
    newcomers = newcomers_among(state, np.arange(len(births)), first_young, fewest)
    if newcomers is None:
        return False
    reported, wins = reported_of(members, births), state.node["wins"][: len(births)]
    stays = are_settled(newcomers, reported, births >= first_young, wins)
    group, won = newcomers[newcomers != NONE], wins[newcomers != NONE]
    staying = np.bincount(group, won * stays[newcomers != NONE])
    return bool((2 * staying < np.bincount(group, won)).any())


def reported_of(members: Members, births: np.ndarray) -> np.ndarray:
    """The reported cluster of the nodes of these births, or NO_CLUSTER."""
    place = index_by_birth(members.births, births)
    return np.append(members.reported, NO_CLUSTER)[place]  # NONE takes the last


def clear_clusters(matching: Matched) -> list[int]:
    """Ids of the clusters whose hand-overs stay inside as those of newcomers do."""
    inner, outer = matching.inner.tolist(), matching.outer.tolist()
    return [c for r, c in enumerate(matching.group_ids.tolist()) if inner[r] >= INWARD * (outer[r] + 1)]


def newcomer_ids(found: CommunityReadOut) -> list[int]:
    """Ids of the groups that newcomers have won most samples of."""
    if found.newcomers is None:
        return []
    wins = np.bincount(found.group, found.base.wins * (found.newcomers != NONE))
    return found.matching.group_ids[2 * wins > found.matching.mass].tolist()
