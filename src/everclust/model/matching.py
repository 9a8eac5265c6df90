"""Matching of hand-over clusters before and after, by overlap of samples, as in cluster tracking (MONIC)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..core.cluster_ids import BORN, GONE, MERGED, SPLIT
from ..core.layout import NO_CLUSTER
from ..core.state import State


class Community(NamedTuple):
    """A hand-over cluster at the latest update of ids."""

    size: int  # wins of its nodes
    centre: np.ndarray
    since: int  # sample of the update at which it appeared
    wait: int = 0  # samples for which a change of it must last before it is told
    # How its samples come: see absences.py.
    seen: int = 0  # sample up to which some had come
    latest: int = 0  # samples between the latest two looks at which some had come
    total: int = 0  # sum of these counts
    squares: int = 0  # of their successive differences
    n_looks: int = 0
    absent: bool = False  # no sample had come at the latest look
    is_quiet: bool = False  # which was told


class Matching(NamedTuple):
    """Ids of groups of nodes, and how the groups overlap with the clusters before."""

    group_ids: np.ndarray
    next_id: int
    ids: np.ndarray  # of the clusters before
    shared: np.ndarray  # wins that each of these clusters has in common with each group
    children: list[list[int]]  # groups that come mainly from each of them, the one that keeps the id first
    mass: np.ndarray  # wins of every group


def match_ids(
    old: np.ndarray, group: np.ndarray, wins: np.ndarray, next_id: int, candidate: np.ndarray | None = None
) -> Matching:
    """Match groups of nodes with the clusters that the nodes were in before.

    The parent of a group is the cluster with which it shares the most wins. Of the children of a
    cluster, the one that shares the most with it inherits its id; the others get new ids, or in the same way
    those of `candidate`.

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
        Id that the node's group had when it was last found, but not told, or NO_CLUSTER.

    Returns
    -------
    matching : Matching
    """
    n_groups = int(group.max()) + 1
    ids, shared = _overlap(old, group, wins, n_groups)
    children = _children(shared)
    group_ids = np.full(n_groups, NO_CLUSTER)
    _inherit(group_ids, ids, children)
    is_new = group_ids[group] == NO_CLUSTER
    if candidate is not None and is_new.any():
        again, common = _overlap(np.where(is_new, candidate, NO_CLUSTER), group, wins, n_groups)
        _inherit(group_ids, again, _children(common))
    new = np.flatnonzero(group_ids == NO_CLUSTER)
    group_ids[new] = next_id + np.arange(len(new))
    return Matching(group_ids, next_id + len(new), ids, shared, children, np.bincount(group, wins, n_groups))


def _overlap(
    old: np.ndarray, group: np.ndarray, wins: np.ndarray, n_groups: int
) -> tuple[np.ndarray, np.ndarray]:
    """Ids before, and the wins that each of them shares with each group."""
    known = np.flatnonzero(old != NO_CLUSTER)
    if not len(known):  # of a young model; np.unique takes its time
        return old[:0], np.zeros((0, n_groups), np.int64)
    ids, place = np.unique(old[known], return_inverse=True)
    shared = np.zeros((len(ids), n_groups), np.int64)
    np.add.at(shared, (place, group[known]), wins[known])
    return ids, shared


def _children(shared: np.ndarray) -> list[list[int]]:
    """Groups that come mainly from each cluster, the one that shares the most with it first."""
    children: list[list[int]] = [[] for _ in shared]
    if len(shared):
        most, parents = shared.max(axis=0), shared.argmax(axis=0).tolist()
        for r in (-most).argsort(kind="stable")[: np.count_nonzero(most)].tolist():
            children[parents[r]].append(r)
    return children


def _inherit(group_ids: np.ndarray, ids: np.ndarray, children: list[list[int]]) -> None:  # INOUT group_ids
    for i, groups in enumerate(children):
        if groups:
            group_ids[groups[0]] = ids[i]


def sizes_and_centres(
    state: State, nodes: np.ndarray, ids: np.ndarray
) -> Iterator[tuple[int, int, np.ndarray]]:
    """(id, samples, their mean) of the clusters with these ids of nodes, but for NO_CLUSTER."""
    order = np.flatnonzero(ids != NO_CLUSTER)
    order = order[ids[order].argsort(kind="stable")]
    if len(order):
        sorted_ids, wins = ids[order], state.node["wins"][nodes[order]]
        start = np.flatnonzero(np.diff(sorted_ids, prepend=NO_CLUSTER))
        sizes = np.add.reduceat(wins, start)
        sums = np.add.reduceat(wins[:, None] * state.prototype[nodes[order]], start)
        yield from zip(sorted_ids[start].tolist(), sizes.tolist(), sums / sizes[:, None], strict=True)


Change = tuple[int, int, int, int, np.ndarray]  # kind, cluster, part, size, centre


def changes(
    matching: Matching, before: dict[int, Community], after: dict[int, Community]
) -> Iterator[Change]:
    """Clusters that are gone, split, merged or born between two updates."""
    group_ids = matching.group_ids
    for c in sorted(set(before) - set(matching.ids.tolist())):
        yield GONE, c, c, before[c].size, before[c].centre
    for i, children in enumerate(matching.children):
        c = int(matching.ids[i])
        pieces = [r for r in children if r == children[0] or not is_newborn(matching, r)]
        for r in pieces if len(pieces) > 1 else []:
            yield SPLIT, c, int(group_ids[r]), int(matching.shared[i, r]), after[c].centre
    for c, parts in _merged(matching).items():
        for part, size in parts:
            yield MERGED, c, part, size, after[c].centre
    continued = [children[0] for children in matching.children if children]
    for r, c in enumerate(group_ids.tolist()):
        if r not in continued and is_newborn(matching, r):
            yield BORN, c, c, after[c].size, after[c].centre


def is_newborn(matching: Matching, r: int) -> bool:
    """Whether most samples of a group were won by nodes that are younger than the clusters before.

    A newcomer often has a node or two that lay at the edge of a neighbour: that is no split.
    """
    shared = matching.shared[:, r].sum()
    return bool(shared == 0 or 2 * shared < matching.mass[r])


def parent(matching: Matching, r: int) -> int:
    """Id of the cluster with which a group shares the most, or NO_CLUSTER."""
    shared = matching.shared[:, r]
    return int(matching.ids[shared.argmax()]) if shared.any() else NO_CLUSTER


def _merged(matching: Matching) -> dict[int, list[tuple[int, int]]]:
    """By the id that remains, the ids and wins of the clusters that merged, the remaining one first."""
    merged: dict[int, list[tuple[int, int]]] = {}
    for i, children in enumerate(matching.children):
        if not children:  # its nodes are in groups whose parents are other clusters
            r = int(matching.shared[i].argmax())
            c = int(matching.group_ids[r])
            first = (c, int(matching.shared[:, r].max()))
            merged.setdefault(c, [first]).append((int(matching.ids[i]), int(matching.shared[i].sum())))
    return merged
