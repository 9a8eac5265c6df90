"""Data sets from the data folder, as streams."""

import os
from pathlib import Path

import numpy as np

FOLDERS = [
    Path(os.environ.get("EVERCLUST_DATA", "~/.cache/everclust")).expanduser(),
    Path(__file__).parents[2] / "shared" / "data",
]


def data_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Samples and classes of `<name>.npz`; FileNotFoundError says where it should be."""
    for folder in FOLDERS:
        path = folder / f"{name}.npz"
        if path.exists():
            with np.load(path) as arrays:
                return np.ascontiguousarray(arrays["X"], np.float64), arrays["y"]
    raise FileNotFoundError(
        f"{name}.npz (arrays X and y) is not in {FOLDERS[0]}; put it there or set EVERCLUST_DATA."
    )


def stationary(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """All rows, shuffled."""
    return X[np.random.RandomState(seed).permutation(len(X))]


def class_incremental(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Class after class, both in random order: the streams of the golden traces.

    The paper shuffles within the classes once for all of its runs. That one shuffle cannot be had, and the
    mean over runs depends on it, so here every run draws its own.
    """
    random = np.random.RandomState(seed)
    order = random.permutation(np.unique(y))
    return np.ascontiguousarray(
        X[np.concatenate([random.permutation(np.flatnonzero(y == c)) for c in order])]
    )
