"""What is worth a line when more happens than anybody could read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..model.events import Event

CHANGES = ("merged", "split")  # tell more than that something small has come or gone
MOST_AT_ONCE = 20  # of one picture
MOST_OF_THE_PAST = 200  # of the first one


def headlines(events: Sequence[Event], most: int) -> list[Event]:
    """The weightiest events, in their order: mergers and splits first, then the largest."""
    if len(events) <= most:
        return list(events)
    order = sorted(range(len(events)), key=lambda k: _weight(events[k]), reverse=True)
    return [events[k] for k in sorted(order[:most])]


def _weight(event: Event) -> tuple[bool, int]:
    return event.kind in CHANGES, min(event.sizes)


def counted(events: Sequence[Event]) -> Counter[str]:
    """How many of each kind."""
    return Counter(event.kind for event in events)
