"""A copy of what the live page shows of a model, taken between two batches."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from ..core.state import State, scalars_of
from ..estimators.clusterer import Clusterer
from ..model.events import Event
from ..model.predict import labels
from ..model.snapshot import Snapshot

MAX_SAMPLES = 120  # of the newest ones, shown as dots


class Capture(NamedTuple):
    """What the page shows of a model at one moment."""

    snapshot: Snapshot
    birth: np.ndarray  # birth number of every node: unlike its index, it stays when other nodes go
    samples: np.ndarray  # the newest ones, oldest first
    events: list[Event]  # since the capture before
    took: float  # seconds for which the model was locked

    @property
    def sample_labels(self) -> np.ndarray:
        """Clusters of the newest samples."""
        return labels(self.snapshot, self.samples)


def capture_model(model: Clusterer, since: int) -> Capture:
    """Copy a model and its events since a sample; the model is locked only while arrays are copied."""
    learner = model._learner
    with learner.lock:
        started = time.perf_counter()
        snapshot, events = model.snapshot(), model.events(since)
        birth = learner.state.node["birth"][: len(snapshot.usage)].copy()
        samples = _newest_samples(learner.state)
        return Capture(snapshot, birth, samples, events, time.perf_counter() - started)


def _newest_samples(state: State) -> np.ndarray:
    scalars = scalars_of(state)
    n = min(int(scalars.window_size), MAX_SAMPLES)
    return state.window[np.arange(scalars.window_head - n, scalars.window_head) % len(state.window)]
