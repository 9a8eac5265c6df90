"""Checkpoints: model and position, written together; a folder holds the latest three."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from ..atomic import sync_folder, write_atomically
from ..estimators.clusterer import Clusterer
from ..estimators.without_sklearn import load_clusterer
from ..file_lock import try_lock
from .batch import StreamError, UnwritableError

N_KEPT = 3
FORMAT = 1
MODEL, POSITION = "model.everclust", "position.json"


class Checkpoint(NamedTuple):
    """What a run needs to resume."""

    model: Clusterer
    record: dict[str, Any]


class Checkpoints:
    """A folder of checkpoints.

    Each checkpoint is a folder with the model and a JSON file. It is written under a temporary name, synced
    to the disk and then renamed, so that it is complete or not there.

    Parameters
    ----------
    folder : Path
    warn : callable
        Called with a sentence when a broken checkpoint is skipped.
    """

    def __init__(self, folder: Path, warn: Callable[[str], None]) -> None:
        self.folder, self.warn = folder, warn
        self._lock: Any = None

    def open(self) -> None:
        """Create the folder and lock it against other runs."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = open(self.folder / "lock", "wb")  # noqa: SIM115
        except OSError as error:
            raise UnwritableError(
                f"{self.folder} cannot hold checkpoints: {error.strerror}; choose a folder that can be "
                "written."
            ) from None
        self._take_lock()
        for part in self.folder.glob("*.part"):
            shutil.rmtree(part, ignore_errors=True)

    def _take_lock(self) -> None:
        if not try_lock(self._lock):
            self._lock.close()
            raise StreamError(
                f"Another run is writing its checkpoints to {self.folder}; choose another folder, or stop it."
            )

    def close(self) -> None:
        """Release the lock."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def latest(self) -> Checkpoint | None:
        """The newest checkpoint that can be read, or None if the folder has none."""
        found = self._folders()
        for folder in reversed(found):
            try:
                return Checkpoint(load_clusterer(folder / MODEL), _read(folder / POSITION))
            except (OSError, ValueError) as error:
                reason = str(error).rstrip(".")
                instead = (
                    "and there is none before it" if folder is found[0] else "so the one before it is used"
                )
                self.warn(f"Checkpoint {folder.name} is broken ({reason}), {instead}.")
        if found:
            which = "The only checkpoint" if len(found) == 1 else f"None of the {len(found)} checkpoints"
            can = "cannot" if len(found) == 1 else "can"
            raise StreamError(
                f"{which} in {self.folder} {can} be read; to begin anew, choose another folder."
            )
        return None

    def write(self, model: Clusterer, record: dict[str, Any]) -> Path:
        """Add a checkpoint; returns the file of its model."""
        numbers = [_number(folder) for folder in self._folders()]
        target = self.folder / f"checkpoint-{max(numbers, default=0) + 1:09d}"
        part = target.with_name(target.name + ".part")
        try:
            part.mkdir()
            model.save(part / MODEL)
            write_atomically(part / POSITION, [_pack({**record, "model": _digest(part / MODEL)})])
            sync_folder(part)
            os.rename(part, target)
            sync_folder(self.folder)
        except OSError as error:
            shutil.rmtree(part, ignore_errors=True)
            reason = (error.strerror or str(error)).split(", so nothing")[0]
            others = "earlier checkpoints are intact, so " if numbers else ""
            raise UnwritableError(
                f"No checkpoint could be written to {self.folder}: {reason}; {others}make room and start "
                "again."
            ) from None
        self._drop_old()
        return target / MODEL

    def holds(self, model: Path) -> bool:
        """Whether a file is the model of one of the checkpoints, broken ones included."""
        digest = _digest(model)
        return any(digest in _digests(folder) for folder in self._folders())

    def _drop_old(self) -> None:
        for folder in self._folders()[:-N_KEPT]:
            # The position is deleted first, so that what is left is never taken for a complete checkpoint.
            with suppress(OSError):
                (folder / POSITION).unlink()
            shutil.rmtree(folder, ignore_errors=True)

    def _folders(self) -> list[Path]:
        return sorted(_only_checkpoints(self.folder.glob("checkpoint-*")), key=_number)


def _only_checkpoints(paths: Iterator[Path]) -> Iterator[Path]:
    return (path for path in paths if path.name.removeprefix("checkpoint-").isdigit())


def _number(folder: Path) -> int:
    return int(folder.name.removeprefix("checkpoint-"))


def _pack(record: dict[str, Any]) -> bytes:
    body = json.dumps({"format": FORMAT, **record}, sort_keys=True)
    return json.dumps({"sha256": hashlib.sha256(body.encode()).hexdigest(), "body": body}).encode()


def _read(path: Path) -> dict[str, Any]:
    packed = json.loads(path.read_bytes())
    if not isinstance(packed, dict) or "body" not in packed:
        raise ValueError("invalid position.json")
    if hashlib.sha256(str(packed["body"]).encode()).hexdigest() != packed.get("sha256"):
        raise ValueError("wrong checksum of position.json")
    record = json.loads(packed["body"])
    if record["format"] != FORMAT:
        raise ValueError(f"unknown format {record['format']}, expected {FORMAT}")
    return record


def _digest(model: Path) -> str:
    return hashlib.sha256(model.read_bytes()).hexdigest()


def _digests(folder: Path) -> Iterator[str]:
    """The digest of the model, as its position says and as it is: one of both files may be broken."""
    with suppress(OSError, ValueError, KeyError):
        yield _read(folder / POSITION)["model"]
    with suppress(OSError):
        yield _digest(folder / MODEL)
