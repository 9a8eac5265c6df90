"""JSON Lines: events and rejected rows in a file that can be cut back to a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .append_file import AppendFile
from .rotating_file import RotatingFile, Rotation


class JsonLinesFile:
    """One JSON object on each line."""

    def __init__(self, path: str, rotation: Rotation | None = None) -> None:
        self.name = path
        self.file = AppendFile(path) if rotation is None else RotatingFile(path, rotation)

    def write(self, records: Sequence[dict[str, Any]]) -> None:
        """Append records."""
        if records:
            self.file.append("".join(json.dumps(record) + "\n" for record in records).encode())

    def mark(self) -> Any:
        """Sync to the disk and return the number of bytes."""
        return self.file.mark()

    def rewind(self, mark: Any) -> None:
        """Remove everything written after a mark."""
        self.file.rewind(mark)

    def finish(self) -> None:
        """Close after the last record."""
        self.file.close()

    def abort(self) -> None:
        """Close after an error."""
        self.file.abort()
