"""Writes files completely or not at all."""

from __future__ import annotations

import errno
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
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)  # more room would not help


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
        raise unwritable(path, error, hint) from None


def unwritable(path: str | Path, error: OSError, hint: str = HINT) -> UnwritableError:
    """The error of a file that was not written: why, and what to do."""
    refuse_missing_folder(path)
    if error.errno in FORBIDDEN and hint is HINT:
        hint = "choose another place, or get the right to write there"
    return UnwritableError(f"{path} cannot be written: {error.strerror}; {hint}.")


def refuse_missing_folder(path: str | Path) -> None:
    """Raise an error if a file cannot be written because its folder does not exist."""
    for folder in (Path(path).parent, Path(os.path.realpath(path)).parent):
        if not folder.is_dir():
            is_what = "is a file" if folder.exists() else "does not exist"
            raise UnwritableError(
                f"{path} cannot be written, because the folder {folder} {is_what}; make the folder, or check "
                "the path."
            )


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
