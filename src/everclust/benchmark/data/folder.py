"""Where data sets are: the data folder, and the batteries in it and elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

from .batteries import names_in


def data_folder() -> Path:
    """The folder in which data sets are stored.

    Returns
    -------
    folder : Path
    """
    return Path(os.environ.get("EVERCLUST_DATA") or "~/.cache/everclust").expanduser()


def battery(name: str) -> list[str]:
    """Names of all data sets of a battery, each as ``<battery>/<name>``.

    Parameters
    ----------
    name : str
        Name of a folder in the data folder, or path of another folder, which is absolute in the names.

    Returns
    -------
    names : list of str
        Empty if there is no such battery.
    """
    root = Path(os.path.abspath(data_folder()))  # links stay: a linked folder keeps its short name
    inside, outside = (Path(os.path.abspath(path)) for path in (root / name, Path(name).expanduser()))
    folder = inside if names_in(inside) else outside
    prefix = folder.relative_to(root) if folder.is_relative_to(root) else folder
    return [(prefix / each).as_posix() for each in names_in(folder)]


def batteries_at_hand() -> list[str]:
    """Names of the batteries in the data folder.

    Returns
    -------
    names : list of str
    """
    folder = data_folder()
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    return [path.name for path in paths if names_in(path)]


def is_at_hand(name: str) -> bool:
    """True if the file of a data set exists.

    Parameters
    ----------
    name : str
        As for `load`.

    Returns
    -------
    is_at_hand : bool
    """
    if is_plain(name):
        return (data_folder() / f"{name}.npz").exists()
    folder, own = folder_and_name(name)
    return own in names_in(folder)


def folder_and_name(name: str) -> tuple[Path, str]:
    """Folder and own name of a data set of a battery."""
    path = data_folder() / name
    return path.parent, path.name


def is_plain(name: str) -> bool:
    """True for the name of a file in the data folder, False for ``<battery>/<name>``."""
    return bool(name) and Path(name).name == name
