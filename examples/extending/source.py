"""A source of your own: the rows of a SQLite table, which a run can leave and come back to."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from everclust import EverClust
from everclust.stream import Batch, Columns, Run
from everclust.stream.checkpoint import Checkpoints
from everclust.stream.resume import resume
from everclust.stream.run import run

ROWS = 1000  # in a batch


class SqliteTable:
    """All rows of a table in the order of their rowids. A position is the last rowid that was read."""

    named = True
    endless = False
    wants_checkpoint = False

    def __init__(self, path: str, table: str) -> None:
        self.connection, self.table = sqlite3.connect(path), table

    def batches(self, position: int | None = None) -> Iterator[Batch]:
        """Rows after a position."""
        while rows := self._rows_after(position or 0):
            ids = [row[0] for row in rows]
            names = [row[0] for row in self.cursor.description][1:]
            table = pa.Table.from_pylist([dict(zip(names, row[1:], strict=True)) for row in rows])
            yield Batch(table, lambda n_rows, ids=ids: ids[n_rows - 1])
            position = ids[-1]

    def _rows_after(self, rowid: int) -> list[tuple]:
        self.cursor = self.connection.execute(
            f"SELECT rowid, * FROM {self.table} WHERE rowid > ? ORDER BY rowid LIMIT {ROWS}", (rowid,)
        )
        return self.cursor.fetchall()

    def acknowledge(self, position: int | None) -> None:
        """A table keeps its rows: there is nothing to tell it."""

    def fraction(self, position: int | None) -> float:
        """Share of the table that lies before a position."""
        (last,) = self.connection.execute(f"SELECT max(rowid) FROM {self.table}").fetchone()
        return (position or 0) / last

    def lag(self) -> dict[str, int]:
        """What is left to be read is not counted."""
        return {}

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()


def learn(limit: int | None = None) -> None:
    """Learn the table, from the last checkpoint on."""
    checkpoints = Checkpoints(Path("saved"), warn=print)
    checkpoints.open()
    job = Run(
        EverClust(),
        SqliteTable("plant.db", "readings"),
        Columns(),
        url="plant.db",
        model_path=Path("plant.everclust"),
        checkpoints=checkpoints,
        limit=limit,
    )
    resume(job)
    summary = run(job)
    print(f"rows {summary.resumed_at} to {summary.rows}, {job.model.n_clusters_} clusters")


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[rng.integers(0, 3, 9000)]
    with sqlite3.connect("plant.db") as database:
        database.execute("CREATE TABLE readings (heat REAL, load REAL)")
        database.executemany("INSERT INTO readings VALUES (?, ?)", X.tolist())
    learn(limit=4000)
    learn()
