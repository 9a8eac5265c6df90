"""The two algorithms by name, and the files of both."""

from pathlib import Path

from ..model.file import read_model
from .everclust import EverClust
from .idat import IDAT
from .without_sklearn import FORMS

ALGORITHMS: dict[str, type[EverClust] | type[IDAT]] = {"everclust": EverClust, "idat": IDAT}


def load(path: str | Path) -> EverClust | IDAT:
    """Read a model that `save` has written. It goes on learning as if it had never been interrupted.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    model : EverClust or IDAT
        The class that was saved.

    Raises
    ------
    ValueError
        If the file is not a model, is damaged, or was written by a newer everclust; says which.
    """
    stored = read_model(path, FORMS)
    return ALGORITHMS[stored.algorithm]._from_file(stored)
