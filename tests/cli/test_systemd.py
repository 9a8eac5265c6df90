"""What systemd is told: a run is ready when its source has answered, then alive, at last about to end."""

import os
import socket
from contextlib import contextmanager

import pytest

from everclust.cli.systemd import Notifier

IDATS = ["--id", "name", "--label", "kind", "--algorithm", "idat"]


@contextmanager
def listening(address):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ours:
        ours.bind("\0" + address[1:] if address.startswith("@") else address)
        ours.settimeout(5)
        yield ours


def messages(ours):
    ours.setblocking(False)
    found = []
    try:
        while True:
            found.append(ours.recv(100).decode())
    except BlockingIOError:
        return found


@pytest.mark.parametrize("address", ["notify", "@everclust-test"])
def test_a_run_tells_that_it_is_ready_and_that_it_ends(points, call, monkeypatch, address):
    address += f"-{os.getpid()}"
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    with listening(address) as ours:
        call("fit", points, "-m", "m", *IDATS)
        assert messages(ours) == ["READY=1", "STOPPING=1"]


def test_a_run_that_cannot_read_its_source_is_never_ready(folder, call, sentence, monkeypatch):
    (folder / "x.csv").write_text("a,b\n1,x\n")
    monkeypatch.setenv("NOTIFY_SOCKET", "notify")
    with listening("notify") as ours:
        sentence("fit", "x.csv", "-m", "m")
        assert messages(ours) == ["STOPPING=1"]


def test_a_run_tells_the_watchdog_that_it_is_alive(points, call, monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", "notify")
    monkeypatch.setenv("WATCHDOG_USEC", "1")
    words = ["fit", points, "-m", "m", *IDATS, "-p", "p.csv", "--block", 500]
    with listening("notify") as ours:
        call(*words)
        assert messages(ours) == ["READY=1", *["WATCHDOG=1"] * 5, "STOPPING=1"]
        monkeypatch.setenv("WATCHDOG_PID", str(os.getpid() + 1))
        call(*words, "--force")
        assert messages(ours) == ["READY=1", "STOPPING=1"]


def test_the_watchdog_hears_twice_in_its_time():
    notifier = Notifier("/nowhere", 600.0)
    assert notifier.pause == 300.0


def test_a_socket_that_is_gone_ends_no_run(points, call, monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", "nowhere")
    call("fit", points, "-m", "m", *IDATS)
