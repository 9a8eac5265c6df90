"""Validation of the rows that estimators learn or predict: finite numbers, as many features as expected."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np
from numpy import vdot
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from .model.file_checks import check_distinct
from .model.rows import FLOAT64, LARGEST, as_kernel_rows

SMALL_CELLS = 8192  # values of an array that is checked by its sum of squares
_SET_BY_RESET = ("n_features_in_", "feature_names_in_")  # by scikit-learn, before it validates the numbers


@contextmanager
def all_or_nothing(estimator: Any, names: tuple[str, ...] = ()) -> Iterator[None]:
    """Leave an estimator exactly as it was when anything goes wrong inside.

    With names, only these attributes: another thread may change others meanwhile.
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


def validated_rows(estimator: Any, X: Any, *, reset: bool, as_is: bool = False) -> np.ndarray:
    """X as a C-contiguous float64 array that the estimator can learn.

    With `reset`, number and names of the features become the estimator's; otherwise they must match. With
    `as_is`, numbers of another type or in another order stay as they are, which saves a copy. An error
    leaves the estimator unchanged.
    """
    with all_or_nothing(estimator, _SET_BY_RESET):
        return _validated(estimator, X, reset, as_is)


def validated_rows_to_predict(estimator: Any, X: Any, *, as_is: bool = False) -> np.ndarray:
    """The same for rows that a fitted estimator predicts."""
    check_is_fitted(estimator)
    return X if needs_no_validation(estimator, X, 2) else _validated(estimator, X, False, as_is)


def refuse_arguments(method: str, arguments: Mapping[str, Any]) -> None:
    """Raise an error for arguments that `fit` and `partial_fit` do not have."""
    if "sample_weight" in arguments:
        raise TypeError(
            f"{method} takes no sample_weight, because every sample counts once; repeat a row to make it "
            "count more often."
        )
    for name in arguments:
        raise TypeError(f"{method}() got an unexpected keyword argument {name!r}")


def as_table(x: Any) -> Any:
    """One row, as `learn_one` takes it, as a table of one row."""
    if isinstance(x, Mapping):
        return [x]
    if hasattr(x, "to_frame") and np.ndim(x) == 1:  # a pandas.Series, whose index names the features
        return x.to_frame().T
    row = np.asarray(x)
    if row.ndim != 1:
        raise ValueError(
            f"learn_one takes one row of features, but got an array with {row.ndim} dimensions; "
            "use partial_fit for several rows."
        )
    return row.reshape(1, -1)


def _validated(estimator: Any, X: Any, reset: bool, as_is: bool) -> np.ndarray:
    form: dict[str, Any] = {"dtype": "numeric"} if as_is else {"dtype": np.float64, "order": "C"}
    form["ensure_all_finite"] = False  # checked below, with a message that names the cell
    if issparse(X):
        raise TypeError(
            "X is sparse, but prototypes are dense: reduce it with sklearn.decomposition.TruncatedSVD, or "
            "pass X.toarray() if that fits into memory."
        )
    if isinstance(X, np.ma.MaskedArray) and (n_masked := int(np.sum(X.mask))):
        raise ValueError(
            f"X has {n_masked} masked values; drop their rows, or fill them, as X.filled() does in NumPy."
        )
    if isinstance(X, Sequence) and len(X) and isinstance(X[0], Mapping):
        X = _rows_of_dicts(estimator, X, reset, form)
    else:
        X = _validated_array(estimator, X, reset, form)
    if reset and "feature_names_in_" in vars(estimator):
        _check_names(estimator.feature_names_in_)
    if not max(abs(float(X.max())), abs(float(X.min()))) <= LARGEST:  # NaN is not
        _refuse_value(X, getattr(estimator, "feature_names_in_", range(X.shape[1])))
    return X if as_is else as_kernel_rows(X)


def _refuse_value(X: np.ndarray, names: Sequence[Any]) -> NoReturn:
    """Raise an error for the first value that no distance can be computed from."""
    X = np.asarray(X, dtype=np.float64)  # others may overflow at the limit
    refused = ~(np.abs(X) <= LARGEST)
    row, column = (int(k) for k in np.argwhere(refused)[0])
    value, name = float(X[row, column]), names[column]
    place = f"in row {row} of {len(X)}, counted from 0, column {name!r}"
    if np.isnan(value):
        n_rows = int(np.isnan(X).any(axis=1).sum())
        raise ValueError(
            f"Input X contains NaN, a missing value, {place} ({n_rows} of the rows have some); drop these "
            "rows, as X.dropna() does in pandas, or fill them, as sklearn.impute.SimpleImputer does."
        )
    if np.isinf(value):
        raise ValueError(f"Input X contains infinity {place}; drop the row, or replace the value.")
    raise ValueError(
        f"Input X contains a value of magnitude {abs(value):.3g} {place}, but distances can only be computed "
        f"up to {LARGEST:g}; rescale the feature."
    )


def _validated_array(estimator: Any, X: Any, reset: bool, form: dict[str, Any]) -> np.ndarray:
    """What scikit-learn makes of an array or a table; an error about text names the columns that hold it."""
    if times := _time_columns(X):
        _refuse_columns(times)
    try:
        array = validate_data(estimator, X, reset=reset, **form)
        if array.dtype.kind in "mM":
            raise TypeError(
                "X holds times, but distances need numbers; leave them out, or encode them first, such as "
                "by the hour of the day."
            )
        return (
            array.astype(np.float64) if array.dtype.kind == "O" else array
        )  # lists with None, polars tables
    except (TypeError, ValueError):
        refused = [str(name) for name in getattr(X, "columns", ()) if _holds_no_numbers(X[name])]
        if not refused:
            raise
        _refuse_columns(refused)


def _time_columns(X: Any) -> list[str]:
    """Columns of a polars table that hold times, which NumPy would take for integers."""
    columns = zip(getattr(X, "columns", ()), getattr(X, "dtypes", ()), strict=False)
    return [str(name) for name, dtype in columns if hasattr(dtype, "is_temporal") and dtype.is_temporal()]


def _refuse_columns(refused: Sequence[str]) -> NoReturn:
    names = ", ".join(map(repr, refused[:10])) + (", …" if len(refused) > 10 else "")
    raise ValueError(
        f"X has columns that hold no numbers, but distances need numbers: {names}; leave them out, as "
        "X.select_dtypes('number') does in pandas, or encode them as numbers first."
    ) from None


def _holds_no_numbers(column: Any) -> bool:
    """Whether a column of a table holds text, times or other things that are no numbers."""
    kind = getattr(getattr(column, "dtype", None), "kind", "O")  # polars has none
    if kind in "biuf":  # numbers, some of which may be missing
        return False
    values = np.asarray(column)
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return True
    return values.dtype.kind in "mM"


def _check_names(names: Sequence[str]) -> None:
    """Names that a model file can hold, because what is learnt must not be impossible to save."""
    try:
        check_distinct(names)
    except ValueError as error:
        raise ValueError(f"X has names of features that no model can have: {error}.") from None


def _rows_of_dicts(
    estimator: Any, rows: Sequence[Mapping[str, Any]], reset: bool, form: dict[str, Any]
) -> np.ndarray:
    """Rows with named values in any order; all must have the names of the first one or of the model."""
    known = None if reset else getattr(estimator, "feature_names_in_", None)
    if known is None and not reset:
        raise ValueError(
            "X has rows with named features, but the model has learnt rows without names; pass arrays."
        )
    names = [str(name) for name in (rows[0] if known is None else known)]
    for i, row in enumerate(rows):
        if not all(isinstance(name, str) for name in row):
            raise TypeError(f"Row {i} of X has the features {[*row]}, but names of features must be strings.")
        if set(row) != set(names):
            raise ValueError(
                f"Row {i} of X has the features {sorted(map(str, row))}, but {sorted(names)} were expected."
            )
    X = check_array(np.array([[row[name] for name in names] for row in rows]), input_name="X", **form)
    if reset:
        estimator.n_features_in_ = len(names)
        estimator.feature_names_in_ = np.array(names, dtype=object)
    return X


def needs_no_validation(estimator: Any, X: Any, ndim: int) -> bool:
    """Whether X is what a running stream passes: an array that kernels can take as it is."""
    if type(X) is not np.ndarray or X.dtype != FLOAT64 or X.ndim != ndim:
        return False
    attributes, flags = estimator.__dict__, X.flags
    if X.shape[-1] != attributes["n_features_in_"] or "feature_names_in_" in attributes:
        return False
    if not (flags.c_contiguous and flags.aligned):  # or NumPy 1.26 breaks down in `vdot`
        return False
    # `vdot` is the fastest way, but would start threads for large arrays. It is false for NaN and infinities
    # too, and for values that are just large. `dot` would warn of overflow, `vdot` does not.
    if 0 < (size := X.size) <= SMALL_CELLS:
        return bool(vdot(X, X) < LARGEST)
    return size > 0 and bool(X.min() > -LARGEST and X.max() < LARGEST)
