"""Metrics of a run: what Prometheus reads is what the run did, and the dashboard names nothing else."""

import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import closing

import numpy as np
import pytest

from everclust import EverClust
from everclust.stream import Columns, Run, open_source
from everclust.stream.checkpoint import Checkpoints
from everclust.stream.metrics import served
from everclust.stream.prompt import PromptSource
from everclust.stream.resume import resume
from everclust.stream.run import run
from everclust.stream.sinks.rows import open_sink
from everclust.stream.sources.bytes import FileBytes
from support import servers
from support.paths import REPOSITORY
from support.stream_fixtures import NAMES, write_csv

pytest.importorskip("prometheus_client", reason="metrics need prometheus-client")
from prometheus_client.parser import text_string_to_metric_families

HERE = "127.0.0.1:0"
EXAMPLES = REPOSITORY / "examples/monitoring"


def get(url):
    """(Status, text) of a page."""
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def samples(url):
    """Values by name, or by name and label where there is one label."""
    status, text = get(f"{url}/metrics")
    assert status == 200
    return {
        (sample.name, *sample.labels.values()) if len(sample.labels) == 1 else sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def holes(folder, X):
    """The stream with missing values in every tenth row."""
    X = X.copy()
    X[::10, 2] = np.nan
    path = write_csv(folder / "holes.csv", X)
    path.write_text(path.read_text().replace("nan", ""))
    return path


def job_over(path, **more):
    columns = Columns(NAMES)
    return Run(EverClust(), open_source(str(path), columns), columns, url="holes.csv", block=500, **more)


def test_metrics_are_what_the_run_did(holes, folder):
    before = time.time()
    job = job_over(holes, model_path=folder / "m", answers=open_sink("p.csv", ["row", "cluster"]))
    with served(job, HERE) as url:
        run(job)
        found = samples(url)
    model, after = job.model, time.time()
    assert found["everclust_rows_read_total"] == 3_000
    assert found["everclust_rows_learnt_total"] == found["everclust_samples"] == 2_700
    assert found["everclust_rows_skipped_total", "no finite value in column 'c'"] == 300
    assert found["everclust_nodes"] == model.n_nodes_
    assert found["everclust_clusters"] == model.n_clusters_
    assert found["everclust_vigilance"] == model.vigilance_
    assert model.n_nodes_ <= found["everclust_nodes_founded_total"] < 2_700
    kinds = [event.kind for event in model.events()]
    assert kinds
    for kind in ("gone", "split", "merged", "born", "quiet", "back"):
        assert found["everclust_events_total", kind] == kinds.count(kind)
    phases = [
        found["everclust_phase_seconds_total", p] for p in ("reading", "learning", "predicting", "writing")
    ]
    assert min(phases) > 0
    assert sum(phases) < after - before
    for what in ("answer", "row", "checkpoint"):
        assert before <= found[f"everclust_last_{what}_timestamp_seconds"] <= after
    assert found["process_resident_memory_bytes"] > 1e6


def test_metrics_of_a_run_that_has_not_begun(holes):
    job = job_over(holes)
    with served(job, HERE) as url:
        found = samples(url)
        assert get(f"{url}/healthz") == (200, "ok\n")
        assert get(f"{url}/readyz") == (503, "starting\n")
        assert get(f"{url}/secrets")[0] == 404
        assert found["everclust_rows_read_total"] == found["everclust_events_total", "born"] == 0
        assert not {"everclust_nodes", "everclust_last_row_timestamp_seconds"} & set(found)
        run(job)
        assert get(f"{url}/readyz") == (200, "ok\n")
    with pytest.raises(OSError, match="refused"):
        get(f"{url}/healthz")


def test_counters_of_a_resumed_run_begin_at_0(holes, folder):
    def half(limit):
        job = job_over(holes, limit=limit, checkpoints=Checkpoints(folder / "kept", print), every=500)
        job.checkpoints.open()
        resume(job)
        with served(job, HERE) as url:
            run(job)
            return samples(url)

    assert half(2_000)["everclust_rows_read_total"] == 2_000
    found = half(None)
    assert found["everclust_rows_read_total"] == 1_000
    assert found["everclust_rows_learnt_total"] == 900
    assert found["everclust_rows_skipped_total", "no finite value in column 'c'"] == 100
    assert found["everclust_samples"] == 2_700
    assert found["everclust_nodes_founded_total"] < found["everclust_nodes"]


def test_reasons_beyond_the_first_fifty_are_counted_together(holes):
    job = job_over(holes)
    with served(job, HERE) as url:
        for k in range(60):
            job.bad_rows.reasons[f"reason {k}"] += 2
        first = samples(url)
        job.bad_rows.reasons.update({"reason 3": 1_000, "reason 58": 5})
        found = samples(url)
    name = "everclust_rows_skipped_total"
    assert (first[name, "reason 49"], first[name, "other"]) == (2, 20)
    assert (found[name, "reason 3"], found[name, "other"]) == (1_002, 25)
    assert (name, "reason 58") not in found, "a series never changes its meaning"


def test_bytes_of_a_followed_file_that_were_not_read_yet(points):
    with closing(open_source(str(points), Columns(NAMES), follow=True)) as source:
        assert source.lag() == {}, "nothing is open yet"
        rows = source.batches()
        while next(rows).table.num_rows == 0:
            pass
        wait_until(lambda: source.lag() == {"bytes": 0})
        rows.close()
    with closing(open_source(str(points), Columns(NAMES))) as source:
        assert PromptSource(source, 1.0).lag() == {}


def test_bytes_left_of_a_file(folder):
    (folder / "x.csv").write_bytes(bytes(1_000))
    with closing(FileBytes(folder / "x.csv")) as file:
        assert file.left() == 1_000
        file.read(300)
        assert file.left() == 700
    assert file.left() is None


@pytest.mark.slow
def test_messages_that_were_not_read_yet(folder):
    """Of each system that can say so: all but those of the first batch."""
    for lag, n_left in (redis_lag(folder / "redis"), nats_lag(folder / "nats"), kafka_lag()):
        assert lag == {"messages": n_left}


def lag_after_one_batch(url):
    with closing(open_source(url, Columns(["a"]))) as source:
        assert source.lag() == {}
        n_read = 0
        for batch in source.batches():
            n_read += batch.table.num_rows
            if n_read:
                return source.lag(), 2_500 - n_read
    return None


BODIES = [json.dumps({"a": k}) for k in range(2_500)]


def redis_lag(folder):
    import redis

    folder.mkdir()
    with servers.valkey(folder) as port, redis.Redis(port=port) as client:
        for body in BODIES:
            client.xadd("readings", {"data": body})
        return lag_after_one_batch(f"redis://127.0.0.1:{port}/readings")


def nats_lag(folder):
    from stream.sources.test_message_systems import publish_nats

    folder.mkdir()
    with servers.nats(folder) as port:
        publish_nats(port, "readings", BODIES)
        return lag_after_one_batch(f"nats://127.0.0.1:{port}/readings")


def kafka_lag():
    kafka = servers.Kafka()
    kafka.create("readings", 1)
    kafka.publish("readings", BODIES)
    return lag_after_one_batch(f"kafka://{kafka.server}/readings")


def test_metrics_do_not_change_the_model(holes, folder, call):
    words = [holes, "--columns", ",".join(NAMES)]
    call("fit", *words, "-m", "plain")
    call("fit", *words, "-m", "served", "--metrics", HERE)
    assert (folder / "plain").read_bytes() == (folder / "served").read_bytes()
    call("update", *words, "-m", "served", "--metrics", HERE)
    call("watch", *words, "-m", "served", "--metrics", "[::1]:0" if socket.has_ipv6 else HERE)


def test_addresses(holes, folder, sentence):
    words = ["fit", holes, "--columns", ",".join(NAMES), "-m", "m", "--metrics"]
    for wrong in ("9464", "localhost", "localhost:", ":9464", "localhost:http", "localhost:70000"):
        assert f"--metrics is {wrong!r}, but it must be host:port" in sentence(*words, wrong)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = sentence(*words, f"127.0.0.1:{taken.getsockname()[1]}")
    assert "Address already in use; choose another address" in said
    assert not (folder / "m").exists()


def test_without_the_client_the_message_has_the_pip_command(holes, call, monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    said = call("fit", holes, "--columns", "a,b", "-m", "m", "--metrics", HERE, code=3)
    assert 'pip install "everclust[metrics]"' in said


@pytest.mark.slow  # a process of its own
def test_a_run_that_waits_answers(points, folder):
    """A followed file: ready once it was read, and the metrics follow what is appended."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    command = [
        sys.executable,
        "-c",
        "from everclust.cli import main; main()",
        "fit",
        "points.csv",
        "-m",
        "m",
        "--columns",
        "a,b",
        "--follow",
    ]
    process = subprocess.Popen([*command, "--metrics", url.removeprefix("http://")], cwd=folder)
    try:
        wait_until(lambda: get(f"{url}/readyz")[0] == 200)
        wait_until(lambda: samples(url)["everclust_rows_learnt_total"] == 3_000)
        with points.open("a") as file:
            file.write("".join(points.read_text().splitlines(keepends=True)[1:101]))
        wait_until(lambda: samples(url)["everclust_rows_learnt_total"] == 3_100)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.wait()


def wait_until(is_so):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            if is_so():
                return
        except OSError:  # it does not listen yet
            pass
        time.sleep(0.1)
    raise AssertionError("it took more than two minutes")


# The examples


def names_in(text):
    return set(re.findall(r"\b(?:everclust|process)_\w+", text))


@pytest.fixture
def names(holes, folder):
    job = job_over(holes, model_path=folder / "m")
    job.source.lag = lambda: {"messages": 1, "bytes": 2}
    with served(job, HERE) as url:
        run(job)
        return {name[0] if isinstance(name, tuple) else name for name in samples(url)}


def test_dashboard_and_alerts_name_metrics_that_exist(names):
    dashboard = json.loads((EXAMPLES / "grafana.json").read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    asked += [v["query"] for v in dashboard["templating"]["list"]]
    alerts = (EXAMPLES / "alerts.yml").read_text()
    assert len(names_in(" ".join(asked))) > 8
    assert len(names_in(alerts)) > 4
    assert names_in(" ".join(asked)) | names_in(alerts) <= names | {"everclust_run_info"}


def test_the_page_lists_all_metrics(names):
    page = (REPOSITORY / "docs/monitoring.md").read_text()
    ours = {name for name in names if name.startswith("everclust_")}
    assert ours | {"everclust_run_info", "everclust_models"} == names_in(page)
