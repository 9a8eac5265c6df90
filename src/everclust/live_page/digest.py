"""A short list of events when more happen than people can read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..model.events import Event

STRUCTURAL = ("merged", "split")  # listed before births and ends
MAX_PER_CAPTURE = 20
MAX_AT_START = 200  # of the events before the page was started


def digest(events: Sequence[Event], max_events: int) -> list[Event]:
    """The most important events in stream order: mergers and splits first, then the largest clusters."""
    if len(events) <= max_events:
        return list(events)
    order = sorted(range(len(events)), key=lambda k: _importance(events[k]), reverse=True)
    return [events[k] for k in sorted(order[:max_events])]


def _importance(event: Event) -> tuple[bool, int]:
    return event.kind in STRUCTURAL, min(event.sizes)


def count_kinds(events: Sequence[Event]) -> Counter[str]:
    """Number of events of each kind."""
    return Counter(event.kind for event in events)
