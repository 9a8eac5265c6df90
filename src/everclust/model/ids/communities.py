"""Matching of hand-over clusters before and after, by overlap of samples, as in cluster tracking (MONIC)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...core.cluster_ids import BORN, GONE, MERGED, SPLIT
from ...core.communities.matching import Matched, Members, match_groups
from ...core.layout import NO_CLUSTER, NONE
from ...core.serialise import Arrays
from ...jit.compile import Direct


class Community(NamedTuple):
    """A hand-over cluster at the latest update of ids."""

    size: int  # wins of its nodes
    centre: np.ndarray
    since: int  # sample of the update at which it appeared
    wait: int = 0  # samples for which a change of it must last before it is reported
    # How its samples come: see absences.py.
    seen: int = 0  # sample up to which some had come
    latest: int = 0  # samples between the latest two checks at which some had come
    total: int = 0  # sum of these counts
    squares: int = 0  # of their successive differences
    n_checks: int = 0
    absent: bool = False  # no sample had come at the latest check
    is_quiet: bool = False  # which was reported


def export_communities(communities: Mapping[int, Community], n_features: int) -> Arrays:
    """Reported clusters by id, as plain arrays."""
    table = [(c, one.size, *one[2:]) for c, one in communities.items()]
    centres: list[Any] = [community.centre for community in communities.values()]
    return {
        "community_list": np.array(table, np.int64).reshape(-1, len(Community._fields)),
        "community_centre": np.array(centres, float).reshape(-1, n_features),
    }


def restore_communities(arrays: Arrays) -> dict[int, Community]:
    """What `export_communities` wrote."""
    communities = {}
    rows = zip(arrays["community_list"].tolist(), arrays["community_centre"], strict=True)
    for (c, size, *rest), centre in rows:
        known = Community(size, centre, *rest)
        communities[c] = known._replace(absent=bool(known.absent), is_quiet=bool(known.is_quiet))
    return communities


NO_LINKS = np.empty((0, 3), np.int64)
_match_groups = Direct(match_groups)


def match_ids(
    old: np.ndarray, group: np.ndarray, wins: np.ndarray, next_id: int, candidate: np.ndarray | None = None
) -> Matched:
    """Match groups of nodes with the clusters that the nodes were in before.

    Parameters
    ----------
    old : ndarray of shape (n_nodes,)
        Id of every node's cluster before, or NO_CLUSTER.
    group : ndarray of shape (n_nodes,)
        Number of its group now, from 0.
    wins : ndarray of shape (n_nodes,)
        Samples that each node won.
    next_id : int
        The next unused id.
    candidate : ndarray of shape (n_nodes,), optional
        Id that the node's group had when it was last found, but not reported, or NO_CLUSTER.

    Returns
    -------
    matching : Matched
    """
    births = np.arange(len(old))
    members = Members(births, old, np.full(len(old), NO_CLUSTER) if candidate is None else candidate, births)
    return match_members(members, births, wins, group, next_id)


def match_members(
    members: Members, births: np.ndarray, wins: np.ndarray, group: np.ndarray, next_id: int,
    links: np.ndarray = NO_LINKS,
) -> Matched:  # fmt: skip
    """The same for nodes of these births, given what was reported of members."""
    return _match_groups.run(members, births, wins, group, next_id, links)


def _children(shared: np.ndarray) -> list[list[int]]:
    """Groups that come mainly from each cluster, the one that shares the most with it first."""
    children: list[list[int]] = [[] for _ in shared]
    if len(shared):
        most, parents = shared.max(axis=0), shared.argmax(axis=0).tolist()
        for r in (-most).argsort(kind="stable")[: np.count_nonzero(most)].tolist():
            children[parents[r]].append(r)
    return children


Change = tuple[int, int, int, int, np.ndarray]  # kind, cluster, part, size, centre


def changes(matching: Matched, before: dict[int, Community], after: dict[int, Community]) -> Iterator[Change]:
    """Clusters that are gone, split, merged or born between two updates."""
    group_ids, every_child = matching.group_ids, _children(matching.shared)
    for c in sorted(set(before) - set(matching.ids.tolist())):
        yield GONE, c, c, before[c].size, before[c].centre
    for i, children in enumerate(every_child):
        c = int(matching.ids[i])
        pieces = [r for r in children if r == children[0] or not matching.is_newborn[r]]
        for r in pieces if len(pieces) > 1 else []:
            yield SPLIT, c, int(group_ids[r]), int(matching.shared[i, r]), after[c].centre
    for c, parts in _merged(matching).items():
        for part, size in parts:
            yield MERGED, c, part, size, after[c].centre
    continued = matching.main_child.tolist()
    for r, c in enumerate(group_ids.tolist()):
        if r not in continued and matching.is_newborn[r]:
            yield BORN, c, c, after[c].size, after[c].centre


def _merged(matching: Matched) -> dict[int, list[tuple[int, int]]]:
    """By the id that remains, the ids and wins of the clusters that merged, the remaining one first."""
    merged: dict[int, list[tuple[int, int]]] = {}
    for i, child in enumerate(matching.main_child.tolist()):
        if child == NONE:  # its nodes are in groups whose parents are other clusters
            r = int(matching.shared[i].argmax())
            c = int(matching.group_ids[r])
            first = (c, int(matching.shared[:, r].max()))
            merged.setdefault(c, [first]).append((int(matching.ids[i]), int(matching.shared[i].sum())))
    return merged
