"""A query of `learn_per_key` or `fit_stream` over a folder of Parquet files, to be killed and started again.

Arguments: learn_per_key or fit_stream, the master, a folder with `in/`. Learns one file a micro-batch until
all are learnt. The sink of `learn_per_key` is idempotent: a batch that is repeated replaces itself.
"""

import sys
from pathlib import Path

from everclust.adapters.spark import fit_stream, learn_per_key
from support.spark_session import spark_session

FEATURES = ["a", "b", "c"]
SCHEMA = "sensor string, t long, a double, b double, c double"


def per_key_writer(source, folder: Path):
    """Predictions and events, in a folder for each batch."""

    def write(batch, number):
        batch.write.mode("overwrite").parquet(str(folder / f"out/batch={number}"))

    found = learn_per_key(source, "sensor", FEATURES, "t")
    return found.writeStream.foreachBatch(write).option("checkpointLocation", str(folder / "checkpoint"))


def main(kind: str, master: str, path: str) -> None:
    """Learn everything that is in the folder and not learnt yet."""
    folder = Path(path)
    session = spark_session(master, spark_executor_memory="1g")
    source = session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    if kind == "learn_per_key":
        writer = per_key_writer(source, folder)
    else:
        writer = fit_stream(source, FEATURES, folder)
    writer.trigger(availableNow=True).start().awaitTermination()
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
