"""Files that are written as a whole, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..atomic import write_atomically
from .batch import UnwritableError

HINT = "make room, or choose another place"


def write_file(path: Path, data: bytes, hint: str = HINT) -> None:
    """Put a file in its place."""
    with writing(path, hint):
        write_atomically(path, [data])


@contextmanager
def writing(path: Path, hint: str = HINT) -> Iterator[None]:
    """Say in one sentence why a file cannot be written, and what to do."""
    try:
        yield
    except OSError as error:
        raise UnwritableError(f"{path} could not be written: {error.strerror}; {hint}.") from None
