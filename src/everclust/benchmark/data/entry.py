"""Entries of the catalogue of data sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Arrays = tuple[np.ndarray, np.ndarray]  # samples and classes
# The class of a sample that belongs to none: it is learnt, but left out of every score.
NOISE = int(np.iinfo(np.int64).min)


@dataclass(frozen=True)
class Recipe:
    """How to make the canonical arrays from public files.

    Parameters
    ----------
    site : str
        Name of a site in `everclust.benchmark.data.fetch.SITES`, or the beginning of an address.
    files : tuple of str
        Rest of the address of each file; empty if an installed package contains the data.
    convert : callable
        Function of the list of the files' bytes that returns X and y.
    member : str, default=""
        Name of the file to extract from each download, if that is a zip archive.
    """

    site: str
    files: tuple[str, ...]
    convert: Callable[[Sequence[bytes]], Arrays]
    member: str = ""


@dataclass(frozen=True)
class DataSet:
    """A data set of the catalogue.

    Parameters
    ----------
    name : str
        The file ``<name>.npz`` holds the arrays X and y.
    title : str
        Name in the paper.
    n_samples, n_features, n_classes : int
        Size of X, and number of distinct values of y.
    sha256 : str or None, default=None
        Checksum of the canonical arrays, see `everclust.benchmark.data.arrays.checksum`. None if there is
        no canonical copy; then only the shape is checked.
    source : str, default=""
        Where the data come from.
    licence : str, default=""
        Licence as far as known.
    recipe : Recipe or None, default=None
        How to download it; None if the user must provide the file.
    openml : int or None, default=None
        Number on OpenML of the data set with this name and shape; its rows may have another order there, and
        a few cells other values. None if we are not certain of one.

    Examples
    --------
    >>> from everclust.benchmark.data.datasets import CATALOGUE
    >>> CATALOGUE["iris"].shape
    '150 × 4'
    """

    name: str
    title: str
    n_samples: int
    n_features: int
    n_classes: int
    sha256: str | None = None
    source: str = ""
    licence: str = ""
    recipe: Recipe | None = None
    openml: int | None = None

    @property
    def file(self) -> str:
        """Name of the file in the data folder."""
        return f"{self.name}.npz"

    @property
    def shape(self) -> str:
        """Samples × features, as text."""
        return f"{self.n_samples} × {self.n_features}"
