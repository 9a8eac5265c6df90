"""Convert the bytes of public files to the canonical arrays: X as in the file, y coded 0, 1, …

Rows keep the order of the file; values are neither scaled nor filled in, unless an argument says so.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence

import numpy as np

from .entry import Arrays


def table(
    files: Sequence[bytes],
    *,
    separator: str | None = ",",
    header: bool = False,
    features: slice = slice(0, -1),
    label: int = -1,
    classes: Sequence[str] = (),
    missing: str = "?",
    filling: str = "nan",
) -> Arrays:
    """Text with one sample per row: plain, CSV, ARFF or KEEL.

    `separator` None means any white space. Lines that begin with @ or % and rows of empty cells are skipped.
    Classes are coded in the order of `classes`, else in numerical or else alphabetical order. Cells equal to
    `missing` are replaced by `filling`.
    """
    rows = [row for file in files for row in _rows(file, separator)][int(header) :]
    cells = [[filling if cell == missing else cell for cell in row[features]] for row in rows]
    return np.array(cells, dtype=np.float64), coded([row[label] for row in rows], classes)


def _rows(file: bytes, separator: str | None) -> Iterable[list[str]]:
    for line in file.decode("utf-8-sig", errors="replace").splitlines():
        row = [cell.strip(" \t'\"") for cell in line.split(separator)]
        if any(row) and not line.startswith(("@", "%")):
            yield row


def coded(labels: Sequence[str], classes: Sequence[str] = ()) -> np.ndarray:
    """Code labels as 0, 1, … in the order of `classes`, else in numerical or else alphabetical order."""
    codes = {label: code for code, label in enumerate(classes or _in_order(set(labels)))}
    return np.array([codes[label] for label in labels], dtype=np.int64)


def _in_order(labels: set[str]) -> list[str]:
    try:
        return sorted(labels, key=float)
    except ValueError:
        return sorted(labels)


def one_hot(files: Sequence[bytes], *, n_features: int) -> Arrays:
    """Numbers separated by white space; the columns after the features are the one-hot class."""
    rows = np.loadtxt(io.BytesIO(files[0]), ndmin=2)
    return rows[:, :n_features].copy(), rows[:, n_features:].argmax(axis=1)


def matlab(files: Sequence[bytes]) -> Arrays:
    """MATLAB files: the largest array holds the samples, the other the classes, coded in numerical order."""
    from scipy.io import loadmat

    found: list[np.ndarray] = []
    for file in files:
        arrays = loadmat(io.BytesIO(file))
        found += [value for name, value in arrays.items() if not name.startswith("__")]
    labels, samples = sorted(found, key=np.size)
    return samples.astype(np.float64), np.unique(labels.ravel(), return_inverse=True)[1]


def installed_iris(files: Sequence[bytes]) -> Arrays:
    """Iris from scikit-learn, which equals the array that the paper's authors released."""
    from sklearn.datasets import load_iris

    iris = load_iris()
    return iris.data, iris.target
