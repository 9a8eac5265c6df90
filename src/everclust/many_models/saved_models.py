"""The models of a folder as they were last saved, to be asked while another process may learn them."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators.algorithms import load
from ..estimators.incremental import IncrementalClusterer
from .keyed_rows import ask_models
from .model_folder import Key, model_file, read_index
from .template import template_of

ATTEMPTS = 100  # to read a file that was replaced: each needs a save in between, of milliseconds at least


class SavedModels:
    """Reads the models of a `ModelSet` and takes no lock.

    The set may be saved meanwhile. Each model is then read as it was at some save, whole.

    Parameters
    ----------
    folder : Path
    in_memory : int
        Largest number of models in memory.
    """

    def __init__(self, folder: Path, in_memory: int) -> None:
        self.folder, self.in_memory = folder, in_memory
        header, self.files = read_index(folder)
        if header is None:
            raise ValueError(f"There are no saved models in {folder}; make some with everclust fit --key.")
        self.header = header
        self.position: Any = header["position"]
        self._template = template_of(header)
        self._models: OrderedDict[Key, IncrementalClusterer] = OrderedDict()  # the latest used last

    def __len__(self) -> int:
        return len(self.files)

    def find(self, text: str) -> Key | None:
        """The key that is written so, as text or else as an integer; None if there is no such model."""
        if text in self.files:
            return text
        return next((key for key in _as_integer(text) if key in self.files), None)

    def model(self, text: str) -> IncrementalClusterer | None:
        """The model of a key; None if there is none."""
        key = self.find(text)
        if key is None:
            return None
        if key not in self._models:
            self._models[key] = self._read(key)
            if len(self._models) > self.in_memory:
                self._models.popitem(last=False)
        self._models.move_to_end(key)
        return self._models[key]

    def _read(self, key: Key) -> IncrementalClusterer:
        for _ in range(ATTEMPTS):
            path = model_file(self.folder, self.files[key])
            try:
                return load(path)
            except FileNotFoundError:  # the set was saved, which replaces files
                _, self.files = read_index(self.folder)
                if key not in self.files:
                    break
        raise ValueError(f"The model of key {key!r} in {self.folder} is missing; restore it.")

    def _ask_rows(
        self,
        keys: Sequence[str],
        X: np.ndarray,
        ask: Callable[[IncrementalClusterer, np.ndarray], np.ndarray],
        unknown: Any,
    ) -> list[Any]:
        """What the models say of valid rows, and `unknown` for rows of keys that have no model."""
        return ask_models(lambda key: self.model(str(key)), keys, X, ask, unknown)

    def close(self) -> None:
        """Nothing is open."""


def _as_integer(text: str) -> list[int]:
    """The integer that is written so, and in no other way; none if it is no integer."""
    return [int(text)] if re.fullmatch(r"0|-?[1-9]\d{0,18}", text, re.ASCII) else []
