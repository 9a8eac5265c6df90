"""Errors instead of models that would be lost, or were never learnt."""

from __future__ import annotations

import re
from pathlib import Path

from ..estimators.clusterer import Clusterer
from ..stream.batch import StreamError
from ..stream.job import Run, Summary
from ..stream.urls import source_name
from ..text import counted

WRONG_WIDTH = re.compile(r"\d+ instead of \d+ columns")  # a reason to skip a row


def refuse_to_replace(path: Path, force: bool) -> None:
    """Raise an error instead of overwriting a model, unless `--force` was given."""
    if path.exists() and not force:
        raise StreamError(
            f"{path} exists already; continue it with everclust update, or replace it with --force."
        )


def refuse_to_replace_another(job: Run, force: bool) -> None:
    """Raise an error if a resumed run would replace a model that is not from its checkpoints."""
    path, checkpoints = job.model_path, job.checkpoints
    if path is None or checkpoints is None or force or not path.exists() or checkpoints.holds(path):
        return
    raise StreamError(
        f"{path} is not the model of the checkpoints in {checkpoints.folder}, so something else was learnt "
        "in between; choose another model or another checkpoint folder, or replace the model with --force."
    )


def refuse_to_forget(job: Run, known: Clusterer | None) -> None:
    """Raise an error if the model was trained further after its checkpoint was written."""
    if known is not None and job.checkpoints is not None and known.n_samples_seen_ > job.n_seen:
        raise StreamError(
            f"{job.model_path} has learnt {counted(known.n_samples_seen_, 'sample')}, but its checkpoint in "
            f"{job.checkpoints.folder} only {job.n_seen:,}: something else was learnt in between; "
            "choose another checkpoint folder."
        )


def refuse_without_rows(job: Run, promised: Path | None) -> None:
    """Raise an error if no row came, so that a model that was promised is not there."""
    if promised is not None and not job.rows and not job.n_seen:
        raise StreamError(
            f"No rows came from {source_name(job.url)}, so nothing was learnt and {promised} was not "
            "written; check the source."
        )


def refuse_empty(job: Run, summary: Summary) -> None:
    """Raise an error if every row was skipped: there is no model then."""
    if summary.skipped and not job.n_seen:
        hint = "correct the rows, or choose other columns"
        if job.source.named and any(WRONG_WIDTH.fullmatch(reason) for reason in job.bad_rows.reasons):
            hint += "; the first line was taken as the header, so remove it if it is none"
        if any(reason.startswith("no time in column") for reason in job.bad_rows.reasons):
            hint += (
                "; times are written as 2026-11-18T01:30:00Z, as seconds since 1970 or as --time-format says"
            )
        what = "the only row was" if summary.skipped == 1 else f"all {summary.skipped:,} rows were"
        raise StreamError(f"Nothing was learnt, because {what} skipped: {job.bad_rows.summary()}; {hint}.")
