"""Webhooks: events wait in a file, are sent in batches, and neither delay nor end a run."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from everclust import IDAT, load
from everclust.stream.batch import UnreachableError
from everclust.stream.sinks import event_queue, queued, webhook
from everclust.stream.sinks.event_queue import EventQueue
from everclust.stream.sinks.events import open_event_sink
from support.servers import free_port
from support.webhook import receiving, wait_for

MANY_EVENTS = ["--id", "name", "--label", "kind", "--algorithm", "idat"]


def hook(url, folder, warnings=None):
    said = [] if warnings is None else warnings
    return open_event_sink(url, lambda mark: folder / f"{mark}.queue", said.append)


def events(*samples):
    return [{"sample": sample, "number": 0, "kind": "born"} for sample in samples]


def test_every_event_arrives_once_and_in_order_although_requests_are_refused(points, X, call, folder):
    with receiving(refusals=2) as receiver:
        call("fit", points, "-m", "m", *MANY_EVENTS, "--limit", 600, "-e", receiver.url)
    expected = IDAT().partial_fit(X[:600]).events()
    assert [(e["sample"], e["kind"]) for e in receiver.events] == [(e.sample, e.kind) for e in expected]
    assert len(set(receiver.samples())) == len(receiver.events)
    assert len(set(receiver.keys[:3])) == 1, "the same batch again"
    assert len(receiver.batches) < len(receiver.events), "in batches"
    assert not list(folder.glob("*.queue"))


def test_a_receiver_that_is_down_for_seconds_does_not_end_the_run(tmp_path):
    port, warnings = free_port(), []
    sink = hook(f"http://127.0.0.1:{port}/hook", tmp_path, warnings)
    sink.rewind(None)
    for sample in range(1, 50):
        sink.write(events(sample))
    time.sleep(1)
    with receiving(port=port) as receiver:
        wait_for(lambda: len(receiver.events) == 49)
        sink.finish()
    assert receiver.samples() == [(sample, 0) for sample in range(1, 50)]
    assert warnings == [], "it was a short outage"


def test_a_long_outage_is_said_once_and_its_end_too(tmp_path, monkeypatch):
    monkeypatch.setattr(queued, "QUIET_SECONDS", 0.1)
    monkeypatch.setattr(queued, "FIRST_PAUSE", 0.05)
    with receiving(refusals=5) as receiver:
        warnings = []
        sink = hook(receiver.url, tmp_path, warnings)
        sink.rewind(None)
        sink.write(events(1))
        wait_for(lambda: receiver.events)
        sink.finish()
    assert len(warnings) == 2
    assert "does not accept events: HTTP Error 503" in warnings[0]
    assert "accepts events again" in warnings[1]
    assert not any("/hook" in sentence for sentence in warnings), "the path may be a secret"


def test_a_slow_receiver_does_not_slow_learning_down(tmp_path):
    with receiving(delay=0.5) as receiver:
        sink = hook(receiver.url, tmp_path)
        sink.rewind(None)
        started = time.monotonic()
        for sample in range(1, 200):
            sink.write(events(sample))
        assert time.monotonic() - started < 0.4, "one request would take longer"
        sink.finish()
    assert receiver.samples() == [(sample, 0) for sample in range(1, 200)]


def test_what_could_not_be_sent_is_kept_and_sent_by_the_next_run(points, folder, call, sentence, monkeypatch):
    monkeypatch.setattr(queued, "LAST_SECONDS", 0.5)
    port = free_port()
    url = f"http://127.0.0.1:{port}/hook"
    said = sentence("fit", points, "-m", "m", *MANY_EVENTS, "--limit", 600, "-e", url, code=5)
    n_events = len(load("m").events())
    assert "does not accept events: " in said
    assert f"queue keeps {n_events} events for the next run of the model." in said
    assert load("m").n_samples_seen_ == 600, "the model is saved"
    with receiving(port=port) as receiver:
        call("update", points, "-m", "m", *MANY_EVENTS[:4], "--limit", 100, "-e", url)
    assert [e["sample"] for e in receiver.events] == [e.sample for e in load("m").events()]
    assert not list(folder.glob("*.queue"))


def test_a_resumed_run_takes_back_what_comes_again(tmp_path):
    url = f"http://127.0.0.1:{free_port()}/hook"
    sink = hook(url, tmp_path)
    sink.rewind(None)
    sink.write(events(1, 2, 3))
    mark = sink.mark()
    sink.write(events(4, 5))
    sink.abort()
    again = hook(url, tmp_path)
    again.rewind(mark)
    again.write(events(4, 6))
    assert [event["sample"] for event in again.queue.first(10)] == [1, 2, 3, 4, 6]
    again.abort()


def test_two_webhooks_of_one_host_are_two_sinks(tmp_path):
    first, second = (hook(f"http://127.0.0.1:9/{path}", tmp_path) for path in ("a", "b"))
    assert first.name != second.name
    assert first.queue.path != second.queue.path


def test_the_end_waits_for_a_receiver_that_hangs_no_longer_than_said(tmp_path, monkeypatch):
    monkeypatch.setattr(queued, "LAST_SECONDS", 0.3)
    monkeypatch.setattr(webhook, "TIMEOUT", 0.5)
    with receiving(delay=3) as receiver:
        sink = hook(receiver.url, tmp_path)
        sink.rewind(None)
        sink.write(events(1))
        started = time.monotonic()
        with pytest.raises(UnreachableError, match="keeps 1 event for the next run"):
            sink.finish()
        assert time.monotonic() - started < 2


def test_a_queue_keeps_its_order_over_cuts_and_crashes(tmp_path, monkeypatch):
    monkeypatch.setattr(event_queue, "MIN_SENT", 100)
    path = tmp_path / "queue"
    queue, added, sent = EventQueue(path), 0, []
    for round_ in range(60):
        queue.append(events(*range(added, added + 7)))
        added += 7
        some = queue.first(3 + round_ % 5)
        sent += [event["sample"] for event in some]
        queue.drop(len(some))
        assert len(queue) == added - len(sent)
    assert path.stat().st_size < 3 * len(queue) * len(json.dumps(events(100)[0]))
    with open(path, "ab") as file:
        file.write(b'{"sample": 9')  # killed in the midst of a line
    again = EventQueue(path)
    left = [event["sample"] for event in again.first(1000)]
    assert left[-len(queue) :] == list(range(len(sent), added)), "at most some come again"
    assert left == sorted(left)
    again.close()
    queue.close()
    last = EventQueue(path)
    assert [event["sample"] for event in last.first(1000)] == list(range(len(sent), added))
    last.close()


def test_headers_with_secrets_go_to_webhooks_of_events_and_alerts(points, call, monkeypatch, capfd):
    monkeypatch.setenv("TOKEN", "s3cret-token")
    with receiving() as ours:
        words = ["fit", points, "-m", "m", *MANY_EVENTS, "--log-format", "json"]
        words += ["-e", ours.url, "--alert-on", "born", "--alert-to", f"{ours.url}/alerts"]
        words += ["--webhook-header", "Authorization: Bearer ${TOKEN}", "--webhook-header", "X-Team:  blue "]
        call(*words)
        assert len(ours.heads) >= 2
        for heads in ours.heads:
            assert heads["Authorization"] == "Bearer s3cret-token"
            assert (heads["X-Team"], heads["Content-Type"]) == ("blue", "application/json")


def test_secrets_in_headers_are_never_shown(points, folder, monkeypatch):
    from typer.testing import CliRunner

    from everclust.cli.app import app

    monkeypatch.setattr(queued, "LAST_SECONDS", 0.3)
    monkeypatch.setenv("TOKEN", "s3cret-token")
    words = ["fit", str(points), "-m", "m", *MANY_EVENTS, "-e", f"http://127.0.0.1:{free_port()}/x"]
    for more in (
        ["--webhook-header", "Authorization: Bearer ${TOKEN}", "--log-format", "json"],
        ["--webhook-header", "Authorization: Bearer s3cret-token", "--log-format", "text", "--force"],
        ["--webhook-header", "Authorization: s3cret-token\n", "--force"],
        ["--webhook-header", "s3cret-token", "--force"],
    ):
        result = CliRunner().invoke(app, [*words, *more])
        assert result.exit_code in (1, 5), result.output
        assert "s3cret" not in result.output
    for path in folder.iterdir():
        assert b"s3cret" not in path.read_bytes()


def test_headers_do_not_go_astray(points, call):
    words = ["fit", points, "-m", "m", *MANY_EVENTS, "--webhook-header", "A: b"]
    assert "is for webhooks, but there is none" in call(*words, "-e", "e.jsonl", code=2)
    two = ["-e", "http://127.0.0.1:1/a", "--alert-on", "born", "--alert-to", "http://127.0.0.1:2/b"]
    assert "are of 2 hosts" in call(*words, *two, code=2)


def test_redirections_are_not_followed(folder):
    """A POST would become a GET, and its events would be lost."""
    asked = []

    class Moved(BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(302)
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/new")
            self.end_headers()

        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Moved)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with pytest.raises(queued.UndeliveredError, match="HTTP Error 302: Found; give the URL to which it"):
            webhook.Webhook(f"http://127.0.0.1:{server.server_port}/old").deliver(events(1))
    finally:
        server.shutdown()
        server.server_close()
    assert asked == []
