"""Metrics of a run over HTTP: `/metrics` for Prometheus, `/healthz` and `/readyz` for supervisors."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from ..optional import require
from ..version import __version__
from .batch import StreamError
from .job import Run

KINDS = (
    "gone",
    "split",
    "merged",
    "born",
    "quiet",
    "back",
    "revised",
)  # of events: a series that is 0 is better than none

MAX_REASONS = 50  # labels: a reason names a column, and there may be thousands of columns


@contextmanager
def served(job: Run, address: str | None) -> Iterator[str | None]:
    """Serve the metrics of a run that is about to begin; yields the URL of the server.

    Parameters
    ----------
    job : Run
    address : str, optional
        `host:port`; port 0 is a free one. Without an address, nothing is served.
    """
    if address is None:
        yield None
        return
    client = require("prometheus_client", extra="metrics", purpose="--metrics")
    registry = client.CollectorRegistry()
    registry.register(RunCollector(job))
    client.ProcessCollector(registry=registry)
    server = _listen(address, _app(job, client.make_wsgi_app(registry)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        host = address.rpartition(":")[0]
        yield f"http://{host}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class RunCollector:
    """The present figures of a run, in the families of the Prometheus client.

    Counters begin with the process at 0, even if the run was resumed: `rate` would take the rows before for
    rows that came at once.
    """

    def __init__(self, job: Run) -> None:
        self.job, self.events = job, EventCounter()
        job.event_sinks = [*job.event_sinks, self.events]
        self.before, self.skipped_before = _counts(job), Counter(job.bad_rows.reasons)

    def collect(self) -> Iterator[Any]:
        """All metrics, each with one value or one for each label."""
        job, core = self.job, require("prometheus_client.core", extra="metrics", purpose="--metrics")
        yield _info(core, job)
        for name, text in COUNTS.items():
            yield core.CounterMetricFamily(
                f"everclust_{name}", text, value=_counts(job)[name] - self.before[name]
            )
        yield _labelled(
            core.CounterMetricFamily(
                "everclust_rows_skipped", "Rows that could not be learnt, by reason.", labels=["reason"]
            ),
            _by_reason(job.bad_rows.reasons.copy(), self.skipped_before),
        )
        yield _labelled(
            core.CounterMetricFamily("everclust_events", "Events of clusters, by kind.", labels=["kind"]),
            {kind: self.events.counts[kind] for kind in KINDS},
        )
        yield _labelled(
            core.CounterMetricFamily(
                "everclust_phase_seconds", "Time of the run, by phase.", labels=["phase"]
            ),
            job.timing.seconds,
        )
        for name, (text, value_of) in GAUGES.items():
            value = value_of(job)
            if value is not None:
                yield core.GaugeMetricFamily(f"everclust_{name}", text, value=value)
        for unit, n_left in job.source.lag().items():
            text = f"What was not read yet of the source, in {unit}."
            yield core.GaugeMetricFamily(f"everclust_source_lag_{unit}", text, value=n_left)


COUNTS = {
    "rows_read": "Rows read.",
    "rows_learnt": "Rows learnt.",
    "nodes_founded": "Nodes that rows have founded; divided by the rows learnt, the share of novel rows.",
}


def _counts(job: Run) -> dict[str, int]:
    founded = job.model._scalar("n_born") if job.n_seen and job.keyed is None else 0
    founded = founded if job.keyed is None else job.keyed.n_founded
    return {
        "rows_read": job.rows,
        "rows_learnt": job.n_seen,
        "nodes_founded": founded,
    }


def _by_reason(now: Counter[str], before: Counter[str]) -> dict[str, float]:
    """Counts of the first MAX_REASONS reasons that came up, and of all others together."""
    named = dict.fromkeys([*now][:MAX_REASONS])
    found: dict[str, float] = {reason: now[reason] - before[reason] for reason in named}
    others = now.total() - before.total() - sum(found.values())
    return {**found, "other": others} if len(now) > MAX_REASONS else found


def _fitted(read: Callable[[Run], float]) -> Callable[[Run], float | None]:
    return lambda job: read(job) if job.n_seen and job.keyed is None else None


GAUGES: dict[str, tuple[str, Callable[[Run], float | None]]] = {
    "samples": ("Samples that the model has learnt in all its life.", lambda job: job.n_seen),
    "models": (
        "Models, one for each key.",
        lambda job: None if job.keyed is None else len(job.keyed.models),
    ),
    "nodes": ("Nodes of the model.", _fitted(lambda job: job.model.n_nodes_)),
    "clusters": ("Clusters of the model.", _fitted(lambda job: job.model.n_clusters_)),
    "vigilance": ("Vigilance threshold of the model.", _fitted(lambda job: job.model.vigilance_)),
    "last_answer_timestamp_seconds": (
        "When the source last answered, with rows or without, in seconds since 1970.",
        lambda job: job.timing.answered_at,
    ),
    "last_row_timestamp_seconds": (
        "When the last rows came, in seconds since 1970.",
        lambda job: job.timing.row_at,
    ),
    "last_checkpoint_timestamp_seconds": (
        "When model and position were last saved, in seconds since 1970.",
        lambda job: job.timing.saved_at,
    ),
}


def _info(core: Any, job: Run) -> Any:
    labels = {"version": __version__, "algorithm": job.model._algorithm, "source": job.url}
    return core.InfoMetricFamily("everclust_run", "What runs.", value=labels)


def _labelled(family: Any, values: dict[str, float]) -> Any:
    for label, value in values.items():
        family.add_metric([label], value)
    return family


class EventCounter:
    """An event sink that counts events by kind."""

    name = "metrics"

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Count events."""
        self.counts.update(event["kind"] for event in events)

    def mark(self) -> None:
        """Counts have no position."""

    def rewind(self, mark: Any) -> None:
        """Counts begin with the process."""

    def finish(self) -> None:
        """Nothing to close."""

    def abort(self) -> None:
        """Nothing to close."""


# The server


def _app(job: Run, metrics: Any) -> Any:
    def answer(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path == "/metrics":
            return metrics(environ, start)
        if path == "/healthz":
            return _text(start, "200 OK", "ok")
        if path == "/readyz":
            is_ready = job.timing.answered_at is not None
            return (
                _text(start, "200 OK", "ok")
                if is_ready
                else _text(start, "503 Service Unavailable", "starting")
            )
        return _text(start, "404 Not Found", "There are /metrics, /healthz and /readyz.")

    return answer


def _text(start: Any, status: str, text: str) -> list[bytes]:
    start(status, [("Content-Type", "text/plain; charset=utf-8")])
    return [f"{text}\n".encode()]


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Server6(_Server):
    address_family = socket.AF_INET6


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *arguments: Any) -> None:
        """Standard error is for messages of the run."""


def _listen(address: str, app: Any) -> WSGIServer:
    host, separator, port = address.rpartition(":")
    if not separator or not host or not port.isdigit() or int(port) > 65535:
        raise StreamError(f"--metrics is {address!r}, but it must be host:port, such as 127.0.0.1:9464.")
    kind, name = (_Server6, host[1:-1]) if host.startswith("[") else (_Server, host)
    try:
        return make_server(name, int(port), app, kind, _QuietHandler)
    except OSError as error:
        raise StreamError(
            f"--metrics cannot listen on {address}: {error.strerror}; choose another address."
        ) from None
