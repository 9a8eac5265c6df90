"""What the catalogue knows of a data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Arrays = tuple[np.ndarray, np.ndarray]  # samples and classes


@dataclass(frozen=True)
class Recipe:
    """How to make the canonical arrays from files that anybody can download.

    Parameters
    ----------
    site : str
        Name of a site known to `everclust.benchmark.data.fetch`, or the beginning of an address.
    files : tuple of str
        Rest of the address of each file; none if the data come with an installed package.
    convert : callable
        From the list of the files' bytes to X and y.
    member : str, default=""
        Name of the file to take out of each download when that is a zip archive.
    """

    site: str
    files: tuple[str, ...]
    convert: Callable[[Sequence[bytes]], Arrays]
    member: str = ""


@dataclass(frozen=True)
class DataSet:
    """A data set by name, and how to recognise it.

    Parameters
    ----------
    name : str
        The file is called ``<name>.npz`` and holds the arrays X and y.
    title : str
        As the paper writes it.
    n_samples, n_features, n_classes : int
        What X and y must measure.
    sha256 : str or None, default=None
        Of the canonical arrays, see `everclust.benchmark.data.datasets.checksum`. None if there is no
        canonical copy; then only the shape is checked.
    source : str, default=""
        Where the data come from.
    licence : str, default=""
        What is known of it.
    recipe : Recipe or None, default=None
        How to fetch it. None: bring your own file.

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

    @property
    def file(self) -> str:
        """Name of the file in the data folder."""
        return f"{self.name}.npz"

    @property
    def shape(self) -> str:
        """Samples × features, for people."""
        return f"{self.n_samples} × {self.n_features}"
