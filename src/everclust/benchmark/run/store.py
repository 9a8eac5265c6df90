"""Results in one SQLite file: one row per job, written as it finishes.

Added rows are synced to disk: they survive a killed process or a power failure. Several processes may write
at the same time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np

from . import details
from .details import KEY
from .jobs import Job, Key, Result
from .partitions import FURTHER
from .provenance import now
from .registry import algorithm_called

FORMAT = 2
MAGIC = b"SQLite format 3\0"
PATIENCE = 60.0  # seconds to wait while another process writes
NO_SCORES = dict.fromkeys(FURTHER)
TYPES = {
    **dict.fromkeys(KEY, "TEXT NOT NULL"),
    "seed": "INTEGER NOT NULL",
    "status": "TEXT NOT NULL",
    "error": "TEXT",
    **dict.fromkeys(("ari", "ami"), "REAL"),
    **dict.fromkeys(("step_ari", "step_ami"), "TEXT"),
    **dict.fromkeys(("ai_ari", "ai_ami", "bwt_ari", "bwt_ami", "bwt_printed_ari", "bwt_printed_ami"), "REAL"),
    **dict.fromkeys(("nodes", "clusters"), "INTEGER"),
    **dict.fromkeys(("train_seconds", "train_cpu_seconds"), "REAL"),
    "peak_memory": "INTEGER",
    "history": "TEXT",
    **dict.fromkeys(("started_at", "finished_at", "versions", "machine"), "TEXT NOT NULL"),
    "parameters": "TEXT",
    **dict.fromkeys(("node_ari", "node_ami"), "REAL"),
}
ASKED = ("algorithm", "dataset", "setting", "seed")
_COLUMNS = ", ".join(f"{name} {kind}" for name, kind in TYPES.items())
_CREATE = f"CREATE TABLE IF NOT EXISTS results ({_COLUMNS}, PRIMARY KEY ({', '.join(KEY)}))"
_REPLACE = ", ".join(f"{name} = excluded.{name}" for name in TYPES if name not in KEY)
_ADD = (  # an "ok" result is never replaced, any other is
    f"INSERT INTO results ({', '.join(TYPES)}) VALUES ({', '.join(f':{name}' for name in TYPES)}) "
    f"ON CONFLICT DO UPDATE SET {_REPLACE} WHERE results.status != 'ok'"
)
_CREATE_ASKED = (
    f"CREATE TABLE IF NOT EXISTS asked ({', '.join(f'{name} {TYPES[name]}' for name in ASKED)}, "
    "params_json TEXT, title TEXT NOT NULL, kind TEXT NOT NULL, told TEXT NOT NULL, asked_at TEXT NOT NULL, "
    f"PRIMARY KEY ({', '.join(ASKED)}))"
)
_ASK = (
    f"INSERT INTO asked ({', '.join(ASKED)}, params_json, title, kind, told, asked_at) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
    "params_json = excluded.params_json, title = excluded.title, kind = excluded.kind, told = excluded.told, "
    "asked_at = excluded.asked_at"
)


class StoreError(Exception):
    """The store cannot be used; the message is one sentence for the user."""


class Store:
    """The results of all jobs so far.

    Parameters
    ----------
    path : str or Path
        The file; it is created if it does not exist.
    create : bool, default=True
        If False, a missing file is an error.

    Raises
    ------
    StoreError
        If the file is not a store, is damaged or cannot be opened.

    Examples
    --------
    >>> from everclust.benchmark.run.jobs import Job, Result
    >>> from everclust.benchmark.run.store import Store
    >>> with Store("results.sqlite") as store:
    ...     store.add(Result(Job("idat", "iris", "stationary", 1), "ok", ari=0.5))
    ...     [row["ari"] for row in store.results()]
    [0.5]
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        if not create and not self.path.exists():
            raise StoreError(f"There is no store at {self.path}; create one with `everclust bench run`.")
        with self._explained():
            self._check_beginning()
            # joblib may deliver results from other threads.
            self._connection = sqlite3.connect(self.path, timeout=PATIENCE, check_same_thread=False)
            self._connection.row_factory = sqlite3.Row
            try:
                self._open()
            except BaseException:
                self._connection.close()
                raise

    def _check_beginning(self) -> None:
        """Check the magic number: SQLite would overwrite a short file of any kind."""
        if self.path.is_file() and self.path.stat().st_size:
            with self.path.open("rb") as file:
                if file.read(len(MAGIC)) != MAGIC:
                    raise sqlite3.DatabaseError("file is not a database")

    def _open(self) -> None:
        (found,) = self._connection.execute("PRAGMA quick_check").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError(found)
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version > FORMAT:
            raise StoreError(
                f"{self.path} has format {version}, but this everclust reads up to {FORMAT}; upgrade it."
            )
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        with self._connection:
            self._connection.execute(_CREATE)
            details.create(self._connection)
            self._connection.execute(_CREATE_ASKED)
            self._check_columns()
            self._connection.execute(f"PRAGMA user_version = {FORMAT}")

    def _check_columns(self) -> None:
        """Refuse another data base."""
        found = {row["name"] for row in self._connection.execute("PRAGMA table_info(results)")}
        if found != set(TYPES):
            raise sqlite3.DatabaseError("the table has other columns")

    def ask(self, jobs: Iterable[Job], *, are_tuned: bool = True) -> None:
        """Remember that jobs were asked for, so that a report can say which of them are missing.

        Parameters
        ----------
        jobs : iterable of Job
            Of algorithms that are registered.
        are_tuned : bool, default=True
            False if a search may change the parameters before the jobs are run.
        """
        rows = []
        for job in jobs:
            algorithm = algorithm_called(job.algorithm)
            params = job.params_json if are_tuned else None
            known = algorithm.title, algorithm.kind, algorithm.is_told
            rows.append((*job.key[:-1], params, *known, now()))
        with self._explained(), self._connection:
            self._connection.executemany(_ASK, rows)

    def asked(self) -> list[dict[str, Any]]:
        """All jobs that were asked for, in the order in which they were first.

        Returns
        -------
        rows : list of dict
            With algorithm, dataset, setting and seed; params_json, None if no search has found them yet;
            title and kind of the algorithm, and what it is told; asked_at.
        """
        with self._explained():
            return [dict(row) for row in self._connection.execute("SELECT * FROM asked ORDER BY rowid")]

    def add(self, result: Result) -> None:
        """Write a result. An "ok" result of the same job stays; any other is replaced.

        Parameters
        ----------
        result : Result
        """
        with self._explained(), self._connection:
            self._connection.execute(_ADD, result.row())
            if result.status == "ok" and result.details is not None:
                details.add(self._connection, result.job.key, result.details)

    def done(self, *, retry: bool = False) -> set[Key]:
        """Keys of the finished jobs: all but those whose data set or package was missing.

        Parameters
        ----------
        retry : bool, default=False
            Only successful jobs.

        Returns
        -------
        keys : set of tuple
            (algorithm, dataset, setting, seed, params_json), see `Job.key`.
        """
        wanted = "status = 'ok'" if retry else "status NOT IN ('missing', 'uninstalled')"
        with self._explained():
            rows = self._connection.execute(f"SELECT {', '.join(KEY)} FROM results WHERE {wanted}")
            return {Job(*row).key for row in rows}

    def results(self) -> list[dict[str, Any]]:
        """All rows, in the order of their first insertion.

        Returns
        -------
        rows : list of dict
            Keyed by column. step_ari, step_ami, history, versions and machine are JSON text. The further
            scores are None for runs of an everclust that did not compute them; the key "labellings" holds
            the scores against each labelling, if there are several.
        """
        with self._explained():
            scores = details.scores_by_key(self._connection)
            rows = [dict(row) for row in self._connection.execute("SELECT * FROM results ORDER BY rowid")]
        return [row | NO_SCORES | scores.get(tuple(row[name] for name in KEY), {}) for row in rows]

    def labels(self) -> Iterator[tuple[Key, np.ndarray]]:
        """Label vectors of all runs that have one.

        Yields
        ------
        key : tuple
            See `Job.key`.
        labels : ndarray of shape (n_samples,)
            Cluster of each sample, in the order of the data set's file.
        """
        with self._explained():
            for key, labels in details.labels_by_key(self._connection):
                yield Job(*key).key, labels

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"The store {self.path} cannot be used ({error}); check its folder, or choose another file."
            ) from None
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"{self.path} is not a store of results, or damaged ({error}); choose another file."
            ) from None
