"""Min–max scaling of a stream: bounds are fixed before the first sample is learnt, and never move."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..model.rows import LARGEST


class Bounds(NamedTuple):
    """Least and largest value of every feature; what lies beyond is clipped."""

    minima: np.ndarray
    maxima: np.ndarray


def observed_bounds(X: np.ndarray) -> Bounds:
    """Those of the rows at hand."""
    return Bounds(X.min(axis=0), X.max(axis=0))


def given_bounds(bounds: Any, n_features: int) -> Bounds:
    """Bounds as a user gives them: (minima, maxima), each one number or one per feature.

    Raises
    ------
    ValueError
        If they do not fit the features, are not numbers of moderate size, or a minimum is above its maximum.
    """
    try:
        pair = [np.array(np.broadcast_to(np.asarray(side, float), n_features)) for side in bounds]
    except (TypeError, ValueError):
        pair = []
    if len(pair) != 2:
        raise ValueError(
            f"bounds must be (minima, maxima), each a number or {n_features} of them, one per feature; "
            f"got {bounds!r}."
        )
    if not (np.abs(pair) <= LARGEST).all():  # false for NaN too
        raise ValueError(f"bounds must be numbers between ±{LARGEST:g}; got {bounds!r}.")
    if (pair[0] > pair[1]).any():
        j = int(np.argmax(pair[0] > pair[1]))
        raise ValueError(
            f"bounds must not cross, but feature {j} has minimum {pair[0][j]:g} > maximum {pair[1][j]:g}."
        )
    return Bounds(*pair)


def rescale(X: np.ndarray, bounds: Bounds, cushion: float = 0.0) -> np.ndarray:
    """(x − minimum) / (maximum − minimum + cushion), clipped to [0, 1]; 0 where minimum = maximum."""
    extent = bounds.maxima - bounds.minima + cushion
    shifted = np.clip(X, bounds.minima, bounds.maxima) - bounds.minima
    return np.clip(shifted / np.where(extent > 0.0, extent, 1.0), 0.0, 1.0)
