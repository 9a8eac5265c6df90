"""`fit`: one model of a DataFrame, learnt by forks on its partitions and merged on the executors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql.functions import col, floor
from pyspark.sql.functions import sum as total

from ...core.merging.recount import PairCounts
from ...estimators.everclust import EverClust
from ...estimators.merging import count_pairs, merge, recount
from .columns import errors_of_columns, feature_columns, feature_names
from .heads import BASE_SHARE, MOST_BASE, chained, n_of_base, part_number, read_heads, split_head
from .model_bytes import from_bytes, shared, to_bytes
from .rows import rows_of_batches

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame

    from ...estimators.idat import IDAT

    Model = EverClust | IDAT
    Batches = Iterator[pa.RecordBatch]

ROWS_A_NODE = 20  # as docs/merging.md recommends
# Models in a group of the tree, which one task merges one after the other. 64 forks of 350 nodes on two busy
# cores took 10.9, 4.5, 3.6 and 3.0 s with groups of 2, 4, 8 and 16, best of three: shuffles cost more than
# mergers. Wider groups would leave large clusters idle: of 1,000 forks, 33 mergers are in a row with groups
# of 16, and 78 with groups of 64.
FAN_IN = 16
SEED = 0  # of the sample that is recounted

HANDOVER, EVIDENCE, N_ROWS = range(3)  # tables of PairCounts
_BASE = pa.schema([("whole", pa.bool_()), ("model", pa.binary())])
_PART = pa.schema([("part", pa.int32()), ("model", pa.binary())])


def fit(df: DataFrame, columns: str | Sequence[str], model: Model | None = None) -> Model:
    """Learn a DataFrame: every partition is learnt by one fork of a common base, and the forks are merged.

    Rows stay on the executors; models and counts of pairs travel. The result depends on how the rows are
    partitioned, and on nothing else. One task learns a DataFrame of at most 8,000 rows, as one stream.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        It is read up to three times: its first rows, all rows, and a sample of all rows. Cache it if that is
        expensive, or if another reading would give other rows.
    columns : str or sequence of str
        Columns of numbers, arrays of numbers or vectors.
    model : EverClust or IDAT, default=EverClust()
        A new model, whose parameters are used, or a fitted one, which the rows are added to. It does not
        change.

    Returns
    -------
    model : EverClust or IDAT
    """
    features = df.select(*feature_columns(df, columns).values())
    given = EverClust() if model is None else model
    with errors_of_columns():
        if given.__sklearn_is_fitted__():
            return learn_forks(features, given.fork())
        found = _fit_new(features, given)
    names = feature_names(df, columns)
    if names is not None:
        found.feature_names_in_ = np.array(names, dtype=object)
    return found


def _fit_new(features: DataFrame, new: Model) -> Model:
    n_parts = features.rdd.getNumPartitions()
    n_head = max(1, MOST_BASE // n_parts)
    heads = read_heads(features, BASE_SHARE * n_head)
    found = heads.repartition(1).mapInArrow(_learn_base(new, n_head), "whole boolean, model binary").collect()
    if not found:
        raise ValueError("The DataFrame has no rows; there is nothing to learn.")
    base = from_bytes(bytes(found[0].model))
    if found[0].whole:
        return base
    merged = learn_forks(features, base, n_head)
    # A recount of IDAT's edges is worse where partitions hold different classes: docs/merging.md.
    return recounted(features, merged) if n_parts > 1 and isinstance(merged, EverClust) else merged


# The base


def _learn_base(new: Model, n_head: int) -> Callable[[Batches], Batches]:
    """Learn all rows if the heads are all rows, and a quarter of them, or `n_head` a partition, if not."""

    def learn(batches: Batches) -> Batches:
        heads = sorted((row for batch in batches for row in batch.to_pylist()), key=lambda row: row["part"])
        if not heads:
            return
        whole, model = all(row["whole"] for row in heads), new.copy()
        for row in heads:
            X = np.frombuffer(row["X"]).reshape(row["n"], -1).copy()
            X = X if whole else X[: n_of_base(row["n"], n_head)]
            if len(X):
                model._learn_rows(X)
        row = {"whole": whole, "model": to_bytes(model)}
        yield pa.RecordBatch.from_pylist([row], _BASE)

    return learn


# Forks


def learn_forks(features: DataFrame, base: Model, n_head: int = 0) -> Model:
    """The base and all rows that it has not learnt, which are all but the heads of the partitions."""
    context = features.sparkSession.sparkContext
    sent = context.broadcast(to_bytes(base))
    forks = features.mapInArrow(_learn_fork(sent, n_head), "part int, model binary")
    level, n = forks, features.rdd.getNumPartitions()
    while n > 1:
        n = -(-n // FAN_IN)
        groups = level.withColumn("part", floor(col("part") / FAN_IN).cast("int")).repartition(n, "part")
        level = groups.groupBy("part").applyInArrow(_merge_group(sent), "part int, model binary")
    found = [from_bytes(bytes(row.model)) for row in level.collect()]
    sent.destroy()
    return merge(found, base) if found else base


def _learn_fork(sent: Broadcast[bytes], n_head: int) -> Callable[[Batches], Batches]:
    def learn(batches: Batches) -> Batches:
        base = shared(sent.value)
        head, rest = split_head(rows_of_batches(batches), BASE_SHARE * n_head)
        model = base.fork()
        for X in chained(head[n_of_base(len(head), n_head) :], rest):
            model._learn_rows(X)
        if model.n_samples_seen_ > base.n_samples_seen_:
            yield _model_row(part_number(), model)

    return learn


def _merge_group(sent: Broadcast[bytes]) -> Callable[[pa.Table], pa.Table]:
    def merge_models(table: pa.Table) -> pa.Table:
        merged = merge([from_bytes(data) for data in table["model"].to_pylist()], shared(sent.value))
        return pa.Table.from_batches([_model_row(table["part"][0].as_py(), merged)])

    return merge_models


def _model_row(part: int, model: Model) -> pa.RecordBatch:
    row = {"part": part, "model": to_bytes(model)}
    return pa.RecordBatch.from_pylist([row], _PART)


# The recount


def recounted(features: DataFrame, model: Model) -> Model:
    """The model with its hand-overs, evidence and edges counted anew, in a sample of all rows."""
    share = ROWS_A_NODE * model.n_nodes_ / model.n_samples_seen_
    rows = features.sample(share, SEED) if share < 1 else features
    sent = features.sparkSession.sparkContext.broadcast(to_bytes(model))
    counts = rows.mapInArrow(_count(sent), "kind byte, i int, j int, n long")
    found = counts.groupBy("kind", "i", "j").agg(total("n").alias("n")).toArrow()
    sent.destroy()
    tables = np.array([found[name] for name in ("kind", "i", "j", "n")], np.int64).T
    tables = tables[np.lexsort(tables[:, 2::-1].T)]
    n_rows = int(tables[tables[:, 0] == N_ROWS, 3].sum())
    if not n_rows:
        return model
    handover, evidence = (tables[tables[:, 0] == kind, 1:] for kind in (HANDOVER, EVIDENCE))
    return recount(model, PairCounts(n_rows, model.n_nodes_, handover, evidence))


def _count(sent: Broadcast[bytes]) -> Callable[[Batches], Batches]:
    def count(batches: Batches) -> Batches:
        model = shared(sent.value)
        counts = [count_pairs(model, X) for X in rows_of_batches(batches)]
        if counts:
            yield _rows_of_counts(reduce(add, counts))

    return count


def _rows_of_counts(counts: PairCounts) -> pa.RecordBatch:
    n_rows = np.array([[0, 0, counts.n_rows]])
    tables = {HANDOVER: counts.handover, EVIDENCE: counts.evidence, N_ROWS: n_rows}
    kind = np.concatenate([np.full(len(table), kind, np.int8) for kind, table in tables.items()])
    i, j, n = np.concatenate(list(tables.values())).T
    return pa.RecordBatch.from_arrays(
        [pa.array(kind), pa.array(i.astype(np.int32)), pa.array(j.astype(np.int32)), pa.array(n)],
        ["kind", "i", "j", "n"],
    )
