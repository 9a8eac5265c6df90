"""Writes checkpoints of a run, and resumes it from the latest one."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..estimators.without_sklearn import HandoverClusterer
from .batch import StreamError, UnreachableError
from .checkpoint import Checkpoint
from .job import Run, sinks_of
from .write_file import write_file, writing


def save_and_acknowledge(job: Run) -> None:
    """Write a checkpoint, then acknowledge to the source everything that it holds."""
    if job.n_seen or not job.learns:
        with job.timing.spent("writing"):
            _write(job)
        job.timing.saved_at = time.time()
        _report_checkpoint(job)
    with suppress(UnreachableError):  # the next checkpoint tries again; `batches` raises if it lasts
        job.source.acknowledge(job.position)


def _report_checkpoint(job: Run) -> None:
    kept = job.model_path if job.checkpoints is None else job.checkpoints.folder
    if job.log is not None and kept is not None:
        what = "model" if job.keyed is None else "set of models"
        what = what if job.checkpoints is None else "checkpoint"
        job.log(
            "checkpoint",
            f"The {what} after row {job.rows:,} is saved in {kept}.",
            rows=job.rows,
            skipped=job.skipped,
            samples=job.n_seen,
        )


def _write(job: Run) -> None:
    model_path = job.model_path if job.learns else None
    if job.keyed is not None and job.learns:
        job.keyed.save(_record(job))
        return
    if job.checkpoints is not None:
        saved = job.checkpoints.write(job.model, _record(job))
        if model_path is not None:
            write_file(model_path, saved.read_bytes())
        return
    for sink in sinks_of(job).values():
        sink.mark()  # what is acknowledged next must be on the disk
    if model_path is not None:
        with writing(model_path):
            job.model.save(model_path)


def _record(job: Run) -> dict[str, Any]:
    """What a run needs to go on, besides the model."""
    return {
        "source": job.url,
        "position": job.position,
        "rows": job.rows,
        "skipped": job.skipped,
        "reasons": dict(job.bad_rows.reasons),
        "marks": {name: sink.mark() for name, sink in sinks_of(job).items()},
        "settings": _settings(job),
    }


def resume(job: Run) -> Checkpoint | None:
    """Set a run back to its latest checkpoint, if it has one; `run` sets back the sinks."""
    found = job.checkpoints.latest() if job.checkpoints is not None else None
    if found is not None:
        assert job.checkpoints is not None
        _check_same(job, found.record, job.checkpoints.folder)
        job.model = found.model
        if job.jobs > 1:
            assert isinstance(job.model, HandoverClusterer)  # no other learns on several threads
            job.model.n_jobs = job.jobs
        _restore(job, found.record)
    return found


def resume_keyed(job: Run) -> bool:
    """Set a run of many models back to where they were saved, if that was in the same source."""
    assert job.keyed is not None
    record = job.keyed.record
    if record is None or record["source"] != job.url:
        return False
    _check_same(job, record, job.keyed.folder)
    _restore(job, record)
    return True


def _restore(job: Run, record: dict[str, Any]) -> None:
    _expect_columns_of_model(job)
    job.position = record["position"]
    job.rows, job.skipped = record["rows"], record["skipped"]
    job.bad_rows.restore(record.get("reasons", {}))
    job.marks = record["marks"]


def _expect_columns_of_model(job: Run) -> None:
    """Find the columns that the model has learnt by name, in its order, as if it had been loaded."""
    job.columns.resumed = True
    names = getattr(job.model, "feature_names_in_", None)
    job.columns.expected = None if names is None else [str(name) for name in names]
    job.columns.width = getattr(job.model, "n_features_in_", None)


def _settings(job: Run) -> dict[str, Any]:
    """Settings that must not change when a run is resumed."""
    columns = job.columns
    return {
        "learns": job.learns,
        "block": job.block if job.answers is not None else None,
        "similarity": job.similarity,
        "novel": job.novel,
        "algorithm": job.model._algorithm,
        "parameters": job.model._saved_params(),
        "jobs": job.jobs if job.jobs > 1 else None,
        "columns": columns.chosen,
        "exclude": sorted(columns.exclude),
        "label": columns.label,
        "id": columns.id,
        "time": columns.time,
        "time_format": columns.time_format,
        "key": columns.key,
        "missing": job.bad_rows.missing,
        **job.dialect._asdict(),
    }


def _check_same(job: Run, record: dict[str, Any], folder: Path) -> None:
    now = {"source": job.url, **_settings(job)}
    then = {"source": record["source"], **record["settings"]}
    for name in now:
        if now[name] != then.get(name):
            if name == "block" and None in (now[name], then.get(name)):
                raise _other_predictions(folder, now[name])
            raise StreamError(
                f"The checkpoints in {folder} were made with {name} {then.get(name)!r}, but "
                f"it is {now[name]!r} now; use the same value, or choose another folder."
            )


def _other_predictions(folder: Path, block: int | None) -> StreamError:
    """The error for predictions in one run only; their blocks are whole, so checkpoints lie elsewhere."""
    if block is None:
        what = "with --predictions, but there are none now; give --predictions again"
    else:
        what = "without --predictions, but there are some now; leave --predictions out"
    return StreamError(f"The checkpoints in {folder} were made {what}, or choose another folder.")
