"""Locks on files, so that two runs never write the same model or the same checkpoints."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..file_lock import try_lock
from .batch import StreamError
from .write_file import writing


@contextmanager
def only_writer(model: Path | None) -> Iterator[None]:
    """Refuse a second run that would replace the same model, so that what one has learnt is never lost.

    The lock is a hidden file beside the model, because the model itself is replaced at every checkpoint.
    """
    if model is None:
        yield
        return
    target = Path(os.path.realpath(model))
    path = target.with_name(f".{target.name}.lock")
    with writing(model):
        file = open(path, "ab")  # noqa: SIM115
    with file:
        # A run that has just ended may have deleted the file between our opening and our locking it.
        if not try_lock(file) or not _is_at(path, file):
            raise StreamError(f"Another run is learning {model}; wait until it has ended, or stop it.")
        try:
            yield
        finally:
            _remove(path, file)


def _remove(path: Path, file: Any) -> None:
    """Delete the file of a lock while it is locked; Windows deletes it only when it is closed."""
    try:
        path.unlink()
    except OSError:
        file.close()
        with suppress(OSError):
            path.unlink()


def _is_at(path: Path, file: Any) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
