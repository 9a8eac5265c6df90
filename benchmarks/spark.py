"""Rows a second of Spark against plain Python on an idle machine, printed by `make spark-bench`.

One Parquet folder, read by plain Python in one process, and by clusters of one and of two executors with one
core each on this machine. Spark's times include everything but the start of its session. The first call also
starts Python workers, which import everclust. Arguments: number of rows, of features, of repetitions.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from everclust import EverClust
from support.spark_session import spark_session

N_FILES = 8


def write(folder: str, n_rows: int, n_features: int) -> list[str]:
    """Write rows of 20 clouds; returns the names of the columns."""
    rng, names = np.random.default_rng(21), [f"x{k}" for k in range(n_features)]
    centres = rng.normal(size=(20, n_features)) * 3
    for number in range(N_FILES):
        n = n_rows // N_FILES
        X = centres[rng.integers(0, 20, n)] + rng.normal(size=(n, n_features))
        pa.parquet.write_table(pa.table(dict(zip(names, X.T, strict=True))), f"{folder}/{number}.parquet")
    return names


def timed(work: Callable[[], Any], n_times: int) -> tuple[list[float], Any]:
    """Seconds of each call, and the last result."""
    seconds, found = [], None
    for _ in range(n_times):
        began = time.perf_counter()
        found = work()
        seconds.append(time.perf_counter() - began)
    return seconds, found


def plain(folder: str, n_times: int) -> dict[str, list[float]]:
    """Plain Python on one core."""

    def tables() -> Any:
        for batch in pa.dataset.dataset(folder).to_batches(batch_size=10_000):
            yield np.stack([column.to_numpy() for column in batch.columns], axis=1)

    def fit() -> EverClust:
        model = EverClust()
        for X in tables():
            model._learn_rows(np.ascontiguousarray(X))
        return model

    seconds, model = timed(fit, n_times)
    scoring = timed(lambda: sum(model._predict_rows(X).sum() for X in tables()), n_times)[0]
    return {"fit": seconds, "predict": scoring}


def on_spark(folder: str, names: list[str], n_executors: int, n_times: int) -> dict[str, list[float]]:
    """Executors of one core each."""
    from everclust.adapters.spark import fit, predict

    began = time.perf_counter()
    session = spark_session(f"local-cluster[{n_executors},1,1500]", jvm="", spark_executor_memory="1500m")
    print(f"session of {n_executors}: {time.perf_counter() - began:.1f} s", flush=True)
    df = session.read.parquet(folder).coalesce(n_executors)
    seconds, model = timed(lambda: fit(df, names), n_times)
    assert model.n_samples_seen_ == df.count()
    scoring = timed(lambda: predict(df, model).selectExpr("sum(cluster)").collect(), n_times)[0]
    session.stop()
    return {"fit": seconds, "predict": scoring}


def main(n_rows: int = 4_000_000, n_features: int = 16, n_times: int = 3) -> None:
    """Measure all and print rows a second: of the first call, and of the best."""
    folder = tempfile.mkdtemp()
    try:
        names = write(folder, n_rows, n_features)
        print(f"{n_rows:,} x {n_features}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        ways = {"plain Python": lambda: plain(folder, n_times)}
        for n in (1, 2):
            ways[f"Spark, executors: {n}"] = lambda n=n: on_spark(folder, names, n, n_times)  # type: ignore[misc]
        print("| | fit: first | fit: best | predict: first | predict: best |\n|---|---|---|---|---|")
        for way, measure in ways.items():
            found = measure()
            cells = [f"{n_rows / s:,.0f}" for part in found.values() for s in (part[0], min(part))]
            print(f"| {way} | {' | '.join(cells)} |", flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
