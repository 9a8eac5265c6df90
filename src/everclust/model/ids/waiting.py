"""Changes of clusters that wait to be reported: nobody trusts alarms that are often wrong.

Two levels of the read-out may be almost equally good, and then the answer goes to and fro. So a change must
last: it is reported when every check has found it for half of the stream, at most 20,000 samples. A cluster
asks for twice as long after every change that was reported or did not last. Where the samples of the cluster
have shifted (shifts.py), the next check is enough. Newcomers do not wait: their sign is clear.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from ...core.cluster_ids import BORN, MERGED, SPLIT
from ...core.communities.levels import LONGEST_PAUSE, SHORTEST_PAUSE
from ...core.communities.matching import Matched
from ...core.communities.newcomers import is_large_part
from ...core.layout import NO_CLUSTER, NONE
from ...core.serialise import Arrays

CHECKS = 4  # that the time for which a change must last has room for
FEWEST_SAMPLES = 16  # of a cluster that is born
FIRST_REPORTED = 64  # samples before the first event

Key = tuple[int, int]  # BORN or SPLIT and the id of the new cluster, or MERGED and the id that is to end


class Waiting(NamedTuple):
    """A change that was found and not reported yet."""

    cluster: int  # that it happens to: is split or merged into; NO_CLUSTER for a birth
    since: int  # sample of the update that found it first
    wait: int  # samples for which it must last


def export_waiting(waiting: Mapping[Key, Waiting]) -> Arrays:
    """The changes that wait, as a plain array."""
    rows = [(*key, *change) for key, change in waiting.items()]
    return {"community_change": np.array(rows, np.int64).reshape(-1, 2 + len(Waiting._fields))}


def restore_waiting(arrays: Arrays) -> dict[Key, Waiting]:
    """What `export_waiting` wrote."""
    return {(kind, c): Waiting(*rest) for kind, c, *rest in arrays["community_change"].tolist()}


def present_changes(matching: Matched) -> dict[Key, int]:
    """How the present groups differ from the clusters reported, and which cluster each change happens to."""
    found: dict[Key, int] = {}
    group_ids, ids = matching.group_ids.tolist(), matching.ids.tolist()
    known = set(ids)
    groups = zip(group_ids, matching.parent.tolist(), matching.is_newborn.tolist(), strict=True)
    for c, parent, is_newborn in groups:
        if c not in known:
            found[BORN if is_newborn else SPLIT, c] = NO_CLUSTER if is_newborn else parent
    for i, child in enumerate(matching.main_child.tolist()):
        if child == NONE:
            found[MERGED, ids[i]] = group_ids[int(matching.shared[i].argmax())]
    return found


def is_large(key: Key, matching: Matched) -> bool:
    """Whether a change is about enough samples to be reported."""
    kind, c = key
    if kind == MERGED:
        return True
    r = matching.group_ids.tolist().index(c)
    if kind == BORN:
        return bool(matching.mass[r] >= FEWEST_SAMPLES)
    i = matching.ids.tolist().index(matching.parent[r])
    n_won, n_rest = int(matching.shared[i, r]), int(matching.shared[i, matching.main_child[i]])
    return bool(is_large_part(n_won, n_rest))


def first_wait(n_seen: int) -> int:
    """Samples for which a change must last where none was found before."""
    return min(n_seen // 2, LONGEST_PAUSE)


def due(waiting: Mapping[Key, Waiting], clear: Collection[int], n_seen: int, is_first: bool) -> set[Key]:
    """The changes that may be reported: those that have lasted, and clear newcomers at once.

    A short stream is cut in pieces easily: only new clusters that are clear are reported, and the first of
    them together.
    """
    over = {key for key, change in waiting.items() if n_seen >= change.since + change.wait}
    if n_seen >= SHORTEST_PAUSE:
        return set(waiting) if is_first else over | {(BORN, c) for c in clear if (BORN, c) in waiting}
    new = {key for key in waiting if key[0] != MERGED and key[1] in clear}
    if n_seen < FIRST_REPORTED or (is_first and not new <= over):
        return set()
    return new & over


def check_pause(n_seen: int) -> int:
    """Samples from one check of what waits to the next, at least."""
    return max(first_wait(n_seen) // CHECKS, SHORTEST_PAUSE)


def clusters_of(key: Key, change: Waiting) -> set[int]:
    """The clusters that a split or a merger is about; none for a birth."""
    return set() if key[0] == BORN else {key[1], change.cluster}


def shortened(waiting: Mapping[Key, Waiting], shifted: Collection[int]) -> dict[Key, Waiting]:
    """The changes of clusters whose samples have shifted: the next check of them decides, even if it comes a
    little early."""
    return {
        key: change._replace(wait=min(change.wait, check_pause(change.since) // 2))
        for key, change in waiting.items()
        if not clusters_of(key, change).isdisjoint(shifted)
    }


def next_check(shortened: Mapping[Key, Waiting]) -> int | None:
    """The sample at which the first of these has lasted."""
    return min((change.since + change.wait for change in shortened.values()), default=None)
