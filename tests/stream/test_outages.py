"""Servers that go away: nothing is lost or learnt twice, whether they come back in time or not."""

import subprocess
import sys
import time
from contextlib import ExitStack, nullcontext

import numpy as np
import pytest

from everclust import EverClust, load
from everclust.stream import open_source, reconnect
from everclust.stream.batch import UnreachableError
from everclust.stream.columns import Columns
from everclust.stream.sources import nats as jetstream
from everclust.stream.sources import redis as redis_stream
from support import servers
from support.messages import bodies, publish_mqtt, publish_nats, subscribe_mqtt
from support.stream_fixtures import clouds

pytestmark = pytest.mark.slow

N_ROWS = 2_000
FEATURES = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def rows():
    return clouds(N_ROWS, seed=5)[0]


class Valkey:
    """It keeps its data on the disk."""

    def __init__(self, folder):
        self.folder, self.port = folder, servers.free_port()
        self.url = f"redis://127.0.0.1:{self.port}/readings"

    def serving(self):
        options = ["--appendonly", "yes", "--appendfsync", "always"]
        return servers.valkey(self.folder, *options, port=self.port)

    def publish(self, messages):
        import redis

        with redis.Redis(port=self.port) as client:
            for message in messages:
                client.xadd("readings", {"data": message})

    def n_pending(self):
        import redis

        with redis.Redis(port=self.port) as client:
            return client.xpending("readings", "everclust")["pending"]


class Nats:
    """JetStream keeps its data on the disk."""

    def __init__(self, folder):
        self.folder, self.port = folder, servers.free_port()
        self.url = f"nats://127.0.0.1:{self.port}/readings"

    def serving(self):
        return servers.nats(self.folder, port=self.port)

    def publish(self, messages):
        publish_nats(self.port, "readings", messages)

    def n_pending(self):
        return 0


@pytest.fixture(params=[Valkey, Nats])
def system(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp("server"))


def command(url, *more):
    words = ["fit", url, "-m", "m", "-p", "p.csv", "--columns", "a,b,c,d", "--id", "name", "--block", "100"]
    return [*words, "--checkpoint", "kept", "--every", "500", "--limit", str(N_ROWS), *more]


def check_learnt(folder, X):
    """Every row once, in order, and every row is answered once."""
    model, expected = load(folder / "m"), EverClust().partial_fit(X)
    assert model.n_samples_seen_ == len(X)
    np.testing.assert_array_equal(model.prototypes_, expected.prototypes_)
    np.testing.assert_array_equal(model.usage_, expected.usage_)
    lines = (folder / "p.csv").read_text().splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == [f"r{i}" for i in range(len(X))]


def wait_for(is_so, process=None, seconds=60):
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        assert process is None or process.poll() is None, process.communicate()
        time.sleep(0.05)


def n_answers(folder):
    path = folder / "p.csv"
    return path.read_bytes().count(b"\n") - 1 if path.exists() else 0


def test_a_server_that_comes_back_is_waited_for(system, folder, rows):
    messages = bodies(rows)
    words = [sys.executable, "-c", "from everclust.cli import main; main()", *command(system.url)]
    with ExitStack() as stack:
        with system.serving():
            system.publish(messages[: N_ROWS // 2])
            process = stack.enter_context(
                subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            )
            stack.callback(process.kill)
            wait_for(lambda: (folder / "kept" / "checkpoint-000000002").exists(), process)
        time.sleep(3)
        assert process.poll() is None
        with system.serving():
            system.publish(messages[N_ROWS // 2 :])
            out, err = process.communicate(timeout=60)
            assert (process.returncode, err) == (0, "")
            assert out.startswith("2,000 rows; ")
            assert system.n_pending() == 0
    check_learnt(folder, rows)


def test_a_server_that_stays_away_ends_a_run_which_can_go_on(system, folder, rows, call, monkeypatch):
    messages = bodies(rows)
    with ExitStack() as stack, monkeypatch.context() as patch:
        stack.enter_context(system.serving())
        system.publish(messages[: N_ROWS // 2 + 150])

        def stop_server(job, block):
            if job.rows == N_ROWS // 2:
                stack.close()

        patch.setattr(reconnect, "MAX_OUTAGE", 1.0)
        patch.setattr("everclust.cli.setup.progress", lambda screen: nullcontext(stop_server))
        said = call(*command(system.url), code=5).strip()
    assert said.startswith(f"{system.url} does not answer any more: ")
    assert len(said.splitlines()) == 1
    with system.serving():
        system.publish(messages[N_ROWS // 2 + 150 :])
        assert "of them before" in call(*command(system.url))
        assert system.n_pending() == 0
    check_learnt(folder, rows)


@pytest.mark.parametrize("keeping", [[], ["--checkpoint", "kept"]])
def test_a_server_that_goes_away_at_the_very_end(
    keeping, tmp_path_factory, rows, call, sentence, monkeypatch
):
    """What was learnt is saved; without a checkpoint an error says that it would come again."""
    system = Valkey(tmp_path_factory.mktemp("server"))
    words = ["fit", system.url, "-m", "m", "--columns", "a,b,c,d", "--limit", 300, *keeping]
    with ExitStack() as stack:
        stack.enter_context(system.serving())
        system.publish(bodies(rows[:300]))
        monkeypatch.setattr(
            "everclust.cli.setup.progress", lambda screen: nullcontext(lambda job, block: stack.close())
        )
        if keeping:
            assert call(*words).startswith("300 rows; ")
        else:
            assert "could not be sent acknowledgements" in sentence(*words, code=5)
    assert load("m").n_samples_seen_ == 300


@pytest.mark.parametrize("kind", [Valkey, Nats])
def test_a_connection_that_breaks_loses_nothing(kind, tmp_path, rows, monkeypatch):
    """What the server had sent, and thought delivered, is asked for again."""
    for module in (redis_stream, jetstream):
        monkeypatch.setattr(module, "MAX_MESSAGES", 100)
    system = kind(tmp_path)
    with system.serving():
        system.publish(bodies(rows))
        between = servers.Proxy(system.port, (20_000, 60_000))
        columns, got = Columns(FEATURES), []
        source = open_source(system.url.replace(str(system.port), str(between.port)), columns)
        for batch in source.batches():
            if batch.table.num_rows:
                got += columns.take(batch.table).X.tolist()
            if len(got) >= N_ROWS:
                break
        source.close()
        between.close()
    assert between.n_broken >= 3
    assert got == rows.tolist()


def test_mqtt_connections_that_break_lose_nothing(tmp_path, rows):
    with servers.mosquitto(tmp_path) as port:
        between = servers.Proxy(port, (4_000, 8_000))
        url = f"mqtt://127.0.0.1:{between.port}/readings?client=breaking&sequence=number"
        subscribe_mqtt(url)
        publish_mqtt(port, bodies(rows[:200]))
        columns, got, latest = Columns(FEATURES), [], time.monotonic()
        source = open_source(url, columns)
        for batch in source.batches():
            if batch.table.num_rows:
                got += columns.take(batch.table).X.tolist()
                position = batch.position_after(batch.table.num_rows)
                latest = time.monotonic()
            elif source.wants_checkpoint:
                source.acknowledge(position)
            if len(got) >= 200 or time.monotonic() - latest > 20:
                break
        source.close()
        between.close()
    assert between.n_broken >= 3
    assert got == rows[:200].tolist()


def test_kafka_brokers_that_come_back_are_waited_for(rows):
    kafka = servers.Kafka()
    kafka.create("readings", 1)
    kafka.publish("readings", bodies(rows[:100]))
    columns, got = Columns(FEATURES), []
    source = open_source(f"kafka://{kafka.server}/readings", columns)
    is_away, n_empty = False, 0
    for batch in source.batches():
        if batch.table.num_rows:
            got += columns.take(batch.table).X.tolist()
        if len(got) == 100 and not is_away:
            kafka.go_away()
            is_away = True
        n_empty += is_away
        if n_empty == 10:
            assert source.trouble, "it is noticed"
            kafka.come_back()
            kafka.publish("readings", bodies(rows[100:200]))
        if len(got) >= 200:
            break
    source.close()
    assert got == rows[:200].tolist()
    assert source.trouble is None


def test_kafka_brokers_that_stay_away(rows, monkeypatch):
    monkeypatch.setattr(reconnect, "MAX_OUTAGE", 1.0)
    kafka = servers.Kafka()
    kafka.create("readings", 1)
    kafka.publish("readings", bodies(rows[:10]))
    source = open_source(f"kafka://{kafka.server}/readings", Columns(FEATURES))
    with pytest.raises(UnreachableError, match="does not answer any more"):  # noqa: PT012
        for batch in source.batches():
            if batch.table.num_rows:
                kafka.go_away()
    source.close()
    kafka.come_back()


def test_kafka_brokers_that_have_never_answered(monkeypatch):
    monkeypatch.setattr(reconnect, "MAX_OUTAGE", 1.0)
    monkeypatch.setattr("everclust.stream.sources.kafka.TIMEOUT", 0.5)
    source = open_source("kafka://127.0.0.1:9/readings", Columns(FEATURES))
    with pytest.raises(UnreachableError, match=r"/readings does not answer: "):
        list(source.batches())
    source.close()
