"""Values of feature columns as rows of finite numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...model.rows import LARGEST

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas import DataFrame as Frame


def rows_of_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[np.ndarray]:
    """The rows of Arrow batches whose columns are all features."""
    for batch in batches:
        if batch.num_rows:
            yield stacked({name: _flat(name, batch.column(name)) for name in batch.schema.names})


def rows_of_frame(frame: Frame, names: Sequence[str]) -> np.ndarray:
    """The rows of a pandas data frame that has at least one."""
    return stacked({name: _flat_series(name, frame[name].to_numpy()) for name in names})


def _flat(name: str, values: Any) -> np.ndarray:
    """An Arrow column of numbers, or of arrays of one length, as a table."""
    if not hasattr(values, "flatten") or not hasattr(values, "value_lengths"):
        return values.to_numpy(zero_copy_only=False).reshape(-1, 1)
    lengths = values.value_lengths().to_numpy(zero_copy_only=False)  # NaN where the array is null
    _check_lengths(name, lengths)
    return values.flatten().to_numpy(zero_copy_only=False).reshape(len(lengths), -1)


def _flat_series(name: str, values: np.ndarray) -> np.ndarray:
    if values.dtype != object:
        return values.reshape(-1, 1)
    _check_lengths(name, np.array([np.nan if row is None else len(row) for row in values]))
    return np.stack([np.asarray(row, float) for row in values])


def _check_lengths(name: str, lengths: np.ndarray) -> None:
    if np.isnan(lengths).any():
        raise ValueError(_missing(name))
    if (lengths != lengths[0]).any():
        other = lengths[lengths != lengths[0]][0]
        raise ValueError(
            f"Column {name!r} has arrays of {lengths[0]} and of {other} numbers; all must have as many."
        )


def stacked(parts: dict[str, np.ndarray]) -> np.ndarray:
    """The tables side by side as a C-contiguous float64 array; refuses what is not finite."""
    X = np.ascontiguousarray(np.concatenate(list(parts.values()), axis=1), np.float64)
    if not (X.min() >= -LARGEST and X.max() <= LARGEST):  # false for NaN, too
        for name, part in parts.items():
            _check_values(name, np.asarray(part, float))
    return X


def _check_values(name: str, values: np.ndarray) -> None:
    if np.isnan(values).any():
        raise ValueError(_missing(name))
    largest = values.flat[np.abs(values).argmax()]
    if abs(largest) > LARGEST:
        raise ValueError(
            f"Column {name!r} has the value {largest:.3g}, but distances can only be computed up to "
            f"{LARGEST:g}; rescale it, or drop the rows with infinite values."
        )


def _missing(name: str) -> str:
    return (
        f"Column {name!r} has missing values (null or NaN); drop such rows with dropna, or impute them "
        "(pyspark.ml.feature.Imputer)."
    )
