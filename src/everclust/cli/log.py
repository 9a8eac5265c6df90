"""The log of a run: one line on standard error for each thing that happened, as text or as JSON."""

from __future__ import annotations

import json
import sys
import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import typer

from ..stream.secrets import masked
from ..stream.urls import source_name
from ..version import __version__

if TYPE_CHECKING:
    from ..stream.job import Run

FORMATS = ("text", "json")


class Log:
    """Writes lines; safe to call from any thread.

    Parameters
    ----------
    format : {"text", "json"}
    """

    def __init__(self, format: str) -> None:
        if format not in FORMATS:
            raise typer.BadParameter(f"--log-format is {format!r}, but it must be {' or '.join(FORMATS)}.")
        self.as_json = format == "json"
        self._lock = threading.Lock()

    def __call__(self, event: str, sentence: str, level: str = "info", **fields: Any) -> None:
        """Write a line: what happened, as a word and as a sentence; JSON has the fields, too."""
        now, sentence = datetime.now(UTC), " ".join(sentence.split())
        time = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        if self.as_json:
            line = json.dumps({"time": time, "level": level, "event": event, "message": sentence, **fields})
        else:
            line = f"{time} {level.upper()} {event}: {sentence}"
        with self._lock:
            sys.stderr.write(masked(line) + "\n")
            sys.stderr.flush()


def begin_log(job: Run, log: Log | None) -> None:
    """Let a run that is about to begin log what happens to it."""
    if log is None:
        return
    job.log = log
    outage = getattr(job.source, "outage", None)
    if outage is not None:
        outage.log = log
    what = "learns" if job.learns else "reads"
    into = f" with {job.model_path}" if job.model_path is not None else ""
    log(
        "start",
        f"everclust {__version__} {what} {source_name(job.url)}{into}.",
        version=__version__,
        algorithm=job.model._algorithm,
        source=job.url,
        model=None if job.model_path is None else str(job.model_path),
        samples=job.n_seen,
    )
    kept = job.keyed if job.keyed is not None else job.checkpoints
    if job.rows and kept is not None:
        log(
            "resume",
            f"The run goes on after row {job.rows:,}, from its checkpoint in {kept.folder}.",
            rows=job.rows,
            skipped=job.skipped,
            samples=job.n_seen,
        )
