"""The scale of the data: the smallest that is taken, and min–max scaling with bounds fixed beforehand."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..model.rows import LARGEST

SMALLEST = 1 / LARGEST  # the squares of smaller values, and so the distances, would vanish in float64


def refuse_vanishing(X: np.ndarray, smallest: float = SMALLEST) -> None:
    """Raise ValueError if all values are so small that their differences vanish; all zeros are accepted."""
    largest = float(np.abs(X).max())
    if 0.0 < largest < smallest:
        raise ValueError(
            f"X has a scale of {largest:.3g}, but differences below {smallest:g} vanish in this algorithm; "
            "rescale the features."
        )


class Bounds(NamedTuple):
    """Minimum and maximum of each feature; values outside are clipped."""

    minima: np.ndarray
    maxima: np.ndarray


def observed_bounds(X: np.ndarray) -> Bounds:
    """Minimum and maximum of each feature over the rows of X."""
    return Bounds(X.min(axis=0), X.max(axis=0))


def given_bounds(bounds: Any, n_features: int) -> Bounds:
    """Check the bounds that a user passes: (minima, maxima), each one number or one per feature.

    Raises
    ------
    ValueError
        If their shape does not fit the features, a value is not finite or too large, or a minimum exceeds
        its maximum.
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
