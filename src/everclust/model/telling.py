"""Events of the changes that are told, and the clusters after them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ..core.cluster_ids import BORN, GONE, MERGED, SPLIT
from ..core.layout import NO_CLUSTER
from .clusters import CommunityReadOut
from .matching import Change, Community, Matching, is_newborn, parent
from .waiting import Key, Waiting

Clusters = Mapping[int, Community]


def without_early_mergers(keys: Collection[Key], waiting: Mapping[Key, Waiting], known: Clusters) -> set[Key]:
    """The changes but for mergers into clusters that are not told yet."""
    told = {c for kind, c in keys if kind != MERGED} | set(known)
    return {key for key in keys if key[0] != MERGED or waiting[key].cluster in told}


def told_ids(found: CommunityReadOut, keys: Collection[Key]) -> np.ndarray:
    """Id of the told cluster of every node after these changes, or NO_CLUSTER."""
    matching, before = found.matching, found.before.told
    known = set(matching.ids.tolist())
    group_ids = matching.group_ids.tolist()
    of_group = np.array(
        [c if c in known else _told_id(matching, r, c, keys) for r, c in enumerate(group_ids)]
    )
    after = of_group[found.group]
    absorbed = [
        c for c, children in zip(matching.ids.tolist(), matching.children, strict=True) if not children
    ]
    stays = np.isin(before, [c for c in absorbed if (MERGED, c) not in keys])
    return np.where(stays | (after == NO_CLUSTER), before, after)


def _told_id(matching: Matching, r: int, c: int, keys: Collection[Key]) -> int:
    """Id of the told cluster that a group with a new id belongs to."""
    if (BORN, c) in keys or (SPLIT, c) in keys:
        return c
    return NO_CLUSTER if is_newborn(matching, r) else parent(matching, r)


class Move(NamedTuple):
    """The told cluster of every node before and after, and the samples that the node won."""

    before: np.ndarray
    after: np.ndarray
    wins: np.ndarray


def told_changes(
    keys: Collection[Key], waiting: Mapping[Key, Waiting], move: Move, after: Clusters
) -> Iterator[Change]:
    """Records of these changes."""
    for kind, sizes in ((SPLIT, _split_sizes), (MERGED, _merged_sizes)):
        others: dict[int, list[int]] = {}
        for key in sorted(key for key in keys if key[0] == kind):
            others.setdefault(waiting[key].cluster, []).append(key[1])
        for c, parts in sorted(others.items()):
            for part, size in zip([c, *parts], sizes(move, c, parts), strict=True):
                yield kind, c, part, int(size), after[c].centre
    for kind, c in sorted(keys):
        if kind == BORN:
            yield BORN, c, c, after[c].size, after[c].centre


def _split_sizes(move: Move, c: int, parts: list[int]) -> list[int]:
    """What the parts of a cluster had of it."""
    return [move.wins[(move.before == c) & (move.after == part)].sum() for part in [c, *parts]]


def _merged_sizes(move: Move, c: int, parts: list[int]) -> list[int]:
    """What the clusters had that are one now."""
    own = move.wins[(move.after == c) & ~np.isin(move.before, parts)].sum()
    return [own, *(move.wins[move.before == part].sum() for part in parts)]


def gone_changes(before: Clusters, told: np.ndarray) -> Iterator[Change]:
    """Records of the clusters that no node was told to be in any more: all were evicted."""
    for c in sorted(set(before) - set(told.tolist())):
        yield GONE, c, c, before[c].size, before[c].centre
