"""The registry of algorithms, by name.

To add one, write a file that calls `register` and give it to ``everclust bench run --with``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..data.entry import NOISE

Range = tuple[int, int] | tuple[float, float] | tuple[float, float, str]
Given = Callable[[np.ndarray, np.ndarray], dict[str, Any]]

NUMBER_OF_CLASSES = "number of classes"
SEARCHED = "parameters, by a search with the classes"


def n_clusters(estimator: Any) -> tuple[int | None, int]:
    """Count clusters by their labels, for an estimator without nodes.

    Parameters
    ----------
    estimator : estimator
        With ``labels_``.

    Returns
    -------
    nodes : None
    clusters : int
    """
    return None, len(set(estimator.labels_))


def nothing_given(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """No parameters from the data: the default of `Algorithm.given`."""
    return {}


def number_of_classes(parameter: str, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """The number of classes as a parameter; with the first argument bound, a value of `Algorithm.given`."""
    return {parameter: n_classes(y)}


def n_classes(y: np.ndarray) -> int:
    """Number of classes; noise is none."""
    return len(np.unique(y[y != NOISE]))


@dataclass(frozen=True)
class Algorithm:
    """An algorithm and how to run it.

    Parameters
    ----------
    name : str
        Name on the command line and in the store.
    title : str
        Name in the paper.
    make : callable
        Function of a dict of parameters and a seed that returns a new scikit-learn estimator: with `fit`,
        with `partial_fit` if it is incremental, and with `predict` or `labels_`.
    count : callable, default=n_clusters
        Function of a fitted estimator that returns its numbers of nodes (None if it has none) and clusters,
        as the paper counts them.
    incremental : bool, default=False
        True if the algorithm can learn class after class.
    space : dict, default={}
        Search space: name of a parameter -> lowest and highest value, two integers or two floats, and "log"
        as a third element for a logarithmic scale.
    kind : {"compared", "ablation", "extensions", "references", "streams"}, default="compared"
        "compared": a column of the paper's tables, or any algorithm that is added; "ablation": a variant
        of IDAT for the paper's ablation, which runs in the nonstationary setting only; "extensions": an
        extension of IDAT that the paper does not have; "references": offline clustering that users know,
        which is not ranked; "streams": river's clusterers of streams, which are not ranked either.
    given : callable, optional
        Function of all samples and classes that returns the parameters which the protocol derives from the
        data, such as the number of classes.
    told : str, default=""
        What `given` tells the algorithm about the data, in words, such as "number of classes".
    needs : str, default=""
        Module of an optional package, without which the algorithm is left out.
    extra : str, default="bench"
        The extra of everclust that installs this package.
    in_stored_order : bool, default=False
        Do not shuffle the rows in the stationary setting. The paper does so for an algorithm that is
        deterministic but depends on the order of the rows.
    warms_up : bool, default=True
        Fit a few samples before the time measurement, so that compiled code is loaded.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from everclust.benchmark.run.registry import Algorithm
    >>> kmeans = Algorithm(
    ...     "kmeans", "k-means", make=lambda params, seed: KMeans(**params, random_state=seed),
    ...     space={"n_clusters": (2, 50)},
    ... )
    """

    name: str
    title: str
    make: Callable[[dict[str, Any], int], Any]
    count: Callable[[Any], tuple[int | None, int]] = n_clusters
    incremental: bool = False
    space: Mapping[str, Range] = field(default_factory=dict)
    kind: str = "compared"
    given: Given = nothing_given
    told: str = ""
    needs: str = ""
    extra: str = "bench"
    in_stored_order: bool = False
    warms_up: bool = True

    @property
    def is_told(self) -> str:
        """All that the algorithm is told besides the samples, in words."""
        return "; ".join(filter(None, [self.told, SEARCHED if self.space else ""])) or "nothing"

    @property
    def is_installed(self) -> bool:
        """True if the package that the algorithm needs is installed."""
        return not self.needs or find_spec(self.needs) is not None


ALGORITHMS: dict[str, Algorithm] = {}


def register(algorithm: Algorithm) -> None:
    """Add an algorithm.

    Parameters
    ----------
    algorithm : Algorithm

    Raises
    ------
    ValueError
        If another algorithm has that name, or the name cannot be used on the command line.
    """
    name = algorithm.name
    if name in GROUPS or not name or set(name) & set(", \n"):
        raise ValueError(
            f"An algorithm cannot be called {name!r}; choose a single word that is not a group's name."
        )
    if ALGORITHMS.setdefault(name, algorithm) != algorithm:
        raise ValueError(f"There is an algorithm called {name!r} already; choose another name.")


def algorithm_called(name: str) -> Algorithm:
    """Look up an algorithm by name.

    Parameters
    ----------
    name : str

    Returns
    -------
    algorithm : Algorithm

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    if name not in ALGORITHMS:
        known = ", ".join([*ALGORITHMS, *GROUPS])
        raise ValueError(f"There is no algorithm called {name!r}; choose from {known}.")
    return ALGORITHMS[name]


GROUPS: dict[str, Callable[[Algorithm], bool]] = {
    "all": lambda algorithm: algorithm.kind in ("compared", "extensions"),
    "ablation": lambda algorithm: algorithm.kind == "ablation",
    "extensions": lambda algorithm: algorithm.kind == "extensions",
    "references": lambda algorithm: algorithm.kind == "references",
    "streams": lambda algorithm: algorithm.kind == "streams",
}
