"""What the page is told: everything once, then only what has changed."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from typing import Any

import numpy as np

from ..model.snapshot import Snapshot
from ..view.palette import N_COLOURS, colours_of
from .capture import Picture
from .plane import Placed, Plane
from .watcher import Watcher

MOST_NODES = 10_000  # that are drawn, the most used ones
MOST_CLUSTERS = 120  # that are listed, the largest ones
FINEST = 65_535  # steps along each axis
TABLE_SECONDS = 0.5  # between two tables of clusters
MARGIN = 0.05  # around the nodes, of their width


class Viewer:
    """Knows what one viewer has been told already."""

    def __init__(self, watcher: Watcher, plane: Plane) -> None:
        self.watcher, self.plane = watcher, plane
        self.version = 0
        self._life = -1
        self._told: dict[str, Any] = {}
        self._n_points = self._n_events = 0
        self._table_due = 0.0

    def frame(self, state: dict[str, Any]) -> dict[str, Any]:
        """What has changed since the last frame, with the state of the run."""
        watcher = self.watcher
        frame: dict[str, Any] = dict(state)
        picture, version, life = watcher.picture, watcher.version, watcher.life
        if life != self._life:
            self._life, self._n_points, self._n_events = life, 0, 0
            self._told = {}
            frame["anew"] = True
        if picture is not None and version > self.version:
            self.version = version
            frame |= self._drawn(picture)
        if picture is not None and time.monotonic() >= self._table_due:
            self._table_due = time.monotonic() + TABLE_SECONDS
            now = picture.snapshot
            frame["table"] = [now.n_samples_seen, cluster_table(now)]
        return self._news(frame)

    def _drawn(self, picture: Picture) -> dict[str, Any]:
        now = picture.snapshot
        names = self.watcher.feature_names()
        placed = self.plane.place(picture, names)
        low, high = bounds(placed.nodes)
        frame = drawing(picture, placed, low, high)
        frame |= {"n": now.n_samples_seen, "features": names, "axes": placed.names}
        frame |= {"box": [*low.tolist(), *high.tolist()], "equal": placed.is_principal}
        self._n_points, points = self.watcher.trace.since(self._n_points)
        self._n_events, events = self.watcher.events.since(self._n_events)
        frame["counts"] = dict(self.watcher.counts)
        frame |= {"trace": points, "events": [self._placed_event(event) for event in events]}
        return frame

    def _placed_event(self, event: list[Any]) -> list[Any]:
        *what, centre = event
        return [*what, self.plane.put(np.array([centre]))[0].tolist()]

    def _news(self, frame: dict[str, Any]) -> dict[str, Any]:
        news = {key: value for key, value in frame.items() if self._told.get(key) != value}
        for passing in ("trace", "events"):
            if not news.get(passing, True):
                del news[passing]
        self._told |= {key: value for key, value in news.items() if key not in ("trace", "events", "anew")}
        return news


def drawing(picture: Picture, placed: Placed, low: np.ndarray, high: np.ndarray) -> dict[str, Any]:
    """Nodes, edges and samples as packed arrays."""
    now = picture.snapshot
    shown = _most_used(now)
    rank = np.full(len(now.usage), -1)
    rank[shown] = np.arange(len(shown))
    edges = rank[now.edges]
    edges = edges[(edges >= 0).all(axis=1)]
    return {
        "at": _packed(_steps(placed.nodes[shown], low, high), np.uint16),
        "birth": _packed(picture.birth[shown], np.uint32),
        "label": _packed(now.node_labels[shown], np.int32),
        "active": _packed(now.active[shown], np.uint8),
        "use": _packed(np.minimum(6 * np.log2(np.maximum(now.usage[shown], 1)), 255), np.uint8),
        "edges": _packed(edges, np.uint16),
        "samples": _packed(_steps(placed.samples, low, high), np.uint16),
        "sample_label": _packed(picture.sample_labels, np.int32),
    }


def bounds(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The corners of a box around all points, with some room."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.where(high > low, MARGIN * (high - low), 0.5)
    return low - room, high + room


def cluster_table(now: Snapshot) -> list[list[int]]:
    """Id, size, nodes, beginning and latest sample of each cluster, the largest first."""
    node = now.candidates.node
    ids, first, place = np.unique(now.node_labels[node], return_index=True, return_inverse=True)
    size = np.bincount(place, now.usage[node]).astype(np.int64)
    latest = np.zeros(len(ids), np.int64)
    np.maximum.at(latest, place, now.last_won[node])
    columns = [ids, size, np.bincount(place), now.since[node[first]], latest]
    order = np.lexsort((ids, -size))[:MOST_CLUSTERS]
    return np.column_stack(columns)[order].tolist()


def palette() -> list[str]:
    """The colours of the clusters: that of id c is number c modulo their number."""
    rgb = np.round(255 * colours_of(np.arange(N_COLOURS))).astype(int)
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in rgb.tolist()]


def as_message(kind: str, record: dict[str, Any]) -> bytes:
    """A server-sent event."""
    data = json.dumps(record, separators=(",", ":"))
    return f"event: {kind}\ndata: {data}\n\n".encode()


def _most_used(now: Snapshot) -> np.ndarray:
    if len(now.usage) <= MOST_NODES:
        return np.arange(len(now.usage))
    return np.sort(np.argsort(-now.usage, kind="stable")[:MOST_NODES])


def _steps(points: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.clip(np.round((points - low) / (high - low) * FINEST), 0, FINEST)


def _packed(values: np.ndarray, dtype: Any) -> str:
    return b64encode(values.astype(dtype).tobytes()).decode()
