"""The models of a set that were used last, in memory; all others are in their files."""

from __future__ import annotations

from collections import OrderedDict

from ..estimators.incremental import IncrementalClusterer
from .model_folder import Key, ModelFolder


class LoadedModels:
    """Models by key, of which the least recently used ones are on disk.

    Parameters
    ----------
    files : ModelFolder
    in_memory : int
        Largest number of models in memory.
    """

    def __init__(self, files: ModelFolder, in_memory: int) -> None:
        self.files, self.in_memory = files, in_memory
        self.loaded: OrderedDict[Key, IncrementalClusterer] = OrderedDict()  # the latest used last
        self.unwritten: set[Key] = set()  # of them, those that have learnt since they were written

    def __contains__(self, key: object) -> bool:
        return key in self.loaded or key in self.files.files

    def keys(self) -> set[Key]:
        """The keys of all models, in memory or not."""
        return {*self.files.files, *self.loaded}

    def read(self, key: Key) -> IncrementalClusterer:
        """The model of a key, which is the latest used one from now on."""
        if key not in self.loaded:
            self.loaded[key] = self.files.read(key)
            self.make_room()
        self.loaded.move_to_end(key)
        return self.loaded[key]

    def make_room(self) -> None:
        """Let the least recently used models leave the memory."""
        while len(self.loaded) > self.in_memory:
            oldest = next(iter(self.loaded))
            if oldest in self.unwritten:
                self._write(oldest)
            del self.loaded[oldest]

    def write(self) -> None:
        """Write all models that have learnt since they were written."""
        for key in [key for key in self.loaded if key in self.unwritten]:
            self._write(key)

    def drop(self, key: Key) -> None:
        """Forget a model."""
        self.loaded.pop(key, None)
        self.unwritten.discard(key)
        self.files.drop(key)

    def clear(self) -> None:
        """Forget what is in memory."""
        self.loaded.clear()
        self.unwritten.clear()

    def _write(self, key: Key) -> None:
        self.files.write(key, self.loaded[key])
        self.unwritten.discard(key)
