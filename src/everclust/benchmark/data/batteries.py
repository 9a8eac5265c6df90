"""Read batteries: folders of data sets in the format of the clustering benchmarks.

A data set is ``<name>.data.gz``, a table of numbers separated by spaces, with one or more reference
labellings ``<name>.labels0.gz``, ``<name>.labels1.gz`` and so on: one whole number per row, 1, 2, … for the
clusters and 0 for noise. The files may be uncompressed, without ``.gz``.
Gagolewski, A framework for benchmarking clustering algorithms, SoftwareX 20 (2022) 101270.
"""

from __future__ import annotations

import re
import warnings
import zlib
from itertools import count
from pathlib import Path
from typing import Literal

import numpy as np

from .entry import NOISE
from .errors import BadDataSet, MissingDataSet

_DATA = re.compile(r"(.+)\.data(\.gz)?$")


def names_in(folder: Path) -> list[str]:
    """Names of the data sets in a battery, sorted; empty if the folder is no battery.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    names : list of str
    """
    if not folder.is_dir():
        return []
    found = (_DATA.match(path.name) for path in folder.iterdir() if path.is_file())
    return sorted({match[1] for match in found if match})


def read_samples(folder: Path, name: str) -> np.ndarray:
    """Samples of a data set of a battery.

    Parameters
    ----------
    folder : Path
    name : str

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        float64.

    Raises
    ------
    MissingDataSet
        If there is no such data set.
    BadDataSet
        If its file is damaged, empty, or not a table of finite numbers.
    """
    path = _file(folder, f"{name}.data")
    if path is None:
        raise MissingDataSet(f"There is no data set called {name!r} in the battery {folder}.")
    X = _numbers(path, ndmin=2)
    n_bad = int(X.size - np.isfinite(X).sum())
    if n_bad:
        raise BadDataSet(f"{path} holds {n_bad} cells that are NaN or infinite; fill them in.")
    return X


def read_labellings(folder: Path, name: str, n_samples: int) -> list[np.ndarray]:
    """All reference labellings of a data set of a battery.

    Parameters
    ----------
    folder : Path
    name : str
    n_samples : int
        Number of rows of its samples.

    Returns
    -------
    labellings : list of ndarray of shape (n_samples,)
        int64, with `NOISE` for noise.

    Raises
    ------
    BadDataSet
        If there is none, or one is damaged or does not have a whole number for each sample.
    """
    files = []
    for k in count():
        path = _file(folder, f"{name}.labels{k}")
        if path is None:
            break
        files.append(path)
    if not files:
        raise BadDataSet(f"The data set {name!r} of the battery {folder} has no file {name}.labels0.gz.")
    return [_labels(path, n_samples) for path in files]


def _file(folder: Path, name: str) -> Path | None:
    paths = (folder / f"{name}.gz", folder / name)
    return next((path for path in paths if path.is_file()), None)


def _labels(path: Path, n_samples: int) -> np.ndarray:
    found = _numbers(path, ndmin=1)
    if found.shape != (n_samples,):
        raise BadDataSet(
            f"{path} must hold one label for each of the {n_samples} samples, but its shape is "
            f"{' × '.join(map(str, found.shape))}."
        )
    if not np.all((found >= 0) & (found == np.trunc(found))):
        raise BadDataSet(f"{path} must hold whole numbers: 0 for noise, and 1, 2, … for the clusters.")
    if not found.any():
        raise BadDataSet(f"{path} marks all samples as noise (0), so there is nothing to compare with.")
    return np.where(found == 0, NOISE, found.astype(np.int64))


def _numbers(path: Path, *, ndmin: Literal[1, 2]) -> np.ndarray:
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "loadtxt: input contained no data", UserWarning)
            found = np.loadtxt(path, ndmin=ndmin)
    except ValueError as error:  # includes text that cannot be decoded
        raise BadDataSet(f"{path} is not a table of numbers separated by spaces ({_first(error)}).") from None
    except (OSError, EOFError, zlib.error):
        raise BadDataSet(f"{path} cannot be read or is a damaged gzip file; replace it.") from None
    if not found.size:
        raise BadDataSet(f"{path} is empty; replace it.")
    return found


def _first(error: ValueError) -> str:
    """The first sentence of NumPy's message, on one line."""
    return re.split(r"[.;\n]( |$)", str(error))[0].removesuffix(".")
