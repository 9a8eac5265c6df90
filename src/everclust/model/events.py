"""Permanent cluster identities, and what happens to clusters: born, merged, split, gone.

An id never changes its meaning and is never used again. When clusters join, the one with the larger
usage keeps its id; when one splits, its largest part does. The core decides about connected components
at the very sample at which they change (core/cluster_ids.py); about hand-over clusters it is decided at every
thousandth sample (matching.py).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, takewhile
from typing import Any, NamedTuple

import numpy as np

from ..core.cluster_ids import BORN, GONE, MERGED, SPLIT

KINDS = {GONE: "gone", SPLIT: "split", MERGED: "merged", BORN: "born"}
MOST_LINES = 20_000  # that are remembered: a birth or an end is one, a split or a merger at least two
MOST_NAMED = 5  # clusters in a sentence
Page = tuple[np.ndarray, np.ndarray]  # lines, and the centres they refer to


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
    >>> from everclust.model.events import Event
    >>> print(Event(70, "split", (5,), (5, 101), (30, 12), (0.5, 0.1)))
    sample 70: 5 split into 5 and 101 (30 and 12 samples)
    """

    sample: int
    kind: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    sizes: tuple[int, ...]
    centre: tuple[float, ...]

    def __str__(self) -> str:
        return f"sample {self.sample:,}: {self.text}"

    @property
    def text(self) -> str:
        """The event in words, the same on the terminal, in logs and on the live page."""
        return "".join(map(str, self.words()))

    def words(self) -> list[int | str]:
        """The sentence in pieces; integers are ids of clusters."""
        if self.kind == "born":
            happened = [self.after[0], " is born"]
        elif self.kind == "gone":
            happened = [self.before[0], " is gone"]
        else:
            happened = [*_listed(self.before), f" {self.kind} into ", *_listed(self.after)]
        sizes = "".join(map(str, _listed([f"{size:,}" for size in self.sizes])))
        return [*happened, f" ({sizes} {'sample' if self.sizes == (1,) else 'samples'})"]

    def to_dict(self) -> dict[str, Any]:
        """The event as plain JSON, with its sentence as `text`."""
        return {
            "sample": int(self.sample),
            "kind": self.kind,
            "before": [int(k) for k in self.before],
            "after": [int(k) for k in self.after],
            "sizes": [int(n) for n in self.sizes],
            "centre": [float(x) for x in self.centre],
            "text": self.text,
        }


def _listed(items: Sequence[int | str]) -> list[int | str]:
    """`1, 2 and 3` in pieces; of many, the first few are named."""
    shown = list(items[:MOST_NAMED])
    if len(items) > MOST_NAMED:
        return [*_separated(shown), f" and {len(items) - MOST_NAMED} more"]
    return [*_separated(shown[:-1]), " and ", shown[-1]] if len(shown) > 1 else shown


def _separated(items: list[int | str]) -> list[int | str]:
    return [piece for item in items for piece in (", ", item)][1:]


class Chronicle:
    """The latest lines of what has happened; turned into events when asked."""

    def __init__(self, lines: np.ndarray | None = None, centres: np.ndarray | None = None) -> None:
        self._pages: deque[Page] = deque()
        self._n_lines = 0
        if lines is not None and centres is not None:
            self.add(lines, centres)

    def add(self, lines: np.ndarray, centres: np.ndarray) -> None:
        """Write down lines; of those before, enough are forgotten to remember MOST_LINES or a few more."""
        if not len(lines):
            return
        self._pages.append((lines, centres))
        self._n_lines += len(lines)
        while self._n_lines - len(self._pages[0][0]) >= MOST_LINES:
            self._n_lines -= len(self._pages.popleft()[0])

    def arrays(self) -> Page | None:
        """All of it in one piece, or None if nothing has happened."""
        if not self._pages:
            return None
        page = _latest(*_bound_together(self._pages))
        self._pages, self._n_lines = deque([page]), len(page[0])
        return page

    def rename(self, new_id: np.ndarray) -> None:
        """Call every cluster by another id."""
        for lines, _ in self._pages:
            for name in ("cluster", "part"):
                lines[name] = new_id[lines[name]]

    def events(self, since: int = 0) -> list[Event]:
        """What happened after that sample."""
        recent = list(takewhile(lambda page: page[0]["sample"][-1] > since, reversed(self._pages)))[::-1]
        if not recent:
            return []
        whole = self.arrays() if len(recent) == len(self._pages) else None
        lines, centres = whole or _bound_together(recent)
        return list(_told(lines[lines["sample"] > since], centres))

    def copy(self) -> Chronicle:
        """An independent one."""
        twin = Chronicle()
        for lines, centres in self._pages:
            twin.add(lines.copy(), centres)
        return twin


def _bound_together(pages: Iterable[Page]) -> Page:
    pages = list(pages)
    if len(pages) == 1:
        return pages[0]
    lines = np.concatenate([lines for lines, _ in pages])
    shift = np.repeat(
        np.cumsum([0, *(len(centres) for _, centres in pages[:-1])]), [len(lines) for lines, _ in pages]
    )
    lines["centre"] += shift
    return lines, np.concatenate([centres for _, centres in pages])


def _latest(lines: np.ndarray, centres: np.ndarray) -> Page:
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
