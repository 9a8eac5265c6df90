"""Packages whose public names are imported on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, origins: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` (PEP 562) of a package whose names come from these submodules.

    Parameters
    ----------
    package : str
        The package's `__name__`.
    origins : mapping of str to str
        For each public name, the submodule that defines it.

    Returns
    -------
    getattr, dir : callables
    """
    attributes = vars(sys.modules[package])

    def get(name: str) -> Any:
        if name not in origins:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{origins[name]}"), name)
        attributes[name] = value
        return value

    return get, lambda: sorted({*attributes, *origins})
