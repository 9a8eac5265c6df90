"""What estimators take in: finite numbers, as wide as expected, or nothing at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from .model.rows import FLOAT64, LARGEST, as_kernel_rows

SMALL = 8192  # numbers
_NOTED = ("n_features_in_", "feature_names_in_")  # by scikit-learn, before it has looked at the numbers


@contextmanager
def all_or_nothing(estimator: Any, names: tuple[str, ...] = ()) -> Iterator[None]:
    """Leave an estimator exactly as it was when anything goes wrong inside.

    With names, only these attributes: others may be changed by another thread meanwhile.
    """
    attributes = vars(estimator)
    before = {name: attributes[name] for name in names or tuple(attributes) if name in attributes}
    try:
        yield
    except BaseException:
        for name in set(names or attributes) - before.keys():
            attributes.pop(name, None)
        attributes.update(before)
        raise


def rows_to_learn(estimator: Any, X: Any, *, reset: bool, as_is: bool = False) -> np.ndarray:
    """X as a C-contiguous float64 array that can be learnt.

    With `reset`, the estimator notes the number and names of the features; otherwise they must be the
    same as before. With `as_is`, numbers of another type or in another order are left so, which saves a
    copy. On any error the estimator is as it was.
    """
    with all_or_nothing(estimator, _NOTED):
        return _checked(estimator, X, reset, as_is)


def rows_to_predict(estimator: Any, X: Any, *, as_is: bool = False) -> np.ndarray:
    """The same for a model that was fitted with as many features."""
    check_is_fitted(estimator)
    return _checked(estimator, X, False, as_is)


def _checked(estimator: Any, X: Any, reset: bool, as_is: bool) -> np.ndarray:
    form: dict[str, Any] = {"dtype": "numeric"} if as_is else {"dtype": np.float64, "order": "C"}
    X = validate_data(estimator, X, reset=reset, **form)
    largest = max(abs(float(X.max())), abs(float(X.min())))
    if np.isnan(largest):  # scikit-learn 1.6 does not look for NaN among long doubles
        raise ValueError("Input X contains NaN; leave out rows with missing values, or fill them in.")
    if largest > LARGEST:
        raise ValueError(
            f"X holds a value of magnitude {largest:.3g}, but distances can only be computed up to "
            f"{LARGEST:g}; rescale the feature it is in."
        )
    return X if as_is else as_kernel_rows(X)


def is_ready(estimator: Any, X: Any, ndim: int) -> bool:
    """Is X what a running stream passes: a healthy array that needs no further look?"""
    return bool(
        type(X) is np.ndarray
        and X.dtype == FLOAT64
        and X.ndim == ndim
        and X.size > 0
        and X.shape[-1] == estimator.n_features_in_
        and (flags := X.flags).c_contiguous
        and flags.aligned  # or NumPy 1.26 breaks down in `vdot`
        and "feature_names_in_" not in estimator.__dict__
        and _is_moderate(X)
    )


def _is_moderate(X: np.ndarray) -> bool:
    """Is every value finite and far from overflow? May be false for values that are just large."""
    if X.size <= SMALL:  # the quickest way; for large arrays it would start threads
        return bool(np.vdot(X, X) < LARGEST)  # false for NaN and infinities too; `dot` would warn of overflow
    return bool(X.min() > -LARGEST and X.max() < LARGEST)
