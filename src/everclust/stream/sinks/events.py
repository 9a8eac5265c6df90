"""Where events go: JSON Lines, a Redis stream or a webhook."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

from ...model.events import Event
from .append_file import GrowingFile
from .webhook import Webhook


class EventSink(Protocol):
    """Takes events, each with the number it has among those of its sample."""

    name: str

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Take some more."""

    def mark(self) -> Any:
        """Put everything on the disk and return where it ends, if it has an end."""

    def rewind(self, mark: Any) -> None:
        """Forget all that came after a mark."""

    def finish(self) -> None:
        """No more will come."""

    def let_go(self) -> None:
        """Something went wrong."""


def open_event_sink(url: str) -> EventSink:
    """A file of JSON Lines, `-` for standard output, `redis://host:port/stream` or `https://…`."""
    if url.startswith(("redis://", "rediss://")):
        from .redis_events import RedisEvents

        return RedisEvents(url)
    if url.startswith(("http://", "https://")):
        return Webhook(url)
    return EventFile(url)


def numbered(events: Sequence[Event]) -> list[dict[str, Any]]:
    """Events as plain JSON; those of one sample are numbered from 0: sample and number identify an event."""
    found: list[dict[str, Any]] = []
    for event in events:
        same = bool(found) and found[-1]["sample"] == event.sample
        found.append({**event.to_dict(), "number": found[-1]["number"] + 1 if same else 0})
    return found


class EventFile:
    """One JSON object on each line."""

    def __init__(self, path: str) -> None:
        self.name, self.file = path, GrowingFile(path)

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Take some more."""
        if events:
            self.file.append("".join(json.dumps(event) + "\n" for event in events).encode())

    def mark(self) -> Any:
        """Put everything on the disk and return how many bytes there are."""
        return self.file.mark()

    def rewind(self, mark: Any) -> None:
        """Forget all that came after a mark."""
        self.file.rewind(mark)

    def finish(self) -> None:
        """No more will come."""
        self.file.close()

    def let_go(self) -> None:
        """Something went wrong."""
        self.file.let_go()
