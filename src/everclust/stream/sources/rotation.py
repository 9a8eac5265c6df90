"""Files that a program rotates while they are read: renamed, or copied and truncated."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from ..batch import Position
from .bytes import FileBytes

HEAD = 1024  # bytes at the start of a file by which it is known again


def identity(origin: FileBytes, n_bytes: int) -> dict[str, Any]:
    """What a position holds to find its file again: inode, and a digest of the first of the bytes read."""
    first = origin.head(min(HEAD, n_bytes))
    return {"inode": origin.inode, "head": [len(first), _digest(first)]}


def is_same_file(path: Path, position: Position) -> bool:
    """Whether a file begins as the one of a position did, and is long enough for it."""
    if not position or "head" not in position:
        return True
    n_bytes, digest = position["head"]
    try:
        with closing(FileBytes(path)) as origin:
            return _digest(origin.head(n_bytes)) == digest and origin.is_at_least(n_read_before(position))
    except (OSError, ValueError, EOFError):  # another file, perhaps not even compressed as its name says
        return False


def n_read_before(position: Position) -> int:
    """Bytes that the file of a position must have."""
    return int(position.get("read", position["byte"]))


def rotated_files(path: Path, position: Position) -> list[tuple[Path, Position]]:
    """The file of a position under its new name, and those that were rotated after it, with where to begin.

    There is none if the file was deleted.
    """
    candidates = sorted(_siblings(path), key=lambda old: old.stat().st_mtime_ns)
    by_inode = [old for old in candidates if old.stat().st_ino == position["inode"]]
    found = next((old for old in [*by_inode, *candidates] if is_same_file(old, position)), None)
    if found is None:
        return []
    time = found.stat().st_mtime_ns
    numbered = re.compile(re.escape(path.name) + r"[.-]\d[\d.-]*(\.\w+)?")
    later = [
        old
        for old in candidates
        if old.stat().st_mtime_ns > time and numbered.fullmatch(old.name) and not is_same_file(old, position)
    ]
    return [(found, position), *((old, None) for old in later)]


def _siblings(path: Path) -> Iterator[Path]:
    """Other files in the folder that are named after a file: `x.csv.1`, `x.csv.2.gz`, `x-20260101.csv`."""
    for other in path.parent.iterdir():
        if other.name != path.name and other.name.startswith(path.stem) and other.is_file():
            yield other


def was_replaced(path: Path, origin: FileBytes) -> bool:
    """Whether another file, in which something is written, has the path of an open one."""
    try:
        found = os.stat(path)
    except FileNotFoundError:  # renamed, and its successor is still to come
        return False
    return found.st_ino != origin.inode and found.st_size > 0


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
