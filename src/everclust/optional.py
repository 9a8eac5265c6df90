"""Packages that not every installation has."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def require(module: str, *, extra: str, purpose: str) -> Any:
    """Import a module of an optional package, or raise an error that prints the pip command.

    Parameters
    ----------
    module : str
    extra : str
        The extra of everclust that installs it.
    purpose : str
        What needs it, as a noun: "tables of clusters".

    Returns
    -------
    module : module

    Raises
    ------
    ImportError
        With the reason, the purpose and the pip command.

    Examples
    --------
    >>> from everclust.optional import require
    >>> require("nowhere", extra="report", purpose="tables of clusters")
    Traceback (most recent call last):
    ImportError: No module named 'nowhere', needed for tables of clusters; pip install "everclust[report]"
    """
    try:
        return import_module(module)
    except ImportError as error:
        reason = f'{error}, needed for {purpose}; pip install "everclust[{extra}]"'
        raise ImportError(reason, name=error.name) from None
