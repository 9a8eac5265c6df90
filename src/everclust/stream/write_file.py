"""Writes files completely or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..atomic import write_atomically
from .batch import UnwritableError

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
