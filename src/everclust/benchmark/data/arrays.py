"""Check the arrays of a data set, and bring them into their canonical form."""

from __future__ import annotations

import hashlib

import numpy as np

from .entry import Arrays, DataSet
from .errors import BadDataSet


def canonical(name: str, X: np.ndarray, y: np.ndarray) -> Arrays:
    """Convert X to float64 and y to int64, or raise an error."""
    if X.ndim != 2 or y.shape != X.shape[:1] or X.size == 0:
        raise BadDataSet(
            f"{name} must have X with samples as rows and one class in y for each, but their shapes are "
            f"{X.shape} and {y.shape}."
        )
    if X.dtype.kind not in "fiub" or not _whole(y):
        raise BadDataSet(
            f"{name} must have numbers in X and whole numbers in y, but they hold {X.dtype} and {y.dtype}."
        )
    X = np.ascontiguousarray(X, dtype=np.float64)
    n_bad = int(X.size - np.isfinite(X).sum())
    if n_bad:
        raise BadDataSet(
            f"{name} holds {n_bad} cells that are NaN or infinite; fill them in or drop their rows."
        )
    return X, y.astype(np.int64)


def _whole(y: np.ndarray) -> bool:
    return y.dtype.kind in "iub" or (y.dtype.kind == "f" and bool(np.all(y == np.trunc(y))))


def check(entry: DataSet, X: np.ndarray, y: np.ndarray) -> None:
    """Check arrays against the catalogue.

    Parameters
    ----------
    entry : DataSet
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)

    Raises
    ------
    BadDataSet
        If the shape, the number of classes or the checksum differs.
    """
    found = (*X.shape, len(np.unique(y)))
    expected = (entry.n_samples, entry.n_features, entry.n_classes)
    if found != expected:
        raise BadDataSet(
            f"{entry.name} should have {entry.shape} values and {entry.n_classes} classes, but has "
            f"{found[0]} × {found[1]} and {found[2]}."
        )
    if entry.sha256 is not None and checksum(X, y) != entry.sha256:
        raise BadDataSet(
            f"{entry.name} differs from the canonical copy: the SHA-256 of its arrays is {checksum(X, y)} "
            f"instead of {entry.sha256}."
        )


def checksum(X: np.ndarray, y: np.ndarray) -> str:
    """SHA-256 of X as little-endian float64 in C order, followed by y as little-endian int64.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)

    Returns
    -------
    digest : str
        64 hexadecimal digits.
    """
    digest = hashlib.sha256(np.ascontiguousarray(X, dtype="<f8").tobytes())
    digest.update(np.ascontiguousarray(y, dtype="<i8").tobytes())
    return digest.hexdigest()
