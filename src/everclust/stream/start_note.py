"""A note of where the output of a run begins, for the time before its first checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .write_file import write_file


class StartNote:
    """A file that tells the next run where this one began, if it is killed before its first checkpoint.

    Parameters
    ----------
    path : Path or None
        None keeps no note.
    """

    def __init__(self, path: Path | None) -> None:
        self.path, self.n_marks = path, 0

    def read(self) -> Any:
        """What the run before has noted, or None."""
        try:
            return None if self.path is None else json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            return None

    def write(self, start: Any) -> None:
        """Note where this run begins."""
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_file(self.path, json.dumps(start).encode())

    def mark(self) -> None:
        """Forget the note at the second mark: by then a checkpoint holds the first one."""
        self.n_marks += 1
        if self.n_marks == 2:
            self.forget()

    def forget(self) -> None:
        """Remove the note."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)
