"""Where events go: JSON Lines, a Redis stream or a webhook."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Sequence
from typing import Any, Protocol
from urllib.parse import urlsplit

from .batch import UnreachableError
from .growing import GrowingFile

PATIENCE = 10.0  # seconds that a webhook may take
ATTEMPTS = 5


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
    scheme = urlsplit(url).scheme
    if scheme in ("redis", "rediss"):
        return RedisEvents(url)
    if scheme in ("http", "https"):
        return Webhook(url)
    return EventFile(url)


def as_dict(event: Any, number: int) -> dict[str, Any]:
    """An event as plain JSON; sample and number together name it for ever."""
    return {
        "sample": int(event.sample),
        "number": number,
        "kind": event.kind,
        "before": [int(k) for k in event.before],
        "after": [int(k) for k in event.after],
        "sizes": [int(n) for n in event.sizes],
        "centre": [float(x) for x in event.centre],
    }


def numbered(events: Sequence[Any]) -> list[dict[str, Any]]:
    """Events of one sample are numbered from 0."""
    found: list[dict[str, Any]] = []
    for event in events:
        same = bool(found) and found[-1]["sample"] == event.sample
        found.append(as_dict(event, found[-1]["number"] + 1 if same else 0))
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


class RedisEvents:
    """Entries of a Redis stream. Sample and number are the entry's id, so none is added twice."""

    def __init__(self, url: str) -> None:
        from .redis_stream import connect

        self.name = url
        self.client, self.stream, _ = connect(url)

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Add those that are not there yet."""
        import redis

        for event in events:
            fields = {name: json.dumps(value) for name, value in event.items() if name != "kind"}
            try:
                self.client.xadd(
                    self.stream, {"kind": event["kind"], **fields}, id=f"{event['sample']}-{event['number']}"
                )
            except redis.ResponseError as error:
                if "equal or smaller" not in str(error):
                    raise UnreachableError(f"{self.name} refuses events: {error}.") from None
            except redis.ConnectionError as error:
                raise UnreachableError(f"{self.name} does not answer: {error}.") from None

    def mark(self) -> None:
        """The server keeps it."""

    def rewind(self, mark: Any) -> None:
        """What is there stays, and is not added again."""

    def finish(self) -> None:
        """No more will come."""
        self.client.close()

    def let_go(self) -> None:
        """Something went wrong."""
        self.client.close()


class Webhook:
    """A POST for each event. After a crash some come again, with the same `Idempotency-Key`."""

    def __init__(self, url: str) -> None:
        self.name = url

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Send them, each several times if need be."""
        for event in events:
            self._send(event)

    def _send(self, event: dict[str, Any]) -> None:
        heads = {
            "Content-Type": "application/json",
            "Idempotency-Key": f"{event['sample']}-{event['number']}",
        }
        request = urllib.request.Request(self.name, json.dumps(event).encode(), heads)
        for attempt in range(ATTEMPTS):
            try:
                with urllib.request.urlopen(request, timeout=PATIENCE):
                    return
            except OSError as error:
                reason = str(error)
                time.sleep(0.1 * 2**attempt)
        raise UnreachableError(
            f"{self.name} does not take events: {reason}; check the address, and start again."
        )

    def mark(self) -> None:
        """Nothing is kept."""

    def rewind(self, mark: Any) -> None:
        """What was sent was sent."""

    def finish(self) -> None:
        """No more will come."""

    def let_go(self) -> None:
        """Something went wrong."""
