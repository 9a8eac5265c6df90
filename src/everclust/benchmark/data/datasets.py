"""Load data sets by name from the data folder, and check them.

The data folder is the environment variable ``EVERCLUST_DATA``, or else ``~/.cache/everclust``. Any
``<name>.npz`` in it with arrays X and y can be loaded by its name; a data set of the catalogue must have the
shape and checksum that the catalogue states. ``<battery>/<name>`` is a data set of a battery, which is a
folder in the data folder, or anywhere else by its path; `everclust.benchmark.data.batteries` has the format.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ...atomic import write_atomically
from .arrays import canonical, check, checksum
from .batteries import read_labellings, read_samples
from .catalogue import CATALOGUE
from .entry import Arrays, DataSet, Recipe
from .errors import BadDataSet, DataSetError, MissingDataSet
from .folder import batteries_at_hand, battery, data_folder, folder_and_name, is_at_hand, is_plain

__all__ = [
    "CATALOGUE",
    "BadDataSet",
    "DataSet",
    "DataSetError",
    "MissingDataSet",
    "Recipe",
    "at_hand",
    "batteries_at_hand",
    "battery",
    "check",
    "checksum",
    "data_folder",
    "is_at_hand",
    "load",
    "load_with_labellings",
    "others_at_hand",
    "register",
    "store",
    "where_to_put",
]


def register(entry: DataSet) -> None:
    """Add a data set to the catalogue.

    Parameters
    ----------
    entry : DataSet

    Raises
    ------
    ValueError
        If another data set has that name, or the name is not a valid file name.

    Examples
    --------
    >>> from everclust.benchmark.data.datasets import DataSet, register
    >>> register(DataSet("weather", "Weather", 365, 3, 4))  # doctest: +SKIP
    """
    if not is_plain(entry.name):
        raise ValueError(f"A data set cannot be called {entry.name!r}: its name must be a valid file name.")
    if CATALOGUE.setdefault(entry.name, entry) != entry:
        raise ValueError(f"There is a data set called {entry.name!r} already; choose another name.")


def at_hand() -> list[str]:
    """Names of the data sets of the catalogue whose file is in the data folder, in the paper's order.

    Returns
    -------
    names : list of str
    """
    folder = data_folder()
    return [name for name, entry in CATALOGUE.items() if (folder / entry.file).exists()]


def others_at_hand() -> list[str]:
    """Names of the files in the data folder that are not in the catalogue; they load too.

    Returns
    -------
    names : list of str
    """
    return sorted(path.stem for path in data_folder().glob("*.npz") if path.stem not in CATALOGUE)


def load(name: str) -> Arrays:
    """Samples and classes of a data set in the data folder.

    Parameters
    ----------
    name : str
        A name of the catalogue, or of any ``<name>.npz`` in the data folder, or ``<battery>/<name>``.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        float64, C-contiguous.
    y : ndarray of shape (n_samples,)
        int64. For scoring only.

    Raises
    ------
    MissingDataSet
        If the file does not exist; the message says which file to put where.
    BadDataSet
        If the file is damaged, holds NaN or infinities, or its shape, number of classes or checksum differs
        from the catalogue.

    Examples
    --------
    >>> from everclust.benchmark.data.datasets import load
    >>> X, y = load("iris")  # doctest: +SKIP
    """
    X, labellings = load_with_labellings(name)
    return X, labellings[0]


def load_with_labellings(name: str) -> tuple[np.ndarray, list[np.ndarray]]:
    """Samples of a data set, and all its reference labellings.

    Parameters
    ----------
    name : str
        As for `load`.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    labellings : list of ndarray of shape (n_samples,)
        int64, with `everclust.benchmark.data.entry.NOISE` for noise. One, unless the data set belongs to a
        battery; the first is the `y` of `load`.

    Raises
    ------
    MissingDataSet, BadDataSet
        As in `load`.
    """
    if not is_at_hand(name):
        raise MissingDataSet(_missing(name))
    if not is_plain(name):
        folder, own = folder_and_name(name)
        X = np.ascontiguousarray(read_samples(folder, own))
        return X, read_labellings(folder, own, len(X))
    X, y = canonical(name, *_read(data_folder() / f"{name}.npz"))
    if name in CATALOGUE:
        check(CATALOGUE[name], X, y)
    return X, [y]


def _missing(name: str) -> str:
    entry = CATALOGUE.get(name)
    if entry is None:
        return f"There is no data set called {name!r}, neither in the catalogue nor in {data_folder()}."
    if entry.recipe is None:
        return f"{entry.title} is not available: {where_to_put(entry)}."
    return f"{entry.title} is not available: run `everclust bench fetch {name}`, or {where_to_put(entry)}."


def where_to_put(entry: DataSet) -> str:
    """The part of an error message that says which file to put where.

    Parameters
    ----------
    entry : DataSet

    Returns
    -------
    advice : str
    """
    arrays = f"arrays X, {entry.shape}, and y, {entry.n_classes} classes"
    return f"put {entry.file} ({arrays}) into {data_folder()} or set EVERCLUST_DATA to its folder"


def _read(path: Path) -> tuple[Any, Any]:
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            return arrays["X"], arrays["y"]
    except KeyError:
        raise BadDataSet(f"{path} must hold the arrays X and y, but one of them is missing.") from None
    except (ValueError, EOFError, TypeError, zipfile.BadZipFile, zlib.error):
        raise BadDataSet(f"{path} is damaged or not an .npz file of plain arrays; replace it.") from None


def store(name: str, X: np.ndarray, y: np.ndarray) -> Path:
    """Check a data set and write it to the data folder, atomically.

    Parameters
    ----------
    name : str
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)

    Returns
    -------
    path : Path

    Raises
    ------
    BadDataSet
        As in `load`.
    """
    X, y = canonical(name, np.asarray(X), np.asarray(y))
    if name in CATALOGUE:
        check(CATALOGUE[name], X, y)
    file = io.BytesIO()
    np.savez_compressed(file, X=X, y=y)
    path = data_folder() / f"{name}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, [file.getvalue()])
    return path
