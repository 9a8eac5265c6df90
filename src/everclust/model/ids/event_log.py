"""The latest events of a model, stored as records and turned into `Event` objects when they are read."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import groupby, takewhile
from typing import Any

import numpy as np

from ...core.cluster_ids import BORN, GONE, MERGED, SPLIT
from ...core.state import EVENT
from ..events import Event
from .absences import BACK, QUIET
from .communities import Change
from .shifts import JOINED, PARTED

Arrays = dict[str, np.ndarray]
Chunk = tuple[np.ndarray, np.ndarray]  # records, and the centres they refer to

KINDS = {GONE: "gone", SPLIT: "split", MERGED: "merged", BORN: "born", QUIET: "quiet", BACK: "back"} | {
    PARTED: "revised",
    JOINED: "revised",
}
N_COLUMNS = len(EVENT.names or ())  # of a record in a file
MOST_RECORDS = 20_000  # in a log: a birth or an end is one record, a split or a merger at least two


class EventLog:
    """Chunks of records in the order in which they were added."""

    def __init__(self) -> None:
        self._chunks: deque[Chunk] = deque()
        self._n_records = 0

    def add(self, records: np.ndarray, centres: np.ndarray) -> None:
        """Append records, and drop the oldest chunks as long as MOST_RECORDS are left."""
        if not len(records):
            return
        self._chunks.append((records, centres))
        self._n_records += len(records)
        while self._n_records - len(self._chunks[0][0]) >= MOST_RECORDS:
            self._n_records -= len(self._chunks.popleft()[0])

    def events(self, since: int = 0) -> list[Event]:
        """Events after sample `since`."""
        recent = list(takewhile(lambda chunk: chunk[0]["sample"][-1] > since, reversed(self._chunks)))[::-1]
        if not recent:
            return []
        whole = self._whole() if len(recent) == len(self._chunks) else None
        records, centres = whole or _concatenated(recent)
        return list(_events(records[records["sample"] > since], centres))

    def rename(self, new_id: np.ndarray) -> None:
        """Replace every id c by new_id[c]."""
        for records, _ in self._chunks:
            for name in ("cluster", "part"):
                ids = records[name]
                records[name] = new_id[ids]

    def export(self, n_features: int) -> Arrays:
        """The log as plain arrays."""
        records, centres = self._whole() or (np.empty(0, EVENT), np.empty((0, n_features)))
        return {"event": records.view(np.int64).reshape(-1, N_COLUMNS).copy(), "event_centre": centres}

    def restore(self, arrays: Arrays) -> None:
        """Add what `export` wrote."""
        records = np.zeros(len(arrays["event"]), EVENT)
        for column, field in zip(arrays["event"].T, EVENT.names or (), strict=True):
            records[field] = column
        self.add(records, arrays["event_centre"])

    def _whole(self) -> Chunk | None:
        """All records in one chunk, which replaces the others; None when there are none."""
        if not self._chunks:
            return None
        chunk = _latest(*_concatenated(self._chunks))
        self._chunks, self._n_records = deque([chunk]), len(chunk[0])
        return chunk


def as_records(changes: list[Change], sample: int) -> Chunk:
    """Changes as the core writes them: records of the same event have the same centre."""
    centre_of = {(kind, cluster): centre for kind, cluster, _, _, centre in changes}
    row_of = {event: row for row, event in enumerate(centre_of)}
    records = np.zeros(len(changes), EVENT)
    for row, (kind, cluster, part, size, _) in enumerate(changes):
        records[row] = (sample, kind, cluster, part, size, row_of[kind, cluster])
    return records, np.array(list(centre_of.values()))


def _concatenated(chunks: Iterable[Chunk]) -> Chunk:
    chunks = list(chunks)
    if len(chunks) == 1:
        return chunks[0]
    records = np.concatenate([records for records, _ in chunks])
    first_centre = np.cumsum([0, *(len(centres) for _, centres in chunks[:-1])])
    records["centre"] += np.repeat(first_centre, [len(records) for records, _ in chunks])
    return records, np.concatenate([centres for _, centres in chunks])


def _latest(records: np.ndarray, centres: np.ndarray) -> Chunk:
    """The last MOST_RECORDS records and all others of the same sample, whatever chunks they came in."""
    if len(records) <= MOST_RECORDS:
        return records, centres
    latest = records[records["sample"] >= records["sample"][-MOST_RECORDS]]
    first = latest["centre"].min()
    latest["centre"] -= first
    return latest, centres[first:]


def _events(records: np.ndarray, centres: np.ndarray) -> Iterator[Event]:
    """Records with the same centre are one event: one sample may split a cluster twice."""
    order = np.lexsort((records["centre"], records["cluster"], records["kind"], records["sample"]))
    for key, rows in groupby(records[order].tolist(), key=lambda record: (*record[:3], record[5])):
        yield _event(key, [row[3:] for row in rows], centres)


def _event(key: tuple[int, ...], rows: list[Any], centres: np.ndarray) -> Event:
    sample, kind, cluster, _ = key
    rows.sort(key=lambda row: (row[0] != cluster, row[0]))
    parts = tuple(row[0] for row in rows)
    before = {MERGED: parts, JOINED: parts, BORN: ()}.get(kind, (cluster,))
    after = {GONE: (), SPLIT: parts, PARTED: parts}.get(kind, (cluster,))
    sizes = tuple(row[1] for row in rows)
    return Event(sample, KINDS[kind], before, after, sizes, tuple(centres[rows[0][2]].tolist()))
