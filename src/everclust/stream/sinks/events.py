"""Sinks of events: JSON Lines, a Redis stream or a webhook."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from ...model.events import Event
from ...model.times import SampleTimes
from ..batch import StreamError
from ..secrets import expanded
from .event_queue import sort_key_of
from .json_lines import JsonLinesFile
from .queued import QueuedEvents, mark_of
from .rotating_file import Rotation
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


def temporary_queue(mark: str) -> Path:
    """A file for events of a run that keeps nothing."""
    return Path(tempfile.gettempdir()) / f"everclust-{os.getpid()}-{mark}.queue"


def _ignore(sentence: str) -> None:
    """No warning."""


def open_event_sink(
    url: str,
    queue: Callable[[str], Path] = temporary_queue,
    warn: Callable[[str], None] = _ignore,
    rotation: Rotation | None = None,
    heads: Mapping[str, str] = MappingProxyType({}),
) -> EventSink:
    """A file of JSON Lines, `-` for standard output, `redis://host:port/stream` or `https://…`.

    A Redis stream or a webhook gets them from a queue, in the file that `queue` names, and outages are
    warned of. A webhook gets the headers `heads`.
    """
    mark, url = mark_of(url), expanded(url)  # a new password does not change the queue
    if url.startswith(("redis://", "rediss://")):
        from .redis_events import RedisEvents

        stream = RedisEvents(url)
        return QueuedEvents(stream, stream.shown, queue(mark), warn)
    if url.startswith(("http://", "https://")):
        hook = Webhook(url, heads)  # two webhooks may have the same host
        return QueuedEvents(hook, f"{hook.shown} {mark}", queue(mark), warn)
    return JsonLinesFile(url, None if url == "-" else rotation)


def numbered(events: Sequence[Event], times: SampleTimes | None = None) -> list[dict[str, Any]]:
    """Events as dicts for JSON; `number` counts those of one sample, so both identify an event.

    With times of samples, `time` is when the sample of the event happened.
    """
    found: list[dict[str, Any]] = []
    for event in events:
        same = bool(found) and found[-1]["sample"] == event.sample
        found.append({**event.to_dict(), "number": found[-1]["number"] + 1 if same else 0})
        if times is not None:
            found[-1]["time"] = times.text(event.sample)
    return found


def length_until(path: str, n_seen: int) -> tuple[int, int]:
    """(bytes of the events up to sample `n_seen`, number of lines after them) of a file of events."""
    with open(path, "rb") as file:
        lines = file.readlines()
    samples = [_sample_of(line) for line in lines]
    if None in samples[:-1]:  # the last line may be incomplete: its run was killed
        raise StreamError(
            f"Line {samples.index(None) + 1} of {path} is no event, so no events are added to it; choose "
            "another file."
        )
    n_kept = sum(sample is not None and sample <= n_seen for sample in samples)
    return sum(map(len, lines[:n_kept])), len(lines) - n_kept


def _sample_of(line: bytes) -> int | None:
    try:
        sample = sort_key_of({"number": 0, **json.loads(line)})[0] if line.endswith(b"\n") else None
    except (ValueError, TypeError, KeyError):
        return None
    return sample if isinstance(sample, int) else None
