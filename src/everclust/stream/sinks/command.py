"""Alerts as runs of a command."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import Any

from ..batch import StreamError
from .queued import UndeliveredError

TIMEOUT = 30.0  # seconds, after which a command is killed


class Command:
    """Runs a command for each alert, which it gets as JSON on standard input.

    The command is split into words as a shell does, but no shell runs it. Its arguments may be secrets, so
    messages show its name only.
    """

    max_batch = 1

    def __init__(self, text: str) -> None:
        try:
            self.words = shlex.split(text)
        except ValueError as error:
            raise StreamError(f"exec: has an invalid command: {error}; close its quotes.") from None
        if not self.words:
            raise StreamError("exec: names no command; write exec:command and its arguments.")
        self.shown = f"exec:{self.words[0]}"

    def deliver(self, batch: list[dict[str, Any]]) -> None:
        """Run the command; an exit code other than 0 means that it is to be run again."""
        for alert in batch:
            try:
                done = subprocess.run(
                    self.words,
                    input=json.dumps(alert).encode(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    timeout=TIMEOUT,
                    check=False,
                    start_new_session=True,  # Ctrl-C is for the run
                )
            except OSError as error:
                raise UndeliveredError(error.strerror or str(error)) from None
            except subprocess.TimeoutExpired:
                raise UndeliveredError(f"it took more than {TIMEOUT:.0f} s") from None
            if done.returncode:
                raise UndeliveredError(f"it ended with code {done.returncode}")

    def close(self) -> None:
        """Nothing to close."""
