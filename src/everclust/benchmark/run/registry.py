"""The register of algorithms, by name.

To add one, write a file that calls `register` and give it to ``everclust bench run --with``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Range = tuple[int, int] | tuple[float, float] | tuple[float, float, str]
Given = Callable[[np.ndarray, np.ndarray], dict[str, Any]]


def n_clusters(estimator: Any) -> tuple[int | None, int]:
    """No nodes, and as many clusters as there are labels.

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
    """An algorithm that is told nothing about the data beforehand."""
    return {}


@dataclass(frozen=True)
class Algorithm:
    """An algorithm by name, and how to run it.

    Parameters
    ----------
    name : str
        For the command line and the store.
    title : str
        As the paper writes it.
    make : callable
        From a dict of parameters and a seed to a new estimator in scikit-learn's manner. It has `fit`,
        and `partial_fit` if it is incremental; and `predict`, or else `labels_`.
    count : callable, default=n_clusters
        From a trained estimator to its numbers of nodes (None if it has none) and clusters, as the paper
        counts them.
    incremental : bool, default=False
        Can it learn class after class?
    space : dict, default={}
        What is to be tuned: name of a parameter -> lowest and highest value, two integers or two floats,
        and "log" as a third to search on a logarithmic scale.
    kind : {"compared", "ablation", "extensions"}, default="compared"
        "compared": a column of the paper's tables, or any algorithm that is added; "ablation": a variant
        of IDAT for the paper's ablation, which runs in the nonstationary setting only; "extensions": an
        extension of IDAT that the paper does not have.
    given : callable, optional
        From all samples and classes to parameters that the algorithm is told beforehand, such as the number
        of classes, by the paper's protocol.
    in_stored_order : bool, default=False
        Does it run on the rows as they are stored, in the stationary setting? The paper's numbers of an
        algorithm that draws nothing at random but depends on the order are of that order.
    warms_up : bool, default=True
        Fit a few samples before the clock starts, so that compiled code is loaded.

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
    in_stored_order: bool = False
    warms_up: bool = True


ALGORITHMS: dict[str, Algorithm] = {}


def register(algorithm: Algorithm) -> None:
    """Add an algorithm.

    Parameters
    ----------
    algorithm : Algorithm

    Raises
    ------
    ValueError
        If another one has that name, or the name cannot be given on the command line.
    """
    name = algorithm.name
    if name in GROUPS or not name or set(name) & set(", \n"):
        raise ValueError(f"An algorithm cannot be called {name!r}; choose a word that is no group's name.")
    if ALGORITHMS.setdefault(name, algorithm) != algorithm:
        raise ValueError(f"There is an algorithm called {name!r} already; choose another name.")


def algorithm_called(name: str) -> Algorithm:
    """The algorithm of that name.

    Parameters
    ----------
    name : str

    Returns
    -------
    algorithm : Algorithm

    Raises
    ------
    ValueError
        If there is none.
    """
    if name not in ALGORITHMS:
        known = ", ".join([*ALGORITHMS, *GROUPS])
        raise ValueError(f"There is no algorithm called {name!r}; choose from {known}.")
    return ALGORITHMS[name]


GROUPS: dict[str, Callable[[Algorithm], bool]] = {
    "all": lambda algorithm: algorithm.kind in ("compared", "extensions"),
    "ablation": lambda algorithm: algorithm.kind == "ablation",
    "extensions": lambda algorithm: algorithm.kind == "extensions",
}
