"""Frames of the live page: everything once, then only what has changed."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from typing import Any

import numpy as np

from ..model.snapshot import Snapshot
from ..view.palette import N_COLOURS, colours_of
from .capture import Capture
from .plane import Plane, PlaneView
from .watcher import Watcher

MAX_NODES = 10_000  # drawn: the most used ones
MAX_CLUSTERS = 120  # listed: the largest ones
GRID = 65_535  # positions are sent as whole steps along each axis
TABLE_SECONDS = 0.5  # between two tables of clusters
MARGIN = 0.05  # around the nodes, as a share of their extent


class Viewer:
    """Makes the frames of one viewer; remembers what was sent."""

    def __init__(self, watcher: Watcher, plane: Plane) -> None:
        self.watcher, self.plane = watcher, plane
        self.version = 0
        self._generation = -1
        self._sent: dict[str, Any] = {}
        self._n_points = self._n_events = 0
        self._table_due = 0.0

    def frame(self, state: dict[str, Any]) -> dict[str, Any]:
        """What has changed since the last frame, with the state of the run."""
        watcher = self.watcher
        frame: dict[str, Any] = dict(state)
        # The version first: if a capture comes in between, the next frame shows it.
        version, capture, generation = watcher.version, watcher.capture, watcher.generation
        if generation != self._generation:
            self._generation, self._n_points, self._n_events = generation, 0, 0
            self._sent = {}
            frame["reset"] = True
        if capture is not None and version > self.version:
            self.version = version
            frame |= self._draw(capture)
        if capture is not None and time.monotonic() >= self._table_due:
            self._table_due = time.monotonic() + TABLE_SECONDS
            now = capture.snapshot
            frame["table"] = [now.n_samples_seen, cluster_table(now)]
        return self._changes(frame)

    def _draw(self, capture: Capture) -> dict[str, Any]:
        now = capture.snapshot
        names = self.watcher.feature_names()
        view = self.plane.view(capture, names)
        low, high = bounds(view.nodes)
        frame = drawing(capture, view, low, high)
        time = self.watcher.time(now.n_samples_seen)
        frame |= {} if time is None else {"time": time}
        frame |= {"n": now.n_samples_seen, "features": names, "axes": view.names}
        frame |= {"box": [*low.tolist(), *high.tolist()], "equal": view.is_principal}
        self._n_points, points = self.watcher.trace.since(self._n_points)
        self._n_events, events = self.watcher.events.since(self._n_events)
        frame["counts"] = dict(self.watcher.counts)
        frame |= {"trace": points, "events": [self._located(event) for event in events]}
        return frame

    def _located(self, event: list[Any]) -> list[Any]:
        *what, centre = event
        return [*what, self.plane.project(np.array([centre]))[0].tolist()]

    def _changes(self, frame: dict[str, Any]) -> dict[str, Any]:
        changes = {key: value for key, value in frame.items() if self._sent.get(key) != value}
        for name in ("trace", "events"):
            if not changes.get(name, True):
                del changes[name]
        self._sent |= {
            key: value for key, value in changes.items() if key not in ("trace", "events", "reset")
        }
        return changes


def drawing(capture: Capture, view: PlaneView, low: np.ndarray, high: np.ndarray) -> dict[str, Any]:
    """Nodes, edges and samples as packed arrays."""
    now = capture.snapshot
    shown = _most_used(now)
    rank = np.full(len(now.usage), -1)
    rank[shown] = np.arange(len(shown))
    edges = rank[now.edges]
    edges = edges[(edges >= 0).all(axis=1)]
    return {
        "at": _packed(_on_grid(view.nodes[shown], low, high), np.uint16),
        "birth": _packed(capture.birth[shown], np.uint32),
        "label": _packed(now.node_labels[shown], np.int32),
        "active": _packed(now.active[shown], np.uint8),
        "use": _packed(np.minimum(6 * np.log2(np.maximum(now.usage[shown], 1)), 255), np.uint8),
        "edges": _packed(edges, np.uint16),
        "samples": _packed(_on_grid(view.samples, low, high), np.uint16),
        "sample_label": _packed(capture.sample_labels, np.int32),
    }


def bounds(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower left and upper right corner of a box around all points, with a margin."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = np.where(high > low, MARGIN * (high - low), 0.5)
    return low - margin, high + margin


def cluster_table(now: Snapshot) -> list[list[int]]:
    """Id, size, nodes, first and last sample of each cluster, the largest first."""
    node = now.candidates.node
    ids, first, group = np.unique(now.node_labels[node], return_index=True, return_inverse=True)
    size = np.bincount(group, now.wins[node]).astype(np.int64)
    latest = np.zeros(len(ids), np.int64)
    np.maximum.at(latest, group, now.last_won[node])
    columns = [ids, size, np.bincount(group), now.since[node[first]], latest]
    order = np.lexsort((ids, -size))[:MAX_CLUSTERS]
    return np.column_stack(columns)[order].tolist()


def palette() -> list[str]:
    """The colours of the clusters: id c has colour number c modulo their number."""
    rgb = np.round(255 * colours_of(np.arange(N_COLOURS))).astype(int)
    return [f"#{r:02x}{g:02x}{b:02x}" for r, g, b in rgb.tolist()]


def as_message(kind: str, record: dict[str, Any]) -> bytes:
    """A server-sent event."""
    data = json.dumps(record, separators=(",", ":"))
    return f"event: {kind}\ndata: {data}\n\n".encode()


def _most_used(now: Snapshot) -> np.ndarray:
    if len(now.usage) <= MAX_NODES:
        return np.arange(len(now.usage))
    return np.sort(np.argsort(-now.usage, kind="stable")[:MAX_NODES])


def _on_grid(points: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.clip(np.round((points - low) / (high - low) * GRID), 0, GRID)


def _packed(values: np.ndarray, dtype: Any) -> str:
    return b64encode(values.astype(dtype).tobytes()).decode()
