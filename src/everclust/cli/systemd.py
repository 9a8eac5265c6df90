"""Tells systemd that a run is ready, alive or about to end: `sd_notify`, without its library."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..stream.job import Run


@contextmanager
def notified(job: Run) -> Iterator[None]:
    """Tell systemd of a run if it asks for that, as a unit with `Type=notify` does.

    The run is ready when its source has answered for the first time, as for `/readyz`.
    """
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        yield
        return
    job.on_answer = Notifier(address, _watchdog_seconds())
    try:
        yield
    finally:
        job.on_answer.send("STOPPING=1")


class Notifier:
    """Called with every answer of the source: it sends that the run is ready, once, then that it is alive.

    Parameters
    ----------
    address : str
        The socket of systemd; a name that begins with @ is an abstract one.
    watchdog : float, optional
        Seconds after which systemd takes the run for dead; it hears of it twice as often.
    """

    def __init__(self, address: str, watchdog: float | None) -> None:
        self.address = "\0" + address[1:] if address.startswith("@") else address
        self.pause = None if watchdog is None else watchdog / 2
        self.is_ready, self.sent_at = False, time.monotonic()

    def __call__(self) -> None:
        """The source has answered."""
        if not self.is_ready:
            self.is_ready = True
            self.send("READY=1")
        elif self.pause is not None and time.monotonic() - self.sent_at >= self.pause:
            self.sent_at = time.monotonic()
            self.send("WATCHDOG=1")

    def send(self, message: str) -> None:
        """Send a message; that systemd does not listen ends no run."""
        with (
            suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ours,
        ):
            ours.sendto(message.encode(), self.address)


def _watchdog_seconds() -> float | None:
    """What systemd asks for, if that is meant for this process."""
    text, process = os.environ.get("WATCHDOG_USEC", ""), os.environ.get("WATCHDOG_PID", str(os.getpid()))
    return int(text) / 1e6 if text.isdigit() and int(text) and process == str(os.getpid()) else None
