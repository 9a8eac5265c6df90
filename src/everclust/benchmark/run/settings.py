"""The two settings of the paper: orders in which the samples arrive; further settings share these orders."""

from __future__ import annotations

import numpy as np

from ..data.entry import NOISE

SETTINGS = ("stationary", "nonstationary")
ALIASES = {"class-incremental": "nonstationary"}
# Settings beside the paper's two, and that of the two whose order of samples and parameters they share.
FURTHER_SETTINGS = {
    "scaled": "stationary",
    "prequential": "stationary",
    "prequential-nonstationary": "nonstationary",
}
SCALES = (0.1, 10.0)  # a change of units by one decimal place in either direction


def setting_called(name: str) -> str:
    """Look up a setting by name or alias.

    Parameters
    ----------
    name : str

    Returns
    -------
    setting : str
        "stationary", "nonstationary", or one of `FURTHER_SETTINGS`.

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    setting = ALIASES.get(name, name)
    if setting not in (*SETTINGS, *FURTHER_SETTINGS):
        known = ", ".join([*SETTINGS, *ALIASES, *FURTHER_SETTINGS])
        raise ValueError(f"There is no setting called {name!r}; choose from {known}.")
    return setting


def stationary(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """All rows in random order.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    seed : int
        Seed of the run; the paper uses 1 to 30.

    Returns
    -------
    order : ndarray of shape (n_samples,)
        Indices of the rows.
    """
    return np.random.RandomState(seed).permutation(len(X))


def class_incremental(
    X: np.ndarray,
    y: np.ndarray,
    seed: int,
    *,
    reshuffle_within_class: bool = False,
    within_seed: int = 0,
) -> list[np.ndarray]:
    """Rows in the nonstationary setting: class after class.

    As in the authors' program, `seed` draws the order of the classes for each run, whereas the order of the
    rows within the classes is drawn once for all runs. A data set with two classes therefore has only two
    different runs, and the result depends on this one shuffle: try other values of `within_seed`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Each row of noise arrives with a random class.
    seed : int
        Seed of the run; the paper uses 1 to 30.
    reshuffle_within_class : bool, default=False
        Draw the order within the classes for each run, from `seed`.
    within_seed : int, default=0
        Seed of the order within the classes, the same in all runs.

    Returns
    -------
    steps : list of ndarray
        Indices of the rows of one class each, in the order learnt.

    Examples
    --------
    >>> import numpy as np
    >>> from everclust.benchmark.run.settings import class_incremental
    >>> y = np.array([0, 0, 0, 1, 1])
    >>> [y[step].tolist() for step in class_incremental(y[:, None], y, seed=3)]
    [[1, 1], [0, 0, 0]]
    """
    random = np.random.RandomState(seed)
    y = _noise_spread(y, within_seed)
    rows = [np.flatnonzero(y == label) for label in np.unique(y)]
    learnt = random.permutation(len(rows))
    if reshuffle_within_class:
        return [random.permutation(rows[k]) for k in learnt]
    once = np.random.RandomState(within_seed)
    shuffled = [once.permutation(of_class) for of_class in rows]
    return [shuffled[k] for k in learnt]


def _noise_spread(y: np.ndarray, seed: int) -> np.ndarray:
    """Classes with noise assigned at random: noise is no class, so it has no step of its own."""
    is_noise = y == NOISE
    if not is_noise.any():
        return y
    spread = y.copy()
    spread[is_noise] = np.random.RandomState(seed).choice(np.unique(y[~is_noise]), is_noise.sum())
    return spread


def rescaled(X: np.ndarray, seed: int) -> np.ndarray:
    """Each feature in other units: multiplied by a random factor, log-uniform between 0.1 and 10.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    seed : int
        Seed of the run.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    """
    low, high = np.log(SCALES)
    return X * np.exp(np.random.RandomState(seed).uniform(low, high, size=X.shape[1]))
