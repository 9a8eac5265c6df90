"""Alerts: on events and on shares of rows, once per crossing, delivered without delaying the run."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from everclust import IDAT
from everclust.stream.alerts import Alerts, conditions_of, open_alert_sink
from everclust.stream.batch import StreamError
from everclust.stream.sinks import command, queued
from everclust.stream.sinks.command import Command
from everclust.stream.sinks.json_lines import JsonLinesFile
from support.servers import free_port
from support.webhook import receiving, wait_for

IDATS = ["--id", "name", "--label", "kind", "--algorithm", "idat"]


def lines(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_alerts_on_chosen_kinds_of_events(points, X, call):
    call("fit", points, "-m", "m", *IDATS, "--alert-on", "merged, split", "--alert-to", "a.jsonl")
    found = lines("a.jsonl")
    expected = [e for e in IDAT().partial_fit(X).events() if e.kind in ("merged", "split")]
    assert len(expected) > 3
    assert [(a["sample"], a["kind"], a["text"]) for a in found] == [
        (e.sample, e.kind, e.text) for e in expected
    ]
    assert {alert["alert"] for alert in found} == {"event"}


class Counts:
    """A run, as far as alerts look at it."""

    keyed = log = None
    model = property(lambda self: self)

    def __init__(self):
        self.rows = self.skipped = self.n_seen = self.founded = 0

    def _scalar(self, name):
        assert name == "n_born"
        return self.founded

    def read(self, alerts, n_rows, skipped=0, founded=0):
        self.rows += n_rows
        self.skipped += skipped
        self.n_seen += n_rows - skipped
        self.founded += founded
        alerts.check(self)


def begun(text, *sinks, mark=None, job=None):
    alerts, job = Alerts(conditions_of(text), sinks), job or Counts()
    alerts.rewind(mark)
    alerts.begin(job)
    return alerts, job


def test_a_share_alerts_once_until_it_has_fallen_to_half_of_its_limit(folder):
    alerts, job = begun("skipped>0.1", JsonLinesFile("a.jsonl"))
    for skipped in (100, 101, 300, 99, 51, 200, 50, 150, 0, 101):
        job.read(alerts, 1_000, skipped)
    alerts.finish()
    found = lines("a.jsonl")
    assert [alert["rows"] for alert in found] == [2_000, 8_000, 10_000]
    assert found[0]["text"] == "10.1% of the last 1,000 rows were skipped, more than 10%."
    assert (found[0]["alert"], found[0]["share"], found[0]["limit"]) == ("skipped", 0.101, 0.1)
    assert len({(alert["sample"], alert["number"]) for alert in found}) == 3


def test_rows_are_counted_until_there_are_enough(folder):
    alerts, job = begun("skipped>0.1", JsonLinesFile("a.jsonl"))
    job.read(alerts, 600, 600)
    job.read(alerts, 399)
    assert not Path("a.jsonl").read_text()
    job.read(alerts, 1)
    alerts.finish()
    assert [alert["share"] for alert in lines("a.jsonl")] == [0.6]


def test_a_new_model_is_no_alert_but_new_rows_are(folder):
    alerts, job = begun("novel>0.2", JsonLinesFile("a.jsonl"))
    job.read(alerts, 1_000, founded=900)
    job.read(alerts, 1_000, founded=100)
    job.read(alerts, 2_000, founded=700)
    alerts.finish()
    assert [(alert["alert"], alert["share"]) for alert in lines("a.jsonl")] == [("novel", 0.35)]


def test_a_resumed_run_goes_on_with_the_window_and_what_was_raised(folder):
    alerts, job = begun("skipped>0.1", JsonLinesFile("a.jsonl"))
    job.read(alerts, 1_000, 500)
    job.read(alerts, 400, 400)
    mark = json.loads(json.dumps(alerts.mark()))
    at = vars(job).copy()
    job.read(alerts, 600)  # killed after this
    job.read(alerts, 1_000)
    job.read(alerts, 1_000, 900)
    alerts.abort()
    assert len(lines("a.jsonl")) == 2
    again = Counts()
    vars(again).update(at)
    alerts, job = begun("skipped>0.1", JsonLinesFile("a.jsonl"), mark=mark, job=again)
    job.read(alerts, 600)
    alerts.finish()
    assert [alert["rows"] for alert in lines("a.jsonl")] == [1_000], "still raised, and no line twice"


def test_alerts_of_earlier_runs_stay_in_the_file(points, call):
    words = ["--alert-on", "born", "--alert-to", "a.jsonl"]
    call("fit", points, "-m", "m", *IDATS, "--limit", 500, *words)
    n_before = len(lines("a.jsonl"))
    call("fit", points, "-m", "other", *IDATS, "--limit", 500, *words)
    assert len(lines("a.jsonl")) == 2 * n_before > 0


def test_shares_of_a_real_stream(folder, call):
    rng = np.random.default_rng(0)
    rows = [f"{x:.4f},{y:.4f}" for x, y in rng.normal(size=(6_000, 2))]
    rows[4_000:4_300] = [",1"] * 300
    (folder / "x.csv").write_text("\n".join(["a,b", *rows]) + "\n")
    words = ["--alert-on", "novel>0.9,skipped>0.2", "--alert-to", "a.jsonl", "-p", "p.csv"]
    call("fit", "x.csv", "-m", "m", *words)
    (alert,) = lines("a.jsonl")
    assert (alert["alert"], alert["rows"], alert["share"]) == ("skipped", 5_000, 0.3)


def test_webhooks_get_alerts_from_a_queue(points, call, folder):
    with receiving(refusals=1) as receiver:
        call("fit", points, "-m", "m", *IDATS, "--alert-on", "merged", "--alert-to", receiver.url)
    assert receiver.events
    assert {alert["kind"] for alert in receiver.events} == {"merged"}
    assert not list(folder.glob("*.queue"))


def test_what_a_webhook_did_not_accept_survives_a_restart(points, call, folder, monkeypatch):
    """Also without a model file, if there is a checkpoint folder."""
    monkeypatch.setattr(queued, "LAST_SECONDS", 0.3)
    port = free_port()
    words = ["watch", points, "--exclude", "name,kind", "--algorithm", "idat", "--checkpoint", "kept"]
    words += ["--alert-on", "merged,split", "--alert-to", f"http://127.0.0.1:{port}/hook"]
    said = call(*words, code=5)
    assert "does not accept events" in said
    (queue,) = (folder / "kept").glob("*.queue")
    n_left = len(queue.read_text().splitlines())
    assert n_left > 3
    monkeypatch.setattr(queued, "LAST_SECONDS", 10.0)
    with receiving(port=port) as receiver:
        call(*words)
    assert len(receiver.events) == n_left


def script(folder, text):
    (folder / "alert.py").write_text(text)
    return f"exec:{sys.executable} alert.py 'two words'"


def test_commands_run_once_for_each_alert(points, X, folder, call):
    target = script(folder, "import sys; print(sys.argv[1], sys.stdin.read(), file=open('got', 'a'))")
    call("fit", points, "-m", "m", *IDATS, "--limit", 1_500, "--alert-on", "merged", "--alert-to", target)
    got = [line.removeprefix("two words ") for line in Path("got").read_text().splitlines()]
    expected = [e.sample for e in IDAT().partial_fit(X[:1_500]).events() if e.kind == "merged"]
    assert [json.loads(line)["sample"] for line in got] == expected


def test_a_command_that_fails_is_run_again_and_does_not_delay(folder, monkeypatch):
    monkeypatch.setattr(queued, "FIRST_PAUSE", 0.05)
    text = "import os, sys, time; time.sleep(0.3); open('tries', 'a').write('.'); "
    target = script(folder, text + "sys.exit(os.path.getsize('tries') < 3)")
    sink = open_alert_sink(target, lambda mark: folder / mark, lambda sentence: None)
    sink.rewind(None)
    started = time.monotonic()
    sink.write([{"sample": 1, "number": 0, "kind": "born"}])
    assert time.monotonic() - started < 0.2
    wait_for(lambda: len(sink.queue) == 0)
    sink.finish()
    assert Path("tries").read_text() == "..."


def test_commands_that_cannot_run(monkeypatch):
    with pytest.raises(queued.UndeliveredError, match="No such file"):
        Command("no-such-command").deliver([{}])
    monkeypatch.setattr(command, "TIMEOUT", 0.1)
    with pytest.raises(queued.UndeliveredError, match="it took more than 0 s"):
        Command(f"{sys.executable} -c 'import time; time.sleep(5)'").deliver([{}])
    assert Command("notify --token=secret").shown == "exec:notify"
    for text in ("", "'open"):
        with pytest.raises(StreamError, match="exec:"):
            Command(text)


def test_alerts_of_many_models(folder, call):
    rng = np.random.default_rng(0)
    rows = [f"{'pq'[k % 2]},{x:.4f},{y:.4f}" for k, (x, y) in enumerate(rng.normal(size=(4_000, 2)))]
    (folder / "x.csv").write_text("\n".join(["k,a,b", *rows]) + "\n")
    words = ["-m", "set", "--key", "k", "--algorithm", "idat", "--every", 500]
    alert = ["--alert-on", "born,novel>0.01", "--alert-to", "a.jsonl"]
    call("fit", "x.csv", *words, *alert, "--limit", 2_000)
    call("fit", "x.csv", *words, *alert)
    found = lines("a.jsonl")
    assert {alert["key"] for alert in found if alert["alert"] == "event"} == {"p", "q"}
    assert all(0.01 < alert["share"] < 1 for alert in found if alert["alert"] == "novel")


def test_a_restart_without_new_alerts_writes_none(points, call):
    words = [
        "fit",
        points,
        "-m",
        "m",
        *IDATS,
        "--checkpoint",
        "kept",
        "--alert-on",
        "born",
        "--alert-to",
        "a",
    ]
    call(*words)
    before = Path("a").read_bytes()
    call(*words)
    assert Path("a").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--alert-on", "borne"], "give both"),
        (["--alert-to", "x"], "give both"),
        (["--alert-on", "borne", "--alert-to", "x"], "'borne', but it takes born, gone"),
        (["--alert-on", "borne", "--alert-to", "x"], "did you mean born?"),
        (["--alert-on", "novel", "--alert-to", "x"], "did you mean novel>0.2?"),
        (["--alert-on", "novel>2", "--alert-to", "x"], "between 0 and 1"),
        (["--alert-on", "born,", "--alert-to", "x"], "--alert-on has ''"),
        (["--alert-on", "born", "--alert-to", "ftp://me:secret@x"], "--alert-to is ftp://…, but it takes"),
        (["--alert-on", "born", "--alert-to", "-"], "--alert-to is -, but it takes"),
    ],
)
def test_wrong_alerts(points, folder, call, words, message):
    said = call("fit", points, "-m", "m", *IDATS, *words, code=2 if message == "give both" else 1)
    assert message in " ".join(said.replace("│", " ").split())
    assert "secret" not in said
    assert not (folder / "m").exists()


def test_a_burst_in_a_file_is_not_diluted(folder, call):
    """Files are read in large blocks, but shares are those of some thousand rows."""
    random = np.random.default_rng(7)
    X = random.normal(size=(20_000, 2))
    X[12_000:12_300] = random.uniform(20, 90, (300, 2))
    np.savetxt("x.csv", X, delimiter=",", header="a,b", comments="")
    call("fit", "x.csv", "-m", "m", "--alert-on", "novel>0.02", "--alert-to", "a.jsonl")
    (found,) = lines("a.jsonl")
    assert found["alert"] == "novel"
    assert 12_000 < found["rows"] <= 14_000
    call("fit", "x.csv", "-m", "other")
    assert Path("m").read_bytes() == Path("other").read_bytes(), "alerts change nothing that is learnt"


def test_alerts_of_a_run_killed_before_its_first_checkpoint_are_not_told_twice(tmp_path):
    path, note = tmp_path / "alerts.jsonl", tmp_path / "checkpoints.alerts"
    path.write_text("of another run\n")
    event = {"kind": "born", "sample": 9, "number": 0}

    def started():
        alerts = Alerts(conditions_of("born"), [JsonLinesFile(str(path))], note)
        alerts.rewind(None)
        alerts.write([event])
        return alerts

    started().abort()  # killed
    alerts = started()
    first = alerts.mark()
    assert note.exists()  # no checkpoint may hold the first mark yet
    alerts.mark()
    assert not note.exists()
    alerts.write([event])
    alerts.abort()
    again = Alerts(conditions_of("born"), [JsonLinesFile(str(path))], note)
    again.rewind(first)
    again.finish()
    assert path.read_text() == "of another run\n" + json.dumps({"alert": "event", **event}) + "\n"
