"""Writes files completely or not at all."""

from __future__ import annotations

import glob
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..atomic import write_atomically
from .batch import UnwritableError

STALE = 3_600.0  # seconds after which no writer can still be at work on a temporary file
HINT = "make room, or choose another place"


def write_file(path: Path, data: bytes, hint: str = HINT) -> None:
    """Write a file atomically."""
    with writing(path, hint):
        write_atomically(path, [data])


@contextmanager
def writing(path: Path, hint: str = HINT) -> Iterator[None]:
    """Turn errors of writing a file into one sentence that says what to do."""
    try:
        yield
    except OSError as error:
        raise UnwritableError(f"{path} could not be written: {error.strerror}; {hint}.") from None


def remove_leftovers(path: Path) -> None:
    """Delete temporary files that writers of a file left beside it when they were killed.

    Younger ones are left alone, as another process may be writing them.
    """
    target = os.path.realpath(path)
    leftover = re.compile(re.escape(target) + r"\.[0-9a-f]{8}\.part")
    for found in glob.glob(glob.escape(target) + ".*.part"):
        with suppress(OSError):
            if leftover.fullmatch(found) and time.time() - os.path.getmtime(found) > STALE:
                os.unlink(found)
