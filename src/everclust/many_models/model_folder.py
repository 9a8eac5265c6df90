"""The folder of a model set: a file per model, and an index that names the files which count.

A file is never rewritten: a model that has learnt more goes into a new file, and the index is replaced
atomically when all files are there. So the folder always holds the set as it was last saved.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from ..atomic import sync_folder, write_atomically
from ..estimators.algorithms import load
from ..estimators.incremental import IncrementalClusterer
from ..file_lock import try_lock

Key: TypeAlias = str | int

FORMAT = 1
INDEX, LOCK = "models.json", "lock"
_MODEL_FILE = re.compile(r"(\d{9,})\.everclust")


class ModelFolder:
    """Files of models by key.

    Parameters
    ----------
    folder : Path
        It is created if it does not exist, and locked against other processes. If it was created and never
        saved, it is removed when it is closed.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder
        new = [path for path in (folder / LOCK, folder) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        self._lock: Any = open(folder / LOCK, "ab")  # noqa: SIM115
        self._made: list[Path] = []  # by us, if no other run has the lock
        self.files: dict[Key, int] = {}
        try:
            _take_lock(self._lock, folder)
            self._made = new
            self.header, self.files = read_index(folder)
            self._saved = set(self.files.values())  # files that the index names
            self._next = max(self._saved, default=0) + 1
            self._remove_unsaved()
        except BaseException:
            self.close()
            raise

    def read(self, key: Key) -> IncrementalClusterer:
        """The model of a key."""
        return load(self._path(self.files[key]))

    def write(self, key: Key, model: IncrementalClusterer) -> None:
        """Write a model into a new file; the index does not name it yet."""
        number = self._next
        model.save(self._path(number))
        self._next += 1
        self.drop(key)
        self.files[key] = number

    def drop(self, key: Key) -> None:
        """Forget the file of a key, if it has one; files that the index names stay until it is written."""
        number = self.files.pop(key, None)
        if number is not None and number not in self._saved:
            self._unlink(number)

    def save(self, header: dict[str, Any]) -> None:
        """Replace the index: from now on, the present files count."""
        body = json.dumps({"format": FORMAT, **header, "files": list(self.files.items())})
        digest = hashlib.sha256(body.encode()).hexdigest()
        sync_folder(self.path)
        write_atomically(self.path / INDEX, [json.dumps({"sha256": digest, "body": body}).encode()])
        sync_folder(self.path)
        before = self._saved
        self._saved = set(self.files.values())
        for number in before - self._saved:
            self._unlink(number)

    def check_open(self) -> None:
        """Raise an error if the lock was released."""
        if self._lock.closed:
            raise ValueError(f"The set of models in {self.path} was closed; open it again with ModelSet.")

    def close(self) -> None:
        """Release the lock; what was never saved leaves nothing behind."""
        if not self._lock.closed and self._made and not (self.path / INDEX).exists():
            self._remove_made()
        self._lock.close()

    def _remove_made(self) -> None:
        for number in set(self.files.values()):
            self._unlink(number)
        for path in self._made:
            with suppress(OSError):  # it may hold what others wrote
                path.rmdir() if path == self.path else path.unlink()

    def _remove_unsaved(self) -> None:
        """Remove what a process wrote after it last saved the set; check that no file is missing."""
        there = {int(match[1]) for name in os.listdir(self.path) if (match := _MODEL_FILE.fullmatch(name))}
        for key, number in self.files.items():
            if number not in there:
                raise ValueError(f"{self._path(number)}, the model of key {key!r}, is missing; restore it.")
        for number in there - self._saved:
            self._unlink(number)
        for part in self.path.glob("*.part"):
            part.unlink()

    def _path(self, number: int) -> Path:
        return model_file(self.path, number)

    def _unlink(self, number: int) -> None:
        with suppress(OSError):  # what is left is removed when the set is opened next
            self._path(number).unlink()


def model_file(folder: Path, number: int) -> Path:
    """The file of a model by its number."""
    return folder / f"{number:09d}.everclust"


def read_index(folder: Path) -> tuple[dict[str, Any] | None, dict[Key, int]]:
    """What was saved beside the models, and the number of each model's file; None for a new folder."""
    path = folder / INDEX
    if not path.exists():
        _refuse_foreign(folder)
        return None, {}
    try:
        packed = json.loads(path.read_bytes())
        if hashlib.sha256(packed["body"].encode()).hexdigest() != packed["sha256"]:
            raise ValueError("wrong checksum (SHA-256)")
        header = json.loads(packed["body"])
        if header["format"] != FORMAT:
            raise ValueError(f"unknown format {header['format']}, expected {FORMAT}")
        return header, {key: number for key, number in header.pop("files")}  # noqa: C416
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} cannot be read as the index of a model set: {error}.") from None


def _refuse_foreign(folder: Path) -> None:
    """Only a set that was never saved has files and no index, and it has only such files."""
    for path in folder.iterdir():
        if path.name != LOCK and path.suffix != ".part" and not _MODEL_FILE.fullmatch(path.name):
            raise ValueError(
                f"{folder} holds {path.name} and no set of models; choose a new or an empty folder."
            )


def _take_lock(file: Any, folder: Path) -> None:
    # A set that was never saved may have deleted the file between our opening and our locking it.
    if not try_lock(file) or not _is_there(file):
        raise ValueError(f"{folder} is in use by another ModelSet; close that one, or choose another folder.")


def _is_there(file: Any) -> bool:
    try:
        return os.path.samestat(os.stat(file.name), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False
