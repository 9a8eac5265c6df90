"""Time, machine and package versions of a result."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ...version import __version__


def now() -> str:
    """The current time in UTC.

    Returns
    -------
    time : str
        In ISO format.
    """
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@cache
def versions() -> dict[str, str]:
    """Versions of all installed packages that may change a result.

    Returns
    -------
    versions : dict
    """
    found = {"everclust": __version__, "python": platform.python_version()}
    for package in ("numpy", "numba", "scikit-learn", "scipy", "river"):
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


@cache
def machine() -> dict[str, Any]:
    """The machine on which this process runs.

    Returns
    -------
    machine : dict
    """
    return {"platform": platform.platform(), "cpu_count": os.cpu_count()}
