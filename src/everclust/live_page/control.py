"""What a viewer can do: pause, step, change the speed."""

from __future__ import annotations

from typing import Any

from .throttle import Throttle
from .watcher import Watcher

MAX_STEP = 1_000_000  # rows


class Control:
    """The status of a run and its buttons.

    Parameters
    ----------
    watcher : Watcher
    throttle : Throttle or None
        Throttle of the stream. Without one, the caller feeds the model and only the view can be paused.
    """

    def __init__(self, watcher: Watcher, throttle: Throttle | None = None) -> None:
        self.watcher, self.throttle = watcher, throttle
        self.ended = False

    def state(self) -> dict[str, Any]:
        """Status and speed, as the page shows them."""
        return {"status": self._status(), "speed": self.throttle.rows_per_second if self.throttle else None}

    def _status(self) -> str:
        if self.ended:
            return "ended"
        if self.throttle is not None and self.throttle.waiting:
            return "waiting"
        paused = self.watcher.paused if self.throttle is None else self.throttle.paused
        return "paused" if paused else "learning"

    def pause(self, paused: bool) -> None:
        """Pause or continue the stream; without a throttle, the view."""
        if self.throttle is not None:
            self.throttle.pause(paused)
        else:
            self.watcher.paused = paused
        self.watcher.notify()

    def step(self, rows: int) -> None:
        """Learn that many rows and pause; without a throttle, update the view once and pause it."""
        if not 1 <= rows <= MAX_STEP:
            raise ValueError(f"Cannot step {rows} rows: give 1 to {MAX_STEP}.")
        if self.throttle is not None:
            self.throttle.step(rows)
        else:
            self.watcher.paused = True
            self.watcher.update()
        self.watcher.notify()

    def set_speed(self, rows_per_second: float | None) -> None:
        """Limit the rows learnt per second; None is full speed."""
        if self.throttle is None:
            raise ValueError("Cannot change the speed: this page only shows a model that its caller feeds.")
        if rows_per_second is not None and not 0.01 <= rows_per_second <= 1e9:
            raise ValueError(f"Cannot learn {rows_per_second} rows per second: give 0.01 to 1e9.")
        self.throttle.set_speed(rows_per_second)
        self.watcher.notify()

    def end(self) -> None:
        """Show that the stream has ended; the page stays."""
        self.ended = True
        self.watcher.update()
        self.watcher.notify()
