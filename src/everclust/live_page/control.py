"""What a viewer may do: pause, step, change the speed."""

from __future__ import annotations

from typing import Any

from .throttle import Pace
from .watcher import Watcher

MOST_ROWS = 1_000_000  # in one step


class Control:
    """The state of a run, and its buttons.

    Parameters
    ----------
    watcher : Watcher
    pace : Pace or None
        The valve of the stream. Without one somebody else feeds the model: only the view can be paused.
    """

    def __init__(self, watcher: Watcher, pace: Pace | None = None) -> None:
        self.watcher, self.pace = watcher, pace
        self.ended = False

    def state(self) -> dict[str, Any]:
        """What the page shows of it."""
        return {"status": self._status(), "speed": self.pace.rows_per_second if self.pace else None}

    def _status(self) -> str:
        if self.ended:
            return "ended"
        if self.pace is not None and self.pace.waiting:
            return "waiting"
        paused = self.watcher.paused if self.pace is None else self.pace.paused
        return "paused" if paused else "learning"

    def pause(self, paused: bool) -> None:
        """Pause the stream, or the view if the stream is not ours; or go on."""
        if self.pace is not None:
            self.pace.pause(paused)
        else:
            self.watcher.paused = paused
        self.watcher.tell()

    def step(self, rows: int) -> None:
        """Let so many rows through, or take one picture; and pause."""
        if not 1 <= rows <= MOST_ROWS:
            raise ValueError(f"A step of {rows} rows was asked for, but it can be 1 to {MOST_ROWS}.")
        if self.pace is not None:
            self.pace.step(rows)
        else:
            self.watcher.paused = True
            self.watcher.look()
        self.watcher.tell()

    def set_speed(self, rows_per_second: float | None) -> None:
        """So many rows a second, or as many as can be learnt."""
        if self.pace is None:
            raise ValueError("The speed was to be changed, but somebody else feeds this model.")
        if rows_per_second is not None and not 0.01 <= rows_per_second <= 1e9:
            raise ValueError(f"A speed of {rows_per_second} rows a second was asked for; give 0.01 to 1e9.")
        self.pace.set_speed(rows_per_second)
        self.watcher.tell()

    def end(self) -> None:
        """The stream is over; the page stays."""
        self.ended = True
        self.watcher.look()
        self.watcher.tell()
