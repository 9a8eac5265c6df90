"""Message systems: nothing is lost and nothing learnt twice, however often a run is killed."""

import json
import threading
import time

import numpy as np
import pytest

from everclust import EverClust, load
from everclust.stream import StreamError, open_source
from everclust.stream.columns import Columns
from support import servers
from support.kills import killed
from support.messages import bodies, publish_mqtt, publish_nats, subscribe_mqtt
from support.stream_fixtures import NAMES, clouds

pytestmark = pytest.mark.slow

N_ROWS = 4_000


@pytest.fixture(scope="module")
def rows():
    X, _ = clouds(N_ROWS, seed=3)
    return X


def command(url, *more):
    words = ["fit", url, "-m", "RUN.m.everclust", "-p", "RUN.p.csv", "--columns", "a,b,c,d", "--id", "name"]
    return [*words, "--checkpoint", "RUN", "--every", "500", "--block", "100", "--limit", str(N_ROWS), *more]


def learnt(folder, X):
    """The model has learnt every row once, in order, and every row is answered once."""
    model = load(folder / "killed1.m.everclust")
    expected = EverClust().partial_fit(X)
    assert model.n_samples_seen_ == len(X)
    np.testing.assert_array_equal(model.prototypes_, expected.prototypes_)
    np.testing.assert_array_equal(model.usage_, expected.usage_)
    lines = (folder / "killed1.p.csv").read_text().splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == [f"r{i}" for i in range(len(X))]


RESULTS = ["RUN.m.everclust", "RUN.p.csv"]

# Redis streams


def test_a_redis_stream_survives_kills(client, redis_port, tmp_path, rows):
    for body in bodies(rows):
        client.xadd("readings", {"data": body})
    url = f"redis://127.0.0.1:{redis_port}/readings?group=RUN"
    told = killed(tmp_path, command(url), RESULTS, kills=4)
    assert sum(told["kills"].values()) >= 4
    learnt(tmp_path, rows)
    (group,) = (g for g in client.xinfo_groups("readings") if g["name"] == b"killed1")
    assert group["pending"] == 0, "everything is acknowledged in the end"


def test_models_of_many_keys_survive_kills(client, redis_port, tmp_path, rows):
    for k, row in enumerate(rows):
        client.xadd("readings", {"machine": f"m{k % 5}", **dict(zip(NAMES, map(str, row), strict=True))})
    url = f"redis://127.0.0.1:{redis_port}/readings?group=RUN"
    words = ["fit", url, "-m", "RUN.set", "--key", "machine", "--keys-in-memory", "2", "-e", "RUN.e.jsonl"]
    words += ["-p", "RUN.p.csv", "--block", "100", "--every", "200", "--limit", str(len(rows))]
    told = killed(tmp_path, words, ["RUN.set", "RUN.e.jsonl", "RUN.p.csv"], kills=6, seed=2)
    assert sum(told["kills"].values()) >= 6
    (group,) = (g for g in client.xinfo_groups("readings") if g["name"] == b"killed1")
    assert group["pending"] == 0


def test_nothing_is_acknowledged_before_a_checkpoint(client, redis_port, rows):
    for row in rows[:300]:
        client.xadd("readings", dict(zip(NAMES, map(str, row), strict=True)))
    source = open_source(f"redis://127.0.0.1:{redis_port}/readings")
    columns, batches = Columns(), source.batches()
    batch = next(batches)
    np.testing.assert_array_equal(columns.take(batch.table).X, rows[:300])
    assert client.xpending("readings", "everclust")["pending"] == 300
    source.acknowledge(batch.position_after(120))
    assert client.xpending("readings", "everclust")["pending"] == 180
    source.close()
    # A run without a checkpoint gets what was not acknowledged; one with it goes on behind it, in any case.
    for position, first in ((None, 120), (batch.position_after(50), 50)):
        again = open_source(f"redis://127.0.0.1:{redis_port}/readings")
        np.testing.assert_array_equal(Columns().take(next(again.batches(position)).table).X, rows[first:300])
        again.close()


def test_events_are_added_to_a_redis_stream_once(client, redis_port, tmp_path, points, X, call):
    for _ in range(2):
        call(
            "fit",
            points,
            "-m",
            "m",
            "--columns",
            "a,b,c,d",
            "--force",
            "-e",
            f"redis://127.0.0.1:{redis_port}/events",
        )
    model = EverClust().partial_fit(X)
    entries = client.xrange("events")
    assert [(int(e.split(b"-")[0]), f[b"kind"].decode()) for e, f in entries] == [
        (event.sample, event.kind) for event in model.events()
    ]
    assert json.loads(entries[0][1][b"after"]) == list(model.events()[0].after)


def test_a_server_that_is_not_there(sentence, monkeypatch):
    monkeypatch.setattr("everclust.stream.reconnect.MAX_OUTAGE", 0.0)
    port = servers.free_port()
    for scheme, package in {"redis": "redis", "nats": "nats", "mqtt": "paho.mqtt"}.items():
        pytest.importorskip(package)
        assert "does not answer" in sentence("fit", f"{scheme}://127.0.0.1:{port}/x", "-m", "m", code=5)


# NATS JetStream


@pytest.fixture(scope="module")
def nats_port(tmp_path_factory):
    with servers.nats(tmp_path_factory.mktemp("nats")) as port:
        yield port


def test_a_nats_stream_survives_kills(nats_port, tmp_path, rows):
    publish_nats(nats_port, "readings", bodies(rows))
    told = killed(tmp_path, command(f"nats://127.0.0.1:{nats_port}/readings"), RESULTS, kills=4)
    assert sum(told["kills"].values()) >= 4
    learnt(tmp_path, rows)


def test_messages_that_cannot_be_read_are_counted(nats_port, record):
    good = [json.dumps({"a": k % 7, "b": k % 5}) for k in range(50)]
    publish_nats(nats_port, "mixed", ["no json", *good, '{"a": "much", "b": 1}', "[1, 2]"])
    told = record("fit", f"nats://127.0.0.1:{nats_port}/mixed", "-m", "m", "--limit", 53)
    assert (told["rows"], told["skipped"], told["samples"]) == (53, 3, 50)


def test_a_nats_stream_that_is_not_there_or_has_changed(nats_port, sentence):
    url = f"nats://127.0.0.1:{nats_port}/nothing"
    assert "has no stream 'nothing'" in sentence("fit", url, "-m", "m")
    publish_nats(nats_port, "short", ['{"a": 1}'])
    source = open_source(f"nats://127.0.0.1:{nats_port}/short")
    with pytest.raises(StreamError, match="shorter than the checkpoint"):
        next(source.batches(5))
    source.close()


# Kafka


@pytest.fixture(scope="module")
def kafka():
    """librdkafka's own cluster, which other processes can reach."""
    package = pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
    producer = package.Producer({"test.mock.num.brokers": 1, "log_level": 0})
    (broker,) = producer.list_topics(timeout=30).brokers.values()
    yield producer, f"{broker.host}:{broker.port}"
    producer.flush(5)


def publish_kafka(kafka, topic, messages):
    producer, _ = kafka
    for message in messages:
        producer.produce(topic, message.encode(), partition=0)
    assert producer.flush(30) == 0


def test_a_kafka_topic_survives_kills(kafka, tmp_path, rows):
    publish_kafka(kafka, "readings", bodies(rows))
    told = killed(tmp_path, command(f"kafka://{kafka[1]}/readings?group=RUN"), RESULTS, kills=4)
    assert sum(told["kills"].values()) >= 4
    learnt(tmp_path, rows)


def test_several_kafka_partitions_survive_kills(tmp_path, rows):
    """The order of partitions is not fixed: whatever it was, it is that of the answers and of the model."""
    kafka = servers.Kafka()
    kafka.create("parted", 3)
    kafka.publish("parted", bodies(rows), partition=lambda k: k % 3)
    told = killed(tmp_path, command(f"kafka://{kafka.server}/parted?group=RUN"), [], kills=4)
    assert sum(told["kills"].values()) >= 4
    for name in ("whole", *(f"killed{k + 1}" for k in range(told["rounds"]))):
        lines = (tmp_path / f"{name}.p.csv").read_text().splitlines()[1:]
        order = np.array([int(line.split(",")[0].removeprefix("r")) for line in lines])
        assert sorted(order) == list(range(N_ROWS)), "nothing is lost or learnt twice"
        for partition in range(3):
            assert (np.diff(order[order % 3 == partition]) > 0).all(), "the order of each is kept"
        model, expected = load(tmp_path / f"{name}.m.everclust"), EverClust().partial_fit(rows[order])
        np.testing.assert_array_equal(model.prototypes_, expected.prototypes_)
        np.testing.assert_array_equal(model.usage_, expected.usage_)


def test_kafka_partitions_are_gone_on_with_where_they_were(rows):
    """Also those in which nothing had come yet, and those that are new."""
    kafka, columns = servers.Kafka(), Columns(NAMES)
    kafka.create("later", 3)
    kafka.publish("later", bodies(rows[:30]), partition=lambda k: k % 3)
    url = f"kafka://{kafka.server}/later?from=latest"

    def read(position, n_rows, first=lambda: None):
        source, got = open_source(url, columns), []
        for batch in source.batches(position):
            first()
            first = lambda: None  # noqa: E731
            if batch.table.num_rows:
                got += columns.take(batch.table).X.tolist()
                position = batch.position_after(batch.table.num_rows)
            if len(got) >= n_rows:
                break
        source.close()
        return got, position

    got, position = read(None, 5, lambda: kafka.publish("later", bodies(rows[30:35])))
    assert got == rows[30:35].tolist(), "what was there before is left out"
    assert position == {"0": 15, "1": 10, "2": 10}
    kafka.publish("later", bodies(rows[35:40]), partition=lambda k: 1)
    assert read(position, 5)[0] == rows[35:40].tolist(), "nothing had come from there before"
    del position["1"]
    got, position = read(position, 15)
    assert got == [*rows[1:30:3].tolist(), *rows[35:40].tolist()], "a partition that was not there"


# MQTT


@pytest.fixture
def mqtt_port(tmp_path):
    with servers.mosquitto(tmp_path) as port:
        yield port


def test_an_mqtt_topic_learns_everything_once_by_its_sequence(mqtt_port, tmp_path, rows):
    """The window of 20 is much smaller than a block: checkpoints are written early."""
    url = f"mqtt://127.0.0.1:{mqtt_port}/readings?client=RUN&sequence=number"
    n = 300
    for name in ("whole", *(f"killed{k}" for k in range(1, 6))):
        subscribe_mqtt(url.replace("RUN", name))
    publish_mqtt(mqtt_port, bodies(rows[:n]))
    words = ["fit", url, "-m", "RUN.m.everclust", "--columns", "a,b,c,d", "--checkpoint", "RUN"]
    told = killed(tmp_path, [*words, "--limit", str(n)], ["RUN.m.everclust"], kills=4, many=False)
    assert sum(told["kills"].values()) >= 4
    model = load(tmp_path / "killed1.m.everclust")
    assert model.n_samples_seen_ == n
    np.testing.assert_array_equal(model.prototypes_, EverClust().partial_fit(rows[:n]).prototypes_)


def test_mqtt_delivers_again_what_was_not_acknowledged(mqtt_port, rows):
    url = f"mqtt://127.0.0.1:{mqtt_port}/readings?client=again"
    subscribe_mqtt(url)
    threading.Thread(target=publish_mqtt, args=(mqtt_port, bodies(rows[:15]))).start()

    def take(n_acknowledged):
        columns, got = Columns(["a", "b", "c", "d"]), []
        source = open_source(url, columns)
        position = None
        for batch in source.batches():
            if batch.table.num_rows:
                got += columns.take(batch.table).X.tolist()
                position = batch.position_after(batch.table.num_rows)
            if len(got) >= 15 - n_acknowledged:
                break
        return source, got, position

    source, got, _ = take(0)
    assert got == rows[:15].tolist()
    source.close()
    source, got, position = take(0)
    assert got == rows[:15].tolist(), "nothing was acknowledged"
    source.acknowledge(position)
    time.sleep(0.5)
    source.close()
    publish_mqtt(mqtt_port, bodies(rows[15:16]))
    source, got, _ = take(14)
    assert got == rows[15:16].tolist()
    source.close()
