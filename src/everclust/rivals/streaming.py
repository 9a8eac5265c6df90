"""What the incremental algorithms take in: finite numbers, as wide as expected, or nothing at all."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from ..persistence import LARGEST
from ..snapshot import plain

_INPUT = ("n_features_in_", "feature_names_in_")


def rows_to_learn(estimator: Any, X: Any, *, reset: bool) -> np.ndarray:
    """X as a C-contiguous float64 array that can be learnt.

    With `reset`, the estimator notes the number and names of the features; otherwise they must be the
    same as before. On any error the estimator is as it was.
    """
    before = {name: estimator.__dict__[name] for name in _INPUT if name in estimator.__dict__}
    try:
        return _checked(estimator, X, reset)
    except BaseException:
        for name in set(_INPUT) - before.keys():
            estimator.__dict__.pop(name, None)
        estimator.__dict__.update(before)
        raise


def rows_to_predict(estimator: Any, X: Any) -> np.ndarray:
    """X as a C-contiguous float64 array for a model that was fitted with as many features."""
    check_is_fitted(estimator)
    return _checked(estimator, X, reset=False)


def _checked(estimator: Any, X: Any, reset: bool) -> np.ndarray:
    X = validate_data(estimator, X, reset=reset, dtype=np.float64, order="C")
    largest = max(abs(float(X.max())), abs(float(X.min())))
    if largest > LARGEST:
        raise ValueError(
            f"X holds a value of magnitude {largest:.3g}, but distances can only be computed up to "
            f"{LARGEST:g}; rescale the feature it is in."
        )
    return plain(X)
