"""Permanent cluster identities, and what happens to clusters: born, merged, split, gone.

An id never changes its meaning and is never used again. When clusters join, the one with the larger
usage keeps its id; when one splits, its largest part does. The core decides about connected components
at the very sample at which they change; about hand-over clusters it is decided here, at every thousandth
sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from .core.lineage import BORN, GONE, LINE, MERGED, SPLIT
from .core.topology import NO_CLUSTER

KINDS = {GONE: "gone", SPLIT: "split", MERGED: "merged", BORN: "born"}
MOST_LINES = 20_000  # that are remembered: a birth or an end is one, a split or a merger at least two
DECISION_INTERVAL = 1000  # samples between two decisions about hand-over clusters


class Event(NamedTuple):
    """Something that happened to clusters.

    Parameters
    ----------
    sample : int
        Number of the sample at which it happened, counted from 1.
    kind : {"gone", "split", "merged", "born"}
        Within one sample, events come in this order.
    before, after : tuple of int
        Ids of the clusters before and after. The one that keeps its id comes first.
    sizes : tuple of int
        Usage of the parts of a split, of the clusters before a merger (the one that keeps its id first), or
        of the cluster that is born or gone.
    centre : tuple of float
        Of the cluster that keeps its id, is born or gone.

    Examples
    --------
    >>> from everclust.identity import Event
    >>> print(Event(70, "split", (5,), (5, 101), (30, 12), (0.5, 0.1)))
    sample 70: 5 split into 5 and 101
    """

    sample: int
    kind: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    sizes: tuple[int, ...]
    centre: tuple[float, ...]

    def __str__(self) -> str:
        return f"sample {self.sample}: {self._happening()}"

    def _happening(self) -> str:
        if self.kind == "split":
            return f"{self.before[0]} split into {_listed(self.after)}"
        if self.kind == "merged":
            return f"{_listed(self.before)} merged into {self.after[0]}"
        return f"{self.before[0]} is gone" if self.kind == "gone" else f"{self.after[0]} is born"


def _listed(ids: tuple[int, ...]) -> str:
    return ", ".join(map(str, ids[:-1])) + f" and {ids[-1]}"


class Chronicle:
    """The latest lines of what has happened, and the centres they refer to; turned into events when asked."""

    def __init__(self, lines: np.ndarray | None = None, centres: np.ndarray | None = None) -> None:
        self._pages: list[tuple[np.ndarray, np.ndarray]] = []
        if lines is not None and centres is not None and len(lines):
            self._pages.append((lines, centres))

    def add(self, lines: np.ndarray, centres: np.ndarray) -> None:
        """Write down lines; of those before, enough are forgotten to remember MOST_LINES or a few more."""
        self._pages.append((lines, centres))
        while sum(len(page) for page, _ in self._pages[1:]) >= MOST_LINES:
            self._pages.pop(0)

    def arrays(self) -> tuple[np.ndarray, np.ndarray] | None:
        """All of it in one piece, or None if nothing has happened."""
        if len(self._pages) > 1:
            self._pages = [_bound_together(self._pages)]
        self._pages = [_latest(*page) for page in self._pages]
        return self._pages[0] if self._pages else None

    def rename(self, new_id: np.ndarray) -> None:
        """Call every cluster by another id."""
        for lines, _ in self._pages:
            for name in ("cluster", "part"):
                lines[name] = new_id[lines[name]]

    def events(self, since: int = 0) -> list[Event]:
        """What happened after that sample."""
        written = self.arrays()
        if written is None:
            return []
        lines, centres = written
        return list(_told(lines[lines["sample"] > since], centres))

    def copy(self) -> Chronicle:
        """An independent one."""
        twin = Chronicle()
        twin._pages = [(lines.copy(), centres) for lines, centres in self._pages]
        return twin


def _bound_together(pages: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    lines = np.concatenate([lines for lines, _ in pages])
    shift = np.repeat(
        np.cumsum([0, *(len(centres) for _, centres in pages[:-1])]), [len(lines) for lines, _ in pages]
    )
    lines["centre"] += shift
    return lines, np.concatenate([centres for _, centres in pages])


def _latest(lines: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """MOST_LINES lines and as many more as make the first sample whole, however they came in."""
    if len(lines) <= MOST_LINES:
        return lines, centres
    kept = lines[lines["sample"] >= lines["sample"][-MOST_LINES]]
    first = kept["centre"].min()
    kept["centre"] -= first
    return kept, centres[first:]


def _told(lines: np.ndarray, centres: np.ndarray) -> Iterator[Event]:
    """Lines with the same centre are one event: a cluster may be split twice by one sample."""
    order = np.lexsort((lines["centre"], lines["cluster"], lines["kind"], lines["sample"]))
    for key, rows in groupby(lines[order].tolist(), key=lambda line: (*line[:3], line[5])):
        yield _event(key, [row[3:] for row in rows], centres)


def _event(key: tuple[int, ...], rows: list[Any], centres: np.ndarray) -> Event:
    sample, kind, cluster, _ = key
    rows.sort(key=lambda row: (row[0] != cluster, row[0]))
    parts = tuple(row[0] for row in rows)
    before = {GONE: (cluster,), SPLIT: (cluster,), MERGED: parts, BORN: ()}[kind]
    after = {GONE: (), SPLIT: parts, MERGED: (cluster,), BORN: (cluster,)}[kind]
    sizes = tuple(row[1] for row in rows)
    return Event(sample, KINDS[kind], before, after, sizes, tuple(centres[rows[0][2]].tolist()))


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
    heirs = []
    for i, share in enumerate(shared):
        mine = [r for r in np.flatnonzero(share).tolist() if shared[:, r].argmax() == i]
        heirs.append(sorted(mine, key=lambda r: (-share[r], r)))
        if mine:
            group_ids[heirs[-1][0]] = ids[i]
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


def as_lines(found: list[Happening], sample: int) -> tuple[np.ndarray, np.ndarray]:
    """(lines, centres) as the core writes them: lines of the same event have the same centre."""
    centre_of = {(kind, cluster): centre for kind, cluster, _, _, centre in found}
    row_of = {event: row for row, event in enumerate(centre_of)}
    lines = np.zeros(len(found), LINE)
    for row, (kind, cluster, part, size, _) in enumerate(found):
        lines[row] = (sample, kind, cluster, part, size, row_of[kind, cluster])
    return lines, np.array(list(centre_of.values()))


COLUMNS = len(LINE.names or ())
LOGS = {False: "event", True: "community_event"}  # of components and of communities
Arrays = dict[str, np.ndarray]


def export_chronicle(chronicle: Chronicle, name: str, n_features: int) -> Arrays:
    """A chronicle as plain arrays under that name."""
    lines, centres = chronicle.arrays() or (np.empty(0, LINE), np.empty((0, n_features)))
    return {name: lines.view(np.int64).reshape(-1, COLUMNS).copy(), f"{name}_centre": centres}


def restore_chronicle(arrays: Arrays, name: str) -> Chronicle:
    """What `export_chronicle` made."""
    lines = np.zeros(len(arrays[name]), LINE)
    for column, field in zip(arrays[name].T, LINE.names or (), strict=True):
        lines[field] = column
    return Chronicle(lines, arrays[f"{name}_centre"])


def export_communities(communities: dict[int, Community], n_features: int) -> Arrays:
    """Communities as plain arrays."""
    table = [(c, community.size, community.since) for c, community in communities.items()]
    centres = [community.centre for community in communities.values()]
    return {
        "community_list": np.array(table, np.int64).reshape(-1, 3),
        "community_centre": np.array(centres, float).reshape(-1, n_features),
    }


def restore_communities(arrays: Arrays) -> dict[int, Community]:
    """What `export_communities` made."""
    rows = zip(arrays["community_list"].tolist(), arrays["community_centre"], strict=True)
    return {c: Community(size, centre, since) for (c, size, since), centre in rows}


def nothing_happened(n_features: int) -> Arrays:
    """The arrays of a model whose clusters have no history."""
    arrays = export_communities({}, n_features)
    for name in LOGS.values():
        arrays |= export_chronicle(Chronicle(), name, n_features)
    return arrays


def examine_history(scalars: Mapping[str, Any], arrays: Arrays) -> None:
    """Raise ValueError when these cannot be what has happened to the clusters of a model."""
    n_features = arrays["prototype"].shape[1]
    for name, next_id in (("event", "next_cluster"), ("community_event", "next_community")):
        lines, centres = arrays[name], arrays[f"{name}_centre"]
        if lines.shape != (len(lines), COLUMNS) or lines.dtype.kind != "i":
            raise ValueError(f"its {name} list has the shape {lines.shape}")
        highest = np.array([scalars["n_seen"], BORN, *[scalars[next_id] - 1] * 2, 2**53, len(centres) - 1])
        if centres.shape != (len(centres), n_features) or centres.dtype.kind != "f":
            raise ValueError(f"its {name} centres have the shape {centres.shape}")
        if not np.isfinite(centres).all():
            raise ValueError(f"its {name} centres make no sense")
        if (lines < 0).any() or (lines > highest).any():
            raise ValueError(f"its {name} list names what was never there")
    listed, centres = arrays["community_list"], arrays["community_centre"]
    if listed.shape != (len(centres), 3) or centres.shape != (len(listed), n_features):
        raise ValueError("its communities do not fit together")
    if listed.dtype.kind != "i" or centres.dtype.kind != "f" or not np.isfinite(centres).all():
        raise ValueError("its communities are not numbers")
    if (listed < 0).any() or (listed[:, 0] >= scalars["next_community"]).any():
        raise ValueError("its communities were never given their ids")
    if (listed[:, 2] > scalars["n_seen"]).any():
        raise ValueError("its communities are still to come")
