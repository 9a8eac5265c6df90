"""Models as the bytes of their file format, in which they travel and are stored."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ...estimators.algorithms import load

if TYPE_CHECKING:
    from ...estimators.everclust import EverClust
    from ...estimators.idat import IDAT

MEMORY = "/dev/shm"  # a folder without a disk: `save` waits until a disk has written


def to_bytes(model: EverClust | IDAT) -> bytes:
    """The bytes that `model.save` writes.

    Parameters
    ----------
    model : EverClust or IDAT

    Returns
    -------
    data : bytes
    """
    path = _scratch_file()
    model.save(path)
    return path.read_bytes()


def from_bytes(data: bytes) -> EverClust | IDAT:
    """The model that these bytes are the file of.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    model : EverClust or IDAT
    """
    path = _scratch_file()
    path.write_bytes(data)
    return load(path)


@lru_cache(maxsize=4)
def shared(data: bytes) -> EverClust | IDAT:
    """The same for a model that many tasks of a process read and none changes."""
    return from_bytes(data)


def _scratch_file() -> Path:
    return Path(_scratch_folder(os.getpid()).name) / "model"


@lru_cache(maxsize=1)
def _scratch_folder(process: int) -> TemporaryDirectory[str]:
    """A folder of this process, removed when it ends; a process that was forked has its own."""
    return TemporaryDirectory(prefix="everclust", dir=MEMORY if os.access(MEMORY, os.W_OK) else None)
