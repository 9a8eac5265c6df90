"""Events of the changes that are reported, and the clusters after them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ...core.cluster_ids import BORN, GONE, MERGED, SPLIT
from ...core.communities.matching import Matched, Reported
from ...core.layout import NO_CLUSTER, NONE
from .communities import Change, Community
from .shifts import JOINED, PARTED
from .waiting import Key, Waiting

Clusters = Mapping[int, Community]


def without_early_mergers(keys: Collection[Key], waiting: Mapping[Key, Waiting], known: Clusters) -> set[Key]:
    """The changes but for mergers into clusters that are not reported yet."""
    reported = {c for kind, c in keys if kind != MERGED} | set(known)
    return {key for key in keys if key[0] != MERGED or waiting[key].cluster in reported}


def reported_of_groups(matching: Matched, keys: Collection[Key]) -> np.ndarray:
    """Id of the reported cluster that each group belongs to after these changes, or NO_CLUSTER."""
    known = set(matching.ids.tolist())
    groups = zip(
        matching.group_ids.tolist(), matching.parent.tolist(), matching.is_newborn.tolist(), strict=True
    )
    reported = []
    for c, parent, is_newborn in groups:
        is_reported = c in known or (BORN, c) in keys or (SPLIT, c) in keys
        reported.append(c if is_reported else NO_CLUSTER if is_newborn else parent)
    return np.array(reported)


def unmerged(matching: Matched, keys: Collection[Key]) -> np.ndarray:
    """Ids of the clusters that are in other groups now, which is not reported."""
    main = zip(matching.ids.tolist(), matching.main_child.tolist(), strict=True)
    return np.array([c for c, child in main if child == NONE and (MERGED, c) not in keys], np.int64)


class Move(NamedTuple):
    """The reported cluster of every node before and after, and the samples that the node won."""

    before: np.ndarray
    after: np.ndarray
    wins: np.ndarray


def reported_changes(
    changes: Mapping[Key, Waiting], shifted: Collection[int], move: Move, after: Clusters
) -> Iterator[Change]:
    """Records of these changes; splits and mergers are news only where samples have shifted."""
    for kind, revised, sizes in ((SPLIT, PARTED, _split_sizes), (MERGED, JOINED, _merged_sizes)):
        others: dict[int, list[int]] = {}
        for key in sorted(key for key in changes if key[0] == kind):
            others.setdefault(changes[key].cluster, []).append(key[1])
        for c, parts in sorted(others.items()):
            reported = kind if not set(shifted).isdisjoint([c, *parts]) else revised
            for part, size in zip([c, *parts], sizes(move, c, parts), strict=True):
                yield reported, c, part, int(size), after[c].centre
    for kind, c in sorted(changes):
        if kind == BORN:
            yield BORN, c, c, after[c].size, after[c].centre


def _split_sizes(move: Move, c: int, parts: list[int]) -> list[int]:
    """What the parts of a cluster had of it."""
    return [move.wins[(move.before == c) & (move.after == part)].sum() for part in [c, *parts]]


def _merged_sizes(move: Move, c: int, parts: list[int]) -> list[int]:
    """What the clusters had that are one now."""
    own = move.wins[(move.after == c) & ~np.isin(move.before, parts)].sum()
    return [own, *(move.wins[move.before == part].sum() for part in parts)]


def described(
    now: Reported, before: Clusters, waiting: Mapping[Key, Waiting], n_seen: int
) -> dict[int, Community]:
    """The reported clusters, given those before and what waited to be reported."""
    after, columns = {}, (now.ids.tolist(), now.sizes.tolist(), now.centres, now.joined.tolist())
    for c, size, centre, joined in zip(*columns, strict=True):
        known = before.get(c) or Community(0, centre, first_found(c, before, waiting, n_seen), seen=n_seen)
        seen = max(known.seen, joined)  # a new node shows that samples have come
        after[c] = Community(size, centre, known.since, known.wait, seen, *known[5:])
    return after


def first_found(c: int, known: Clusters, waiting: Mapping[Key, Waiting], n_seen: int) -> int:
    """The sample of the update that found a cluster first."""
    if c in known:
        return known[c].since
    waits = [waiting[kind, c].since for kind in (BORN, SPLIT) if (kind, c) in waiting]
    return min(waits, default=n_seen)


def gone_changes(before: Clusters, ids: np.ndarray) -> Iterator[Change]:
    """Records of the clusters that are not among these: all of their nodes were evicted."""
    for c in sorted(set(before) - set(ids.tolist())):
        yield GONE, c, c, before[c].size, before[c].centre
