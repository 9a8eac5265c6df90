"""Which ids hand-over clusters inherit, by overlap of usage, and what has become of those before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..core.cluster_ids import BORN, GONE, MERGED, SPLIT
from ..core.layout import NO_CLUSTER
from ..core.state import EVENT
from .events import Page


class Community(NamedTuple):
    """A hand-over cluster when it was last decided about them."""

    size: int
    centre: np.ndarray
    since: int  # the sample from which on it has been there


class Succession(NamedTuple):
    """Which ids groups of nodes inherit from those their nodes had before."""

    group_ids: np.ndarray
    next_id: int
    ids: np.ndarray  # those that nodes had before
    shared: np.ndarray  # usage that each of them has in common with each group
    heirs: list[list[int]]  # the groups that come mainly from each of them, the one that keeps the id first


def succeed(old: np.ndarray, group: np.ndarray, usage: np.ndarray, next_id: int) -> Succession:
    """Let groups inherit ids by overlap of usage.

    A group comes mainly from the id with which it shares most usage. Of several groups that come mainly
    from the same id, the one that shares most with it keeps it, and the others are given new ids.

    Parameters
    ----------
    old : ndarray of shape (n_nodes,)
        Id of every node before, or NO_CLUSTER.
    group : ndarray of shape (n_nodes,)
        Number of its group now, from 0.
    usage : ndarray of shape (n_nodes,)
    next_id : int
        The next id to be given.

    Returns
    -------
    succession : Succession
    """
    n_groups = int(group.max()) + 1
    known = old != NO_CLUSTER
    ids, place = np.unique(old[known], return_inverse=True)
    shared = np.zeros((len(ids), n_groups), np.int64)
    np.add.at(shared, (place, group[known]), usage[known])
    group_ids = np.full(n_groups, NO_CLUSTER)
    heirs: list[list[int]] = [[] for _ in ids]
    for r in np.lexsort((np.arange(n_groups), -shared.max(axis=0, initial=0))).tolist():
        if shared[:, r].any():
            heirs[shared[:, r].argmax()].append(r)
    for i, mine in enumerate(heirs):
        if mine:
            group_ids[mine[0]] = ids[i]
    new = np.flatnonzero(group_ids == NO_CLUSTER)
    group_ids[new] = next_id + np.arange(len(new))
    return Succession(group_ids, next_id + len(new), ids, shared, heirs)


Happening = tuple[int, int, int, int, np.ndarray]  # kind, cluster, part, size, centre


def happenings(
    succession: Succession, before: dict[int, Community], after: dict[int, Community]
) -> Iterator[Happening]:
    """What has become of the clusters that were there before, and which are new."""
    group_ids = succession.group_ids
    for c in sorted(set(before) - set(succession.ids.tolist())):
        yield GONE, c, c, before[c].size, before[c].centre
    for i, heirs in enumerate(succession.heirs):
        c = int(succession.ids[i])
        for r in heirs if len(heirs) > 1 else []:
            yield SPLIT, c, int(group_ids[r]), int(succession.shared[i, r]), after[c].centre
    merged = _merged(succession)
    for c, parts in merged.items():
        for part, size in parts:
            yield MERGED, c, part, size, after[c].centre
    for c in group_ids[~succession.shared.any(axis=0)].tolist():
        yield BORN, c, c, after[c].size, after[c].centre


def _merged(succession: Succession) -> dict[int, list[tuple[int, int]]]:
    """By the id that stays, the ids that have come together and their usage; the one that stays first."""
    merged: dict[int, list[tuple[int, int]]] = {}
    for i, heirs in enumerate(succession.heirs):
        if not heirs:  # its nodes have gone into groups that come mainly from others
            r = int(succession.shared[i].argmax())
            c = int(succession.group_ids[r])
            first = (c, int(succession.shared[:, r].max()))
            merged.setdefault(c, [first]).append((int(succession.ids[i]), int(succession.shared[i].sum())))
    return merged


def as_lines(found: list[Happening], sample: int) -> Page:
    """Lines and centres as the core writes them: lines of the same event have the same centre."""
    centre_of = {(kind, cluster): centre for kind, cluster, _, _, centre in found}
    row_of = {event: row for row, event in enumerate(centre_of)}
    lines = np.zeros(len(found), EVENT)
    for row, (kind, cluster, part, size, _) in enumerate(found):
        lines[row] = (sample, kind, cluster, part, size, row_of[kind, cluster])
    return lines, np.array(list(centre_of.values()))
