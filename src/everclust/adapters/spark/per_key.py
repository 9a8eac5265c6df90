"""`learn_per_key`: one model for each key of a stream, in the state store of Structured Streaming."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pyspark.sql.functions import col
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DoubleType,
    LongType,
    NumericType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from ...estimators.everclust import EverClust
from .columns import feature_columns, type_of
from .model_bytes import from_bytes, to_bytes
from .rows import rows_of_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.state import GroupState

    from ...estimators.idat import IDAT
    from ...model.events import Event

    Model = EverClust | IDAT
    Frames = Iterator[pd.DataFrame]

LARGE = 2**20  # bytes of a model: the state store writes it anew whenever its key has rows
NO_TIMEOUT = "NoTimeout"

EVENT = StructType(
    [
        StructField("sample", LongType()),
        StructField("kind", StringType()),
        StructField("before", ArrayType(LongType())),
        StructField("after", ArrayType(LongType())),
        StructField("sizes", ArrayType(LongType())),
        StructField("centre", ArrayType(DoubleType())),
        StructField("text", StringType()),
    ]
)
STATE = StructType([StructField("model", BinaryType())])


def learn_per_key(
    stream: DataFrame, key: str, columns: str | Sequence[str], sequence: str, model: Model | None = None
) -> DataFrame:
    """Learn a model for each key of a stream, and predict the cluster of every row.

    The models are in the query's checkpoint, and no row is learnt twice or lost when the query is restarted
    from there. Write the result with `foreachBatch`, idempotently by batch id, or into files.

    Parameters
    ----------
    stream : pyspark.sql.DataFrame
        A streaming DataFrame.
    key : str
        Name of the column with the keys.
    columns : str or sequence of str
        Columns of numbers, arrays of numbers or vectors.
    sequence : str
        Column of numbers or timestamps in whose order the rows of a key are learnt within a micro-batch; a
        row that comes in a later micro-batch than it should is learnt when it comes.
    model : EverClust or IDAT, default=EverClust()
        A new model, whose parameters are used, or a fitted one, from which every key starts.

    Returns
    -------
    rows : pyspark.sql.DataFrame
        For each row of the stream its key and sequence, `cluster` (by the key's model after the micro-batch)
        and `events` that it caused: structs as of `Event.to_dict`, usually none.
    """
    features = feature_columns(stream, columns)
    _check_sequence(stream, key, sequence, features)
    rows = stream.select(col(f"`{key}`"), col(f"`{sequence}`"), *features.values())
    output = StructType(
        [
            StructField(key, type_of(stream, key)),
            StructField(sequence, type_of(stream, sequence)),
            StructField("cluster", LongType()),
            StructField("events", ArrayType(EVENT)),
        ]
    )
    start = None if model is None else _start(model)
    learn = _learn(key, sequence, list(features), start)
    return rows.groupBy(f"`{key}`").applyInPandasWithState(learn, output, STATE, "append", NO_TIMEOUT)


def read_models(spark: SparkSession, checkpoint: str) -> DataFrame:
    """The models in the checkpoint of a query of `learn_per_key`, as `from_bytes` reads them.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
    checkpoint : str
        The query's `checkpointLocation`.

    Returns
    -------
    models : pyspark.sql.DataFrame
        Columns `key` and `model`, the bytes of the key's model after the latest micro-batch.
    """
    stored = spark.read.format("statestore").load(checkpoint)
    return stored.select(col("key.*"), col("value.groupState.model").alias("model")).toDF("key", "model")


def _check_sequence(stream: DataFrame, key: str, sequence: str, features: dict[str, Any]) -> None:
    type_of(stream, key)
    kind = type_of(stream, sequence)
    if not isinstance(kind, NumericType | TimestampType | TimestampNTZType):
        raise TypeError(
            f"Column {sequence!r} is of type {kind.simpleString()}, but rows are sorted by numbers or "
            "timestamps; name such a column as the sequence."
        )
    if key == sequence or {key, sequence} & {"cluster", "events"}:
        raise ValueError(
            f"The key is column {key!r} and the sequence column {sequence!r}, but they must differ from each "
            "other and from 'cluster' and 'events', which are added; rename them."
        )
    used = {key, sequence} & set(features)
    if used:
        raise ValueError(f"Column {min(used)!r} is a feature, too; leave it out of the features.")


def _start(model: Model) -> Model | bytes:
    return to_bytes(model.fork()) if model.__sklearn_is_fitted__() else model


def _learn(
    key: str, sequence: str, columns: list[str], start: Model | bytes | None
) -> Callable[[tuple[Any, ...], Frames, GroupState], Frames]:
    """Learn the rows that a micro-batch has for one key."""

    def learn(group: tuple[Any, ...], frames: Frames, state: GroupState) -> Frames:
        parts = list(frames)
        frame = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
        model = from_bytes(bytes(state.get[0])) if state.exists else _new(start)
        order, X = _sorted(frame, sequence, columns)
        n_before = model.n_samples_seen_ if model.__sklearn_is_fitted__() else 0
        model._learn_rows(X)
        state.update((_checked_size(to_bytes(model), group[0]),))
        yield pd.DataFrame(
            {
                key: frame[key].to_numpy()[order],
                sequence: frame[sequence].to_numpy()[order],
                "cluster": model._predict_rows(X),
                "events": _by_row(model.events(n_before), n_before, len(X)),
            }
        )

    return learn


def _new(start: Model | bytes | None) -> Model:
    if start is None:
        return EverClust()
    return from_bytes(start) if isinstance(start, bytes) else start.copy()


def _sorted(frame: pd.DataFrame, sequence: str, columns: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Order of the rows by their sequence, then by their values, and the rows in this order.

    A repeated micro-batch may have its rows in another order; values leave no ties but equal rows.
    """
    X, when = rows_of_frame(frame, columns), frame[sequence]
    if when.isna().any():
        raise ValueError(f"Column {sequence!r} has missing values (null or NaN), so its rows have no order.")
    order = np.lexsort((*X.T[::-1], np.unique(when.to_numpy(), return_inverse=True)[1]))
    return order, np.ascontiguousarray(X[order])


def _by_row(events: list[Event], n_before: int, n_rows: int) -> list[list[dict[str, Any]]]:
    """Events at the samples at which they happened."""
    found: list[list[dict[str, Any]]] = [[] for _ in range(n_rows)]
    for event in events:
        found[event.sample - n_before - 1].append(event.to_dict())
    return found


def _checked_size(data: bytes, key: Any) -> bytes:
    if len(data) > LARGE:
        warnings.warn(
            f"The model of key {key!r} has {len(data):,} bytes, which the state store writes whenever the "
            "key has rows; set max_nodes to keep models small.",
            stacklevel=2,
        )
    return data
