"""`predict`: the cluster of every row of a DataFrame, by a model that is sent to all executors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pyspark.sql.functions import pandas_udf, struct
from sklearn.utils.validation import check_is_fitted

from .columns import feature_columns, feature_names
from .model_bytes import shared, to_bytes
from .rows import rows_of_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ...estimators.everclust import EverClust
    from ...estimators.idat import IDAT


def predict(
    df: DataFrame,
    model: EverClust | IDAT,
    columns: str | Sequence[str] | None = None,
    *,
    output: str = "cluster",
) -> DataFrame:
    """The DataFrame with the cluster of every row; only its features leave the JVM.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Static or streaming.
    model : EverClust or IDAT
    columns : str or sequence of str, default=the model's feature names
    output : str, default="cluster"
        Name of the new column.

    Returns
    -------
    df : pyspark.sql.DataFrame
    """
    check_is_fitted(model)
    names = _columns_of(df, model, columns)
    features = feature_columns(df, names)
    if output in df.columns:
        raise ValueError(f"There is a column {output!r} already; pass another name as output.")
    sent = df.sparkSession.sparkContext.broadcast(to_bytes(model))

    def score(frames: Iterator[pd.DataFrame]) -> Iterator[pd.Series]:
        known = shared(sent.value)
        for frame in frames:
            yield pd.Series(
                _clusters(known, rows_of_frame(frame, names)) if len(frame) else [], dtype="int64"
            )

    scoring: Any = pandas_udf(score, "long")
    return df.withColumn(output, scoring(struct(*features.values())))


def _clusters(model: EverClust | IDAT, X: np.ndarray) -> np.ndarray:
    if X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"The columns hold {X.shape[1]} features, but the model has learnt {model.n_features_in_}; "
            "pass those that it has learnt."
        )
    return model._predict_rows(X)


def _columns_of(df: DataFrame, model: EverClust | IDAT, columns: str | Sequence[str] | None) -> list[str]:
    """The columns that are the model's features."""
    known = [str(name) for name in getattr(model, "feature_names_in_", ())]
    if columns is None and not known:
        raise ValueError("The model has no feature names; pass the columns.")
    names = known if columns is None else [columns] if isinstance(columns, str) else list(columns)
    if known and names != known:
        raise ValueError(
            f"The columns are {names}, but the model has learnt {known}; pass these, in this order."
        )
    found = feature_names(df, names)
    if found is not None and len(found) != model.n_features_in_:
        raise ValueError(
            f"There are {len(found)} columns, but the model has learnt {model.n_features_in_} features; "
            "pass those that it has learnt."
        )
    return names
