"""Redis streams: what was deleted before it was read is said, and what was learnt is acknowledged."""

import gc
import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext

import pytest

from everclust import load
from everclust.stream import open_source, reconnect
from everclust.stream.columns import Columns
from everclust.stream.sources import redis as redis_stream
from support import servers
from support.stream_fixtures import NAMES, clouds

pytestmark = pytest.mark.slow

ROWS = clouds(4_000, seed=7)[0]
PROGRAM = [sys.executable, "-c", "from everclust.cli import main; main()"]


@pytest.fixture
def url(redis_port):
    return f"redis://127.0.0.1:{redis_port}/readings"


def add(client, rows):
    with client.pipeline() as pipe:
        for row in rows:
            pipe.xadd("readings", dict(zip(NAMES, map(str, row), strict=True)))
        pipe.execute()


def n_pending(client):
    if not client.xinfo_groups("readings"):
        return 0
    return client.xpending("readings", "everclust")["pending"]


class Reader:
    """Reads a stream batch by batch."""

    def __init__(self, url, position=None):
        self.warnings, self.position, self.n_read = [], position, 0
        self.source = open_source(url, Columns(), warn=self.warnings.append)
        self.batches = self.source.batches(position)

    def read(self, n_batches=1):
        for _ in range(n_batches):
            batch = next(self.batches)
            self.n_read += batch.table.num_rows
            self.position = batch.position_after(batch.table.num_rows)
        return self

    def close(self):
        self.source.close()
        return self


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(redis_stream, "MAX_MESSAGES", 100)


@pytest.mark.usefixtures("small_batches")
def test_entries_that_are_trimmed_before_they_are_read_are_said(client, url):
    add(client, ROWS[:1000])
    reader = Reader(url).read(3)
    assert (reader.n_read, reader.warnings) == (300, [])
    client.xtrim("readings", maxlen=600, approximate=False)
    reader.read(7).close()
    assert reader.n_read == 900
    assert len(reader.warnings) == 1
    assert "100 entries of redis://" in reader.warnings[0]
    assert "XTRIM" in reader.warnings[0]


@pytest.mark.usefixtures("small_batches")
def test_entries_that_are_trimmed_while_nothing_reads_are_said(client, url):
    add(client, ROWS[:1000])
    first = Reader(url).read(3)
    first.source.acknowledge(first.position)
    first.close()
    client.xtrim("readings", maxlen=650, approximate=False)
    again = Reader(url, first.position).read(8).close()
    assert again.n_read == 650
    assert "50 entries" in again.warnings[0]
    # Once said, it is past.
    last = Reader(url, again.position).read(2).close()
    assert (last.n_read, last.warnings) == (0, [])


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("first", ["earliest", "latest"])
def test_entries_that_are_trimmed_after_they_were_read_are_no_loss(client, url, first):
    add(client, ROWS[:1000])
    client.xtrim("readings", maxlen=500, approximate=False)  # before our time
    reader = Reader(f"{url}?from={first}").read(6)
    assert reader.n_read == (500 if first == "earliest" else 0)
    client.xtrim("readings", maxlen=10, approximate=False)
    add(client, ROWS[:50])
    reader.read(2)
    client.xdel("readings", client.xrange("readings", count=1)[0][0])
    reader.read(2).close()
    again = Reader(f"{url}?from={first}", reader.position).read(2).close()
    assert reader.warnings + again.warnings == []


@pytest.mark.usefixtures("small_batches")
def test_entries_that_were_delivered_and_then_trimmed_are_said(client, url):
    """A run without checkpoints was killed: its entries are pending, but gone."""
    add(client, ROWS[:300])
    Reader(url).read(2).close()
    client.xtrim("readings", maxlen=150, approximate=False)
    again = Reader(url).read(5).close()
    assert again.n_read == 150
    assert "100 entries" in again.warnings[0], "at once"
    assert "50 entries" in again.warnings[1], "at the end"


@pytest.mark.usefixtures("small_batches")
def test_positions_of_earlier_versions_are_ids(client, url):
    add(client, ROWS[:300])
    first = Reader(url).read(2).close()
    last, n_past = first.position
    assert n_past == 200
    again = Reader(url, last).read(4).close()
    assert (again.n_read, again.warnings) == (100, [])


def test_entries_are_acknowledged_without_a_checkpoint(client, url, folder, call):
    add(client, ROWS[:3000])
    words = ["fit", url, "-m", "m", "--columns", "a,b,c,d", "-p", "p.csv", "--every", "1000", "--idle", "60"]
    process = subprocess.Popen([*PROGRAM, *words], cwd=folder)
    try:
        deadline = time.monotonic() + 60
        while not (folder / "m").exists() or n_pending(client):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
    assert load("m").n_samples_seen_ == 3000, "what is acknowledged is kept"
    assert len((folder / "p.csv").read_text().splitlines()) == 3001


def test_watching_without_a_model_leaves_little_pending(client, url, call, monkeypatch):
    add(client, ROWS)
    pending = []
    monkeypatch.setattr(
        "everclust.cli.setup.progress",
        lambda screen: nullcontext(lambda job, block: pending.append(n_pending(client))),
    )
    call("watch", url, "--columns", "a,b,c,d", "--every", "500", "--limit", len(ROWS))
    assert max(pending) <= 1500
    assert n_pending(client) == 0


def test_a_hanging_server_does_not_delay_the_end(tmp_path, folder):
    """It is stopped, so that it accepts connections and answers nothing."""
    import redis

    pid_file = tmp_path / "pid"
    with servers.valkey(tmp_path, "--pidfile", str(pid_file), "--appendonly", "no") as port:
        with redis.Redis(port=port) as client:
            add(client, ROWS[:1000])
            server = client.info("server")["process_id"]
        words = ["fit", f"redis://127.0.0.1:{port}/readings", "-m", "m", "--columns", "a,b,c,d"]
        process = subprocess.Popen([*PROGRAM, *words, "--checkpoint", "kept", "--every", "500"], cwd=folder)
        try:
            deadline = time.monotonic() + 60
            while not (folder / "kept" / "checkpoint-000000001").exists():
                assert time.monotonic() < deadline
                time.sleep(0.05)
            time.sleep(1)
            os.kill(server, signal.SIGSTOP)
            time.sleep(1)
            started = time.monotonic()
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 143
            assert time.monotonic() - started < 5
        finally:
            os.kill(server, signal.SIGCONT)
            process.kill()
            process.wait()
    assert load("m").n_samples_seen_ == 1000


@pytest.mark.parametrize("scheme", ["redis", "nats", "mqtt"])
def test_a_server_that_is_away_at_the_start_is_waited_for(scheme, tmp_path, monkeypatch):
    """What comes later is a listener that hangs up, so the wait ends with another error or another wait."""
    pytest.importorskip({"redis": "redis", "nats": "nats", "mqtt": "paho.mqtt"}[scheme])
    monkeypatch.setattr(reconnect, "MAX_OUTAGE", 1.5)
    port, warnings, started = servers.free_port(), [], time.monotonic()
    with pytest.raises(reconnect.UnreachableError, match="does not answer"):
        open_source(f"{scheme}://127.0.0.1:{port}/readings", warn=warnings.append)
    assert time.monotonic() - started >= 1.5
    assert len(warnings) == 1, "it is said once"
    assert "does not answer" in warnings[0]
    assert "it is waited for, up to 2 seconds" in warnings[0]


def test_a_server_that_comes_after_the_run(tmp_path, folder):
    port = servers.free_port()
    words = ["fit", f"redis://127.0.0.1:{port}/readings", "-m", "m", "--columns", "a,b,c,d", "--limit", "100"]
    process = subprocess.Popen([*PROGRAM, *words], cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        said = process.stderr.readline()
        time.sleep(1)
        assert process.poll() is None
        with servers.valkey(tmp_path, port=port) as port:
            import redis

            with redis.Redis(port=port) as client:
                add(client, ROWS[:100])
            process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert "it is waited for" in said
    assert load("m").n_samples_seen_ == 100


def test_the_search_for_circles_is_off_only_while_entries_are_read(client, url, monkeypatch):
    add(client, ROWS[:300])
    reader = Reader(url)
    seen, table = [], redis_stream.fields_table
    monkeypatch.setattr(
        redis_stream, "fields_table", lambda *rows: seen.append(gc.isenabled()) or table(*rows)
    )
    reader.read(1)
    assert gc.isenabled()
    gc.disable()
    try:
        reader.read(1)
        assert not gc.isenabled(), "as the program had it"
    finally:
        gc.enable()
    reader.close()
    assert seen == [False, False]
