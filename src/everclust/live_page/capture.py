"""A model at one moment, as the page needs it."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from ..core.state import State, clock_of
from ..estimators.idat import IDAT
from ..model.events import Event
from ..model.predict import labels
from ..model.snapshot import Snapshot

MOST_SAMPLES = 120  # of the latest ones that are shown


class Picture(NamedTuple):
    """What is seen of a model at one moment."""

    snapshot: Snapshot
    birth: np.ndarray  # number of every node in the order of birth, which stays when others go
    samples: np.ndarray  # the latest ones, oldest first
    events: list[Event]  # since the picture before
    took: float  # seconds for which the model had to hold still

    @property
    def sample_labels(self) -> np.ndarray:
        """Clusters of the latest samples."""
        return labels(self.snapshot, self.samples)


def take_picture(model: IDAT, since: int) -> Picture:
    """Look at a model, and at what has happened since a sample. It is held only while arrays are copied."""
    learner = model._learner
    with learner.lock:
        started = time.perf_counter()
        snapshot, events = model.snapshot(), model.events(since)
        birth = learner.state.node["birth"][: len(snapshot.usage)].copy()
        samples = _latest_samples(learner.state)
        return Picture(snapshot, birth, samples, events, time.perf_counter() - started)


def _latest_samples(state: State) -> np.ndarray:
    clock = clock_of(state)
    n = min(int(clock.window_size), MOST_SAMPLES)
    return state.window[np.arange(clock.window_head - n, clock.window_head) % len(state.window)]
