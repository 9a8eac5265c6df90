"""Feature columns of a DataFrame: their types, and their values as rows of finite numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.errors import PythonException, StreamingQueryException
from pyspark.ml.functions import vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.sql.functions import col
from pyspark.sql.types import ArrayType, DataType, NumericType

from ...model.rows import LARGEST

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas import DataFrame as Frame
    from pyspark.sql import Column, DataFrame


def feature_columns(df: DataFrame, columns: str | Sequence[str]) -> dict[str, Column]:
    """The columns as float64 numbers or arrays of them, by name; refuses those that are neither."""
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names:
        raise ValueError("There are no feature columns; name at least one.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"Column {twice[0]!r} is named twice; name each feature column once.")
    return {name: _as_float64(name, type_of(df, name)) for name in names}


def type_of(df: DataFrame, name: str) -> DataType:
    """The type of a column, which must exist."""
    if name not in df.columns:
        there = ", ".join(map(repr, df.columns))
        raise ValueError(f"There is no column {name!r}; name one of {there}.")
    return df.schema[name].dataType


def _as_float64(name: str, kind: DataType) -> Column:
    column = col(f"`{name}`")
    if isinstance(kind, NumericType):
        return column.cast("double").alias(name)
    if isinstance(kind, ArrayType) and isinstance(kind.elementType, NumericType):
        return column.cast("array<double>").alias(name)
    if isinstance(kind, VectorUDT):
        return vector_to_array(column).alias(name)
    raise TypeError(
        f"Column {name!r} is of type {kind.simpleString()}, but features are numbers, arrays of numbers or "
        "vectors; cast it, encode it (pyspark.ml.feature.OneHotEncoder), or leave it out."
    )


def feature_names(df: DataFrame, columns: str | Sequence[str]) -> list[str] | None:
    """Names of the features, or None where a column holds several."""
    names = [columns] if isinstance(columns, str) else list(columns)
    return names if all(isinstance(type_of(df, name), NumericType) for name in names) else None


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


@contextmanager
def errors_of_columns() -> Iterator[None]:
    """Raise what an executor found in a column as the plain error that it was there."""
    try:
        yield
    except (PythonException, StreamingQueryException) as error:
        found = re.search(r"ValueError: ((?:Column|The columns) .*)", str(error))
        if found is None:
            raise
        raise ValueError(found[1]) from None
