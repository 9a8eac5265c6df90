"""Feature columns of a DataFrame: their names and types, and errors that executors found in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.errors import PythonException, StreamingQueryException
from pyspark.ml.functions import vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.sql.functions import abs as abs_
from pyspark.sql.functions import coalesce, col, exists, lit
from pyspark.sql.types import ArrayType, DataType, NumericType, StructField

from ...model.rows import LARGEST

if TYPE_CHECKING:
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


def has_bad_value(field: StructField) -> Column:
    """Whether a row of float64 numbers or arrays of them has a value that cannot be learnt.

    To Spark, NaN is larger than any number.
    """
    column = col(f"`{field.name}`")
    bad = exists(column, _is_bad) if isinstance(field.dataType, ArrayType) else _is_bad(column)
    return coalesce(bad, lit(True))


def _is_bad(number: Column) -> Column:
    return coalesce(abs_(number) > LARGEST, lit(True))


def feature_names(df: DataFrame, columns: str | Sequence[str]) -> list[str] | None:
    """Names of the features, or None where a column holds several."""
    names = [columns] if isinstance(columns, str) else list(columns)
    return names if all(isinstance(type_of(df, name), NumericType) for name in names) else None


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
