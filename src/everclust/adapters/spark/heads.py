"""The first rows of all partitions, some of which the base learns, and forks do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql.functions import monotonically_increasing_id

from .columns import has_bad_value
from .rows import rows_of_batches

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    Batches = Iterator[pa.RecordBatch]

MOST_BASE, BASE_SHARE = 2_000, 4  # as docs/merging.md recommends
SCHEMA = "part int, whole boolean, n int, X binary"
_FIELDS = pa.schema([("part", pa.int32()), ("whole", pa.bool_()), ("n", pa.int32()), ("X", pa.binary())])


def read_heads(features: DataFrame, n_rows: int) -> DataFrame:
    """The first rows of each partition as one value, and whether these are all.

    Rows that cannot be learnt come too, wherever they are, so that they are refused before any is learnt.
    The JVM leaves out the rest. A task in Python that left it unread would be the last one of its process,
    and the next would have to import everything anew, which takes longer than to scan half a million rows.
    """
    number = monotonically_increasing_id().bitwiseAND(2**33 - 1)  # of a row in its partition
    bad = reduce(or_, map(has_bad_value, features.schema))
    return features.filter((number <= n_rows) | bad).mapInArrow(_read_head(n_rows), SCHEMA)


def _read_head(n_rows: int) -> Callable[[Batches], Batches]:

    def read(batches: Batches) -> Batches:
        head, rest = split_head(rows_of_batches(batches), n_rows)
        if len(head):
            whole = not sum(map(len, rest))
            row = {"part": part_number(), "whole": whole, "n": len(head), "X": head.tobytes()}
            yield pa.RecordBatch.from_pylist([row], _FIELDS)

    return read


def n_of_base(n_rows: int, n_head: int) -> int:
    """How many rows of a partition the base learns, given the number of its first rows."""
    return min(n_head, n_rows // BASE_SHARE)


def split_head(tables: Iterator[np.ndarray], n_rows: int) -> tuple[np.ndarray, Iterator[np.ndarray]]:
    """The first rows of tables, and the rest."""
    head: list[np.ndarray] = []
    while sum(map(len, head)) < n_rows and (X := next(tables, None)) is not None:
        head.append(X)
    first = np.concatenate(head) if head else np.empty((0, 0))
    return first[:n_rows], chained(first[n_rows:], tables)


def chained(first: np.ndarray, rest: Iterator[np.ndarray]) -> Iterator[np.ndarray]:
    if len(first):
        yield first
    yield from rest


def part_number() -> int:
    """Number of the partition that this task works on."""
    return TaskContext.get().partitionId()
