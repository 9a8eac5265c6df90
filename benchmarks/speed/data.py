"""Data sets as streams."""

import os
from pathlib import Path

import numpy as np

from everclust.benchmark.data.datasets import load
from everclust.benchmark.run import settings

BESIDE = Path(__file__).parents[3] / "shared" / "data"


def data_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Samples and classes; the FileNotFoundError of a missing file says where it should be."""
    if "EVERCLUST_DATA" not in os.environ and BESIDE.is_dir():
        os.environ["EVERCLUST_DATA"] = str(BESIDE)
    return load(name)


def stationary(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """All rows, shuffled."""
    return X[settings.stationary(X, y, seed)]


def class_incremental(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Class after class, both in random order: the streams of the golden traces.

    The paper shuffles within the classes once for all of its runs. That shuffle is not available, and the
    mean over runs depends on it, so here every run draws its own.
    """
    return X[np.concatenate(settings.class_incremental(X, y, seed, reshuffle_within_class=True))]
