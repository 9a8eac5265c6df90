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
    with _scratch_folder() as folder:
        model.save(Path(folder) / "model")
        return (Path(folder) / "model").read_bytes()


def from_bytes(data: bytes) -> EverClust | IDAT:
    """The model that these bytes are the file of.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    model : EverClust or IDAT
    """
    with _scratch_folder() as folder:
        (Path(folder) / "model").write_bytes(data)
        return load(Path(folder) / "model")


@lru_cache(maxsize=4)
def shared(data: bytes) -> EverClust | IDAT:
    """The same for a model that many tasks of a process read and none changes."""
    return from_bytes(data)


def _scratch_folder() -> TemporaryDirectory[str]:
    """A folder for one file and one call: Spark kills Python workers, which then remove nothing."""
    return TemporaryDirectory(prefix="everclust", dir=MEMORY if os.access(MEMORY, os.W_OK) else None)
