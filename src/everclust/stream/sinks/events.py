"""Sinks of events: JSON Lines, a Redis stream or a webhook."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

from ...model.events import Event
from .append_file import AppendFile
from .webhook import Webhook


class EventSink(Protocol):
    """Receives events as dicts; `number` counts the events of one sample."""

    name: str

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Write events."""

    def mark(self) -> Any:
        """Sync to the disk and return the position, if the sink has one."""

    def rewind(self, mark: Any) -> None:
        """Remove everything written after a mark."""

    def finish(self) -> None:
        """Close after the last event."""

    def abort(self) -> None:
        """Close after an error."""


def open_event_sink(url: str) -> EventSink:
    """A file of JSON Lines, `-` for standard output, `redis://host:port/stream` or `https://…`."""
    if url.startswith(("redis://", "rediss://")):
        from .redis_events import RedisEvents

        return RedisEvents(url)
    if url.startswith(("http://", "https://")):
        return Webhook(url)
    return EventFile(url)


def numbered(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Events as dicts for JSON; `number` counts those of one sample, so both identify an event."""
    found: list[dict[str, Any]] = []
    for event in events:
        same = bool(found) and found[-1]["sample"] == event.sample
        found.append({**event.to_dict(), "number": found[-1]["number"] + 1 if same else 0})
    return found


class EventFile:
    """One JSON object on each line."""

    def __init__(self, path: str) -> None:
        self.name, self.file = path, AppendFile(path)

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Write events."""
        if events:
            self.file.append("".join(json.dumps(event) + "\n" for event in events).encode())

    def mark(self) -> Any:
        """Sync to the disk and return the number of bytes."""
        return self.file.mark()

    def rewind(self, mark: Any) -> None:
        """Remove everything written after a mark."""
        self.file.rewind(mark)

    def finish(self) -> None:
        """Close after the last event."""
        self.file.close()

    def abort(self) -> None:
        """Close after an error."""
        self.file.abort()
