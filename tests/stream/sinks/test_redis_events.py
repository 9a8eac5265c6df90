"""Events in a Redis stream: an outage of its server neither delays nor ends a run, and loses no event."""

import json
import time

import pytest

from everclust import load
from everclust.stream.sinks import queued
from everclust.stream.sinks.events import open_event_sink
from support import servers

MANY_EVENTS = ["--id", "name", "--label", "kind", "--algorithm", "idat"]


def added(port):
    """(Id, kind) of all entries."""
    import redis

    with redis.Redis(port=port) as client:
        return [(entry.decode(), fields[b"kind"].decode()) for entry, fields in client.xrange("events")]


def expected(model):
    found, last = [], (None, -1)
    for event in model.events():
        last = (event.sample, last[1] + 1 if event.sample == last[0] else 0)
        found.append((f"{last[0]}-{last[1]}", event.kind))
    return found


@pytest.fixture
def port():
    pytest.importorskip("redis", reason="redis is not installed")
    return servers.free_port()


def test_a_server_that_is_away_does_not_keep_a_run_waiting(points, folder, port, sentence, monkeypatch):
    monkeypatch.setattr(queued, "LAST_SECONDS", 0.3)
    url, started = f"redis://127.0.0.1:{port}/events", time.monotonic()
    said = sentence("fit", points, "-m", "m", *MANY_EVENTS, "--limit", 600, "-e", url, code=5)
    assert time.monotonic() - started < 30, "a minute was waited for it before"
    assert said.startswith(f"{url} does not accept events: ")
    n_events = len(load("m").events())
    assert f"keeps {n_events} events for the next run of the model" in said
    (queue,) = folder.glob("m.*.queue")
    assert len(queue.read_text().splitlines()) == n_events


def test_writing_does_not_wait_for_a_server_that_hangs(tmp_path, port):
    """It listens, but never answers."""
    import socket

    with socket.create_server(("127.0.0.1", port), backlog=1):
        sink = open_event_sink(f"redis://127.0.0.1:{port}/events", lambda mark: tmp_path / mark)
        sink.rewind(None)
        started = time.monotonic()
        for sample in range(1, 100):
            sink.write([{"sample": sample, "number": 0, "kind": "born"}])
        assert time.monotonic() - started < 1
        sink.abort()


@pytest.mark.slow
def test_events_of_an_outage_come_later_in_order_and_once(
    points, folder, tmp_path_factory, port, call, monkeypatch
):
    url, words = f"redis://127.0.0.1:{port}/events", ["-m", "m", *MANY_EVENTS]
    data = tmp_path_factory.mktemp("valkey")
    keep = ["--appendonly", "yes", "--appendfsync", "always"]
    with servers.valkey(data, *keep, port=port):
        call("fit", points, *words, "--limit", 300, "-e", url)
        assert added(port) == expected(load("m"))
    with monkeypatch.context() as patch:
        patch.setattr(queued, "LAST_SECONDS", 0.3)
        update = ["update", points, "-m", "m", *MANY_EVENTS[:4]]
        call(*update, "--limit", 300, "-e", url, code=5)
    with servers.valkey(data, *keep, port=port):
        call(*update, "--limit", 100, "-e", url)
        assert added(port) == expected(load("m"))
    assert not list(folder.glob("*.queue"))
    assert json.loads(call("info", "m", "--json"))["samples"] == 700
