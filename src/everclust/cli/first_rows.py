"""The first rows of a source, or of one key in it, which a plot shows."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..estimators.clusterer import Clusterer
from ..many_models.saved_models import SavedModels
from ..stream.batch import StreamError
from ..stream.blocks import Block, blocks
from ..stream.keyed import KeyedModels
from ..stream.sources import open_source
from ..stream.urls import source_subject, without_password
from .options import ColumnOptions
from .setup import columns_for, dialect_for


class OneKey(NamedTuple):
    """The key of one model of a folder, and the column that holds the keys."""

    column: str
    key: str


def one_key(folder: Path, key: str, column: str | None) -> OneKey:
    """A key, with the column that was named or else the one that the models were learnt with."""
    record = KeyedModels(SavedModels(folder, 1)).record
    column = column or (None if record is None else record["settings"]["key"])
    if column is None:
        raise StreamError(
            f"The models in {folder} were saved by a program of its own, so nothing says which column of the "
            "source holds the keys; name it with --key."
        )
    return OneKey(column, key)


def first_rows(
    model: Clusterer,
    url: str,
    n_rows: int,
    column_options: ColumnOptions,
    id: str | None,
    only: OneKey | None,
) -> np.ndarray:
    """The first complete rows of a source, or of one key in it."""
    columns = columns_for(model, column_options, id, None if only is None else only.column)
    source = open_source(
        url,
        columns,
        format=column_options.format,
        header=column_options.header,
        **dialect_for(column_options)._asdict(),
    )
    parts: list[np.ndarray] = []
    with closing(source):
        for block in blocks(source, columns, None, n_rows, whole=False):
            parts += [] if block is None else [_rows_of(block, only)]
            if sum(map(len, parts)) >= n_rows:
                break
    if not sum(map(len, parts)):
        whose = "" if only is None else f" of the key {only.key!r} in column {only.column!r}"
        raise StreamError(
            f"{source_subject(without_password(url))} has no rows{whose} to draw; check the source."
        )
    return np.concatenate(parts)[:n_rows]


def _rows_of(block: Block, only: OneKey | None) -> np.ndarray:
    return block.X if only is None else block.X[[key == only.key for key in block.keys or []]]
