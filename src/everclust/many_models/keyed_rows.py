"""Rows that come with keys: which keys are valid, and which rows belong to each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from ..estimators.incremental import IncrementalClusterer
from ..model.rows import LARGEST
from .model_folder import Key


def rows_by_key(keys: Sequence[Key]) -> dict[Key, list[int]]:
    """The places of the rows of each key, in the order of the first ones."""
    groups: dict[Key, list[int]] = {}
    for place, key in enumerate(keys):
        groups.setdefault(key, []).append(place)
    return groups


def ask_models(
    model_of: Callable[[Key], IncrementalClusterer | None],
    keys: Sequence[Key],
    X: np.ndarray,
    ask: Callable[[IncrementalClusterer, np.ndarray], np.ndarray],
    unknown: Any,
) -> list[Any]:
    """What the models say of valid rows, and `unknown` for rows of keys that have no model."""
    answers: list[Any] = [unknown] * len(keys)
    for key, places in rows_by_key(keys).items():
        model = model_of(key)
        if model is not None:
            found = ask(model, np.ascontiguousarray(X[places])).tolist()
            for place, answer in zip(places, found, strict=True):
                answers[place] = answer
    return answers


def listed_keys(keys: Any, n_rows: int) -> list[Key]:
    """The key of every row."""
    if isinstance(keys, str | Integral):
        return [checked_key(keys)] * n_rows
    listed = keys.tolist() if hasattr(keys, "tolist") else list(keys)
    if len(listed) != n_rows:
        raise ValueError(
            f"There are {len(listed):,} keys, but X has {n_rows:,} rows; pass a key for each row."
        )
    if {type(key) for key in listed} <= {str, int}:
        return listed
    return [checked_key(key, f"Row {i} has the key") for i, key in enumerate(listed)]


def checked_key(key: Any, where: str = "The key is") -> Key:
    if isinstance(key, str):
        return str(key)
    if isinstance(key, Integral) and not isinstance(key, bool):
        return int(key)
    raise ValueError(f"{where} {key!r}, but keys are strings or integers; convert them, or drop such rows.")


def name_the_bad_row(X: Any, keys: list[Key]) -> None:
    """Raise an error with row, feature and key of the first value that cannot be learnt, if there is one."""
    try:
        bad = ~(np.abs(np.asarray(X, float)) <= LARGEST)
    except (TypeError, ValueError):
        return
    if bad.ndim == 2 and bad.any():
        row, feature = np.argwhere(bad)[0].tolist()
        value = np.asarray(X, float)[row, feature]
        raise ValueError(
            f"Row {row} of X, of key {keys[row]!r}, has {value:g} in feature {feature}, but numbers must be "
            f"finite and at most {LARGEST:g}; drop the row or correct it. Nothing was learnt."
        ) from None
