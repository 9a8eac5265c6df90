"""Export a store for other programs: runs and cells as CSV and JSON, LaTeX tables, label vectors as .npz."""

from __future__ import annotations

import csv
import io
import json
import math
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ....atomic import write_atomically
from ...run.details import KEY
from ...run.partitions import ALL, FURTHER
from ...run.store import TYPES, Store, StoreError
from ..names import remembering
from ..outcomes import DONE, Measure, Outcomes, Result, cell_statistics, gather
from ..parameters import parameter_kind
from .latex import latex_tables

FORMATS = ("csv", "json", "latex", "labels")
BEST = tuple(f"best_{name}" for name in ALL)
AS_JSON = ("step_ari", "step_ami", "history", "versions", "machine")
NUMBERS = tuple(name for name, kind in TYPES.items() if kind in ("REAL", "INTEGER"))
CELL_MEASURES = (*NUMBERS, *FURTHER, *BEST)
RUN_COLUMNS = ("run", *TYPES, *FURTHER, *BEST, "labellings")


def export(store_path: str | Path, folder: str | Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write the results of a store into a folder.

    Parameters
    ----------
    store_path : str or Path
        A file of `everclust.benchmark.run.store.Store`.
    folder : str or Path
        It is created if it does not exist; files of an earlier export are replaced.
    formats : sequence of {"csv", "json", "latex", "labels"}, optional
        "csv" writes cells.csv and runs.csv, "json" the same as cells.json and runs.json, "latex" tables.tex,
        "labels" labels.npz with one array per run, named as in the column "run" of runs.csv.

    Returns
    -------
    paths : list of Path
        The files that were written.

    Raises
    ------
    ValueError
        If a format is unknown; then nothing is written.
    StoreError
        If the store does not exist, is damaged, or holds no results.
    """
    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        raise ValueError(
            f"There is no export format called {unknown[0]!r}; choose from {', '.join(FORMATS)}."
        )
    folder = Path(folder)
    with Store(store_path, create=False) as store:
        runs, asked = run_records(store.results()), store.asked()
        if not runs:
            raise StoreError(f"The store {store_path} holds no results yet; run `everclust bench run` first.")
        folder.mkdir(parents=True, exist_ok=True)
        files: dict[str, Callable[[], Iterable[bytes]]] = {}
        if "csv" in formats:
            files["cells.csv"] = lambda: [_csv(cell_records(runs, asked))]
            files["runs.csv"] = lambda: [_csv(runs)]
        if "json" in formats:
            files["cells.json"] = lambda: [_json(cell_records(runs, asked))]
            files["runs.json"] = lambda: [_json(runs)]
        if "latex" in formats:
            files["tables.tex"] = lambda: [_latex(runs, asked)]
        if "labels" in formats:
            files["labels.npz"] = lambda: _npz(_named_labels(store, runs))
        for name, parts in files.items():
            write_atomically(folder / name, parts())
    return [folder / name for name in files]


def run_records(rows: Iterable[Result]) -> list[dict[str, Any]]:
    """Runs as records: rows of the store with a name of their own, and lists and dicts decoded.

    Parameters
    ----------
    rows : iterable of dict
        From `everclust.benchmark.run.store.Store.results`.

    Returns
    -------
    records : list of dict
        With the keys `RUN_COLUMNS`.
    """
    records = []
    for k, row in enumerate(rows, start=1):
        decoded = {name: json.loads(row[name]) for name in AS_JSON if isinstance(row[name], str)}
        record = {"run": f"run-{k:06}"} | row | decoded
        records.append({name: record.get(name) for name in RUN_COLUMNS})
    return records


def cell_records(runs: Sequence[Result], asked: Sequence[Result] = ()) -> list[dict[str, Any]]:
    """Cells as records: mean and standard deviation of every measure over the runs of one place.

    Parameters
    ----------
    runs : sequence of dict
        From `run_records`. Of several sets of parameters the latest counts, as in the report.
    asked : sequence of dict, default=()
        From `Store.asked`: runs that were asked for and not made are counted in "other_runs".

    Returns
    -------
    records : list of dict
        The standard deviation has n − 1 in its denominator; None for a single run.
    """
    outcomes = gather(runs, asked)
    return [_cell(outcomes, place) for place in outcomes]


def _cell(outcomes: Outcomes, place: tuple[str, str, str]) -> dict[str, Any]:
    runs = outcomes[place]
    algorithm, dataset, setting = place
    record: dict[str, Any] = {"algorithm": algorithm, "dataset": dataset, "setting": setting}
    record["parameters"] = parameter_kind(outcomes, place)
    record["params_json"] = runs[0]["params_json"]
    record["runs"] = sum(run["status"] == DONE for run in runs)
    record["other_runs"] = len(runs) - record["runs"]
    for name in CELL_MEASURES:
        found = cell_statistics(outcomes, place, Measure(name, name, 3))
        record[f"{name}_mean"] = found.mean if found else None
        record[f"{name}_std"] = found.deviation if found and not math.isnan(found.deviation) else None
    return record


def _latex(runs: Sequence[Result], asked: Sequence[Result]) -> bytes:
    with remembering(asked):
        return latex_tables(gather(runs, asked)).encode()


def _csv(records: Sequence[dict[str, Any]]) -> bytes:
    """Records as CSV; lists and dicts become JSON text, None becomes an empty field."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]), lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerow({name: _field(value) for name, value in record.items()})
    return text.getvalue().encode()


def _field(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value


def _json(records: Sequence[dict[str, Any]]) -> bytes:
    return (json.dumps(records, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _named_labels(store: Store, runs: Sequence[dict[str, Any]]) -> Iterator[tuple[str, np.ndarray]]:
    names = {tuple(run[name] for name in KEY): run["run"] for run in runs}
    return ((names[key], labels) for key, labels in store.labels() if key in names)


def _npz(arrays: Iterable[tuple[str, np.ndarray]]) -> Iterator[bytes]:
    """The bytes of an .npz file, one array after the other, so that all labels need not fit into memory."""
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays:
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
            yield pipe.take()
    yield pipe.take()


class _Pipe(io.RawIOBase):
    """A stream that keeps what is written until it is taken."""

    def __init__(self) -> None:
        self._kept = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._kept += data
        return len(data)

    def take(self) -> bytes:
        """What was written since the last call."""
        taken = bytes(self._kept)
        self._kept.clear()
        return taken
