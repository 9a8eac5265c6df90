"""Download data sets by recipe, check them, and store them atomically.

Each site can be replaced by a mirror with an environment variable, such as ``EVERCLUST_UCI_URL``.
"""

from __future__ import annotations

import http.client
import io
import json
import os
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

from ...optional import require
from .datasets import (
    CATALOGUE,
    BadDataSet,
    DataSet,
    DataSetError,
    MissingDataSet,
    Recipe,
    data_folder,
    load,
    store,
    where_to_put,
)
from .entry import Arrays

SITES = {
    "uci": "https://archive.ics.uci.edu/static/public",
    "pypi": "https://files.pythonhosted.org/packages",
    "github": "https://raw.githubusercontent.com",
    "openml": "https://www.openml.org/api/v1/json/data",
}
PIECE = 1 << 16  # bytes between two updates of the progress bar
PATIENCE = 30.0  # seconds to wait for the server


class FetchError(DataSetError, OSError):
    """The download failed; the message is one sentence for the user."""


def fetch(name: str, *, progress: bool = True) -> Path:
    """Download a data set of the catalogue into the data folder, unless it exists.

    Parameters
    ----------
    name : str
    progress : bool, default=True
        Show a progress bar on stderr (needs ``pip install "everclust[progress]"``).

    Returns
    -------
    path : Path
        The file. After an error, no partial file is left.

    Raises
    ------
    MissingDataSet
        If the data set is unknown or has no public address.
    FetchError
        If it cannot be downloaded, or has an unexpected format.
    BadDataSet
        If the public copy, or the existing file, differs from the canonical one.

    Examples
    --------
    >>> from everclust.benchmark.data.fetch import fetch
    >>> path = fetch("seeds")  # doctest: +SKIP
    """
    path = data_folder() / f"{name}.npz"
    if name not in CATALOGUE or path.exists():
        load(name)
        return path
    entry = CATALOGUE[name]
    if entry.recipe is None:
        raise MissingDataSet(f"{entry.title} has no public address to fetch it from: {where_to_put(entry)}.")
    arrays = _converted(entry, entry.recipe, progress)
    return _stored(entry, arrays)


def load_or_fetch(name: str, *, progress: bool = True) -> Arrays:
    """Samples and classes of a data set, downloaded first if necessary.

    Parameters
    ----------
    name : str
    progress : bool, default=True
        As in `fetch`.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    """
    fetch(name, progress=progress)
    return load(name)


def _converted(entry: DataSet, recipe: Recipe, progress: bool) -> Arrays:
    try:
        files = [_file(recipe, rest, progress) for rest in recipe.files]
    except FetchError as error:
        raise FetchError(
            f"{entry.title} cannot be fetched, because {error}: {where_to_put(entry)}."
        ) from None
    try:
        return recipe.convert(files)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise FetchError(
            f"{entry.title} was downloaded, but has an unexpected format ({error}): {where_to_put(entry)}."
        ) from None


def _stored(entry: DataSet, arrays: Arrays) -> Path:
    try:
        return store(entry.name, *arrays)
    except BadDataSet as error:
        raise BadDataSet(
            f"The public copy cannot be used, because {str(error).removesuffix('.')}: {where_to_put(entry)}."
        ) from None
    except OSError as error:
        raise FetchError(
            f"{entry.title} was downloaded, but cannot be written to {data_folder()} ({error.strerror})."
        ) from None


def _file(recipe: Recipe, rest: str, progress: bool) -> bytes:
    address = f"{_site(recipe.site)}/{rest}"
    if recipe.site == "openml":
        address = _openml_file(address)
    data = _shared(address, progress) if recipe.site == "pypi" else _downloaded(address, progress)
    return _member(data, recipe.member, address) if recipe.member else data


def _site(name: str) -> str:
    """Address of a site by its name; any other string is an address already."""
    return os.environ.get(f"EVERCLUST_{name.upper()}_URL", SITES.get(name, name)).rstrip("/")


def _openml_file(address: str) -> str:
    """Address of the file, from OpenML's description of a data set."""
    try:
        return str(json.loads(_downloaded(address, progress=False))["data_set_description"]["url"])
    except (ValueError, KeyError, TypeError):
        raise FetchError(f"{address} is not a description of a data set") from None


def _member(archive: bytes, name: str, address: str) -> bytes:
    """The file of that name in a zip archive, in any folder."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as files:
            return next(files.read(path) for path in files.namelist() if f"/{path}".endswith(f"/{name}"))
    except StopIteration:
        raise FetchError(f"there is no {name} in {address}") from None
    except (zipfile.BadZipFile, zlib.error):
        raise FetchError(f"{address} is not a sound zip archive") from None


@lru_cache(maxsize=1)
def _shared(address: str, progress: bool) -> bytes:
    """Download an archive that holds many data sets only once."""
    return _downloaded(address, progress)


def _downloaded(address: str, progress: bool) -> bytes:
    try:
        request = urllib.request.Request(address, headers={"User-Agent": "everclust"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            length = answer.headers.get("Content-Length")
            total = None if length is None else int(length)
            with _bar(address, total) if progress else nullcontext() as bar:
                data = b"".join(_pieces(answer, bar))
    except urllib.error.HTTPError as error:
        error.close()
        raise FetchError(f"{address} answers {error.code} ({error.reason})") from None
    except urllib.error.URLError as error:
        raise FetchError(f"{address} cannot be reached ({error.reason})") from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise FetchError(f"the transfer from {address} broke off ({error or type(error).__name__})") from None
    if total is not None and len(data) != total:
        raise FetchError(f"the transfer from {address} broke off after {len(data)} of {total} bytes")
    return data


def _pieces(answer: Any, bar: Any) -> Iterator[bytes]:
    while piece := answer.read(PIECE):
        if bar is not None:
            bar.update(len(piece))
        yield piece


def _bar(address: str, total: int | None) -> AbstractContextManager[Any]:
    tqdm = require("tqdm", extra="progress", purpose="progress bars").tqdm
    return tqdm(total=total, unit="B", unit_scale=True, unit_divisor=1024, desc=address.rsplit("/", 1)[-1])
