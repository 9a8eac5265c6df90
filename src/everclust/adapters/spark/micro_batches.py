"""`fit_stream`: one model of a whole stream, saved after every micro-batch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...estimators.algorithms import load
from .columns import feature_columns
from .learning import fit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ...estimators.everclust import EverClust
    from ...estimators.idat import IDAT

N_KEPT = 2  # models; a repeated micro-batch needs the newest one only


def fit_stream(
    stream: DataFrame, columns: str | Sequence[str], folder: str | Path, model: EverClust | IDAT | None = None
) -> Any:
    """Learn one model of a stream: `fit` adds each micro-batch to it, which is saved with the batch's number.

    A micro-batch that Spark repeats after a failure changes nothing. The newest `batch-*.everclust` in the
    folder is the model; `everclust.load` reads it.

    Parameters
    ----------
    stream : pyspark.sql.DataFrame
        A streaming DataFrame.
    columns : str or sequence of str
        Columns of numbers, arrays of numbers or vectors.
    folder : str or Path
        A folder that the driver can write to, for the models and the query's checkpoint. Where the driver may
        restart on another machine, both must see it.
    model : EverClust or IDAT, default=EverClust()
        What the first micro-batch is added to: a new model, whose parameters are used, or a fitted one.

    Returns
    -------
    writer : pyspark.sql.streaming.DataStreamWriter
        Set its trigger if need be, and call `start()`.
    """
    feature_columns(stream, columns)
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)

    def learn(batch: DataFrame, number: int) -> None:
        _learn_batch(batch, number, columns, path, model)

    return stream.writeStream.foreachBatch(learn).option("checkpointLocation", str(path / "checkpoint"))


def _learn_batch(
    batch: DataFrame,
    number: int,
    columns: str | Sequence[str],
    folder: Path,
    new: EverClust | IDAT | None,
) -> None:
    saved = _saved(folder)
    newest = max(saved, default=-1)
    if newest > number:
        raise ValueError(
            f"{saved[newest]} is of a later micro-batch than {number}, so the checkpoint beside it is not "
            "the one it was learnt with; pass a new folder, and that model if it shall go on learning."
        )
    if newest == number or batch.isEmpty():
        return
    before = load(saved[newest]) if saved else new
    fit(batch, columns, before).save(folder / f"batch-{number}.everclust")
    for old in sorted(saved)[: len(saved) + 1 - N_KEPT]:
        saved[old].unlink(missing_ok=True)


def _saved(folder: Path) -> dict[int, Path]:
    """Saved models by the numbers of their micro-batches."""
    paths = folder.glob("batch-*.everclust")
    return {int(path.stem.removeprefix("batch-")): path for path in paths}
