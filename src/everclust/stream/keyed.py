"""One model for each key of a stream: what a run learns, answers and saves with `--key`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..estimators.incremental import IncrementalClusterer
from ..many_models.model_set import Learnt, ModelSet
from ..many_models.saved_models import SavedModels
from ..model.times import iso
from .batch import StreamError
from .blocks import Block
from .sinks.events import numbered
from .write_file import writing

RECORD = "everclust stream"  # marks positions in a set of models that a run has saved


class KeyedModels:
    """The models of a run by key, in a folder that holds the position in the stream, too.

    The folder is the checkpoint: models and position are saved together.

    Parameters
    ----------
    models : ModelSet or SavedModels
        Saved models are asked only.
    """

    def __init__(self, models: ModelSet | SavedModels) -> None:
        self.models, self.folder = models, models.folder
        self.record = self._saved_record()
        self.n_unknown = 0  # rows of keys that have no model
        self.n_seen: int = 0 if self.record is None else self.record["samples"]  # by all models together
        self.n_founded: int = 0 if self.record is None else self.record["founded"]  # nodes

    def _saved_record(self) -> dict[str, Any] | None:
        position = self.models.position
        if position is None or (isinstance(position, dict) and position.get("by") == RECORD):
            return position
        if isinstance(self.models, ModelSet):
            raise StreamError(
                f"The models in {self.folder} were saved by a program of its own, with the position "
                f"{position!r}; go on with that program, or choose another folder."
            )
        return None

    def learn(self, block: Block, wants_events: bool) -> list[dict[str, Any]]:
        """Learn rows, each with the model of its key; returns events in the order of the rows.

        The order does not depend on how the stream is cut into blocks, because `total`, the number of the
        sample among those of all models, grows with it.
        """
        assert block.keys is not None
        assert isinstance(self.models, ModelSet)
        found: list[dict[str, Any]] = []
        with writing(self.folder):  # models that leave the memory are written
            for key, places, learnt in self.models._learn_rows(
                block.keys, block.X, block.times, wants_events=wants_events
            ):
                self.n_founded += learnt.n_founded
                found += self._events(block, key, places, learnt)
        self.n_seen += len(block.X)
        return sorted(found, key=lambda event: (event["total"], event["number"]))

    def _events(self, block: Block, key: Any, places: list[int], learnt: Learnt) -> list[dict[str, Any]]:
        found = []
        for event in numbered(learnt.events):
            place = places[event["sample"] - learnt.n_before - 1]
            time = {} if block.times is None else {"time": iso(float(block.times[place]))}
            found.append({"key": key, "total": self.n_seen + place + 1, **event, **time})
        return found

    def predict(self, block: Block) -> list[int]:
        """Cluster of each row in the model of its key."""
        return self.models._ask_rows(block.keys or [], block.X, IncrementalClusterer._predict_rows, -1)

    def novel(self, block: Block) -> list[bool]:
        """Whether rows are new to the models of their keys; rows of new keys are."""
        return self.models._ask_rows(block.keys or [], block.X, IncrementalClusterer._novel_rows, True)

    def similarity(self, block: Block) -> list[float]:
        """Similarity of rows to what the models of their keys have learnt; 0 where there is no model."""
        return self.models._ask_rows(block.keys or [], block.X, IncrementalClusterer._score_rows, 0.0)

    def note_unknown(self, block: Block, warn: Callable[[str], None]) -> None:
        """Count rows of keys that have no model, and warn of the first one."""
        assert isinstance(self.models, SavedModels)
        unknown = [key for key in block.keys or [] if self.models.find(key) is None]
        if unknown and not self.n_unknown:
            warn(
                f"There is no model of the key {unknown[0]!r} in {self.folder}; rows of such keys get the "
                "cluster -1, the similarity 0, and are novel."
            )
        self.n_unknown += len(unknown)

    def save(self, record: dict[str, Any]) -> None:
        """Save models and position together."""
        assert isinstance(self.models, ModelSet)
        with writing(self.folder):
            self.models.save({**record, "by": RECORD, "samples": self.n_seen, "founded": self.n_founded})
