"""A sink of your own: events of clusters go to Python's logging."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from everclust import EverClust
from everclust.stream import Columns, Run, open_source
from everclust.stream.run import run

LEVELS = {"gone": logging.ERROR, "quiet": logging.WARNING}


class LogSink:
    """Writes each event as a line of the log; what was logged cannot be taken back."""

    name = "log"

    def __init__(self) -> None:
        self.log = logging.getLogger("clusters")

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Log events, each under a level of its kind."""
        for event in events:
            level = LEVELS.get(event["kind"], logging.INFO)
            self.log.log(level, "sample %d: %s %s", event["sample"], event["kind"], event["after"])

    def mark(self) -> None:
        """A log has no position."""

    def rewind(self, mark: Any) -> None:
        """After a crash, the last events are logged again: sample and number identify them."""

    def finish(self) -> None:
        """Nothing to close."""

    def abort(self) -> None:
        """Nothing to close."""


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 2)) + 8 * rng.integers(0, 2, (6000, 1))
    np.savetxt("rows.csv", X, delimiter=",", header="a,b", comments="")
    columns = Columns()
    job = Run(EverClust(), open_source("rows.csv", columns), columns, model_path=Path("rows.everclust"))
    job.event_sinks.append(LogSink())
    print(run(job).rows, "rows")
