"""Viewers without a browser, and streams in which clusters merge."""

import base64
import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from everclust import IDAT
from everclust.live_page import LivePage, live

pytest.importorskip("pandas", reason="details of a cluster need pandas")


class Answer:
    """An answer of the server."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status, self.headers = response.status, response.headers
        self.text = response.read().decode()

    def json(self) -> Any:
        return json.loads(self.text)


def ask(url: str, path: str, method: str = "GET", **headers: str) -> Answer:
    """Send a request; underscores in the names of headers are hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)) as connection:
        connection.request(method, path, headers=named)
        return Answer(connection.getresponse())


class Follower:
    """Reads frames and puts them together, as the page does."""

    def __init__(self, url: str, query: str = "", **headers: str) -> None:
        self.connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=10)
        self.connection.request("GET", f"/frames{query}", headers=headers)
        self.response = self.connection.getresponse()
        self.known: dict[str, Any] = {}
        self.events: list[Any] = []
        self.points: list[Any] = []
        self.kinds: list[str] = []
        self.frames: list[dict[str, Any]] = []

    def read(self) -> str:
        """Read the next message and return its kind."""
        kind, data = "", ""
        while line := self.response.readline().decode().rstrip("\n"):
            name, _, value = line.partition(": ")
            kind, data = (value, data) if name == "event" else (kind, value)
        self.kinds.append(kind)
        if kind == "frame":
            self._take(json.loads(data))
        elif kind == "hello":
            self.known |= json.loads(data)
        return kind

    def _take(self, frame: dict[str, Any]) -> None:
        self.frames.append(frame)
        self.events += frame.get("events", [])
        self.points += frame.get("trace", [])
        self.known |= frame

    def read_until(self, is_so: Callable[["Follower"], bool], seconds: float = 120) -> None:
        """Read until a condition holds; kernels may have to be compiled first."""
        deadline = time.monotonic() + seconds
        while not is_so(self):
            assert time.monotonic() < deadline, {k: v for k, v in self.known.items() if k != "palette"}
            self.read()

    def array(self, name: str, dtype: Any) -> np.ndarray:
        return np.frombuffer(base64.b64decode(self.known[name]), dtype)

    def close(self) -> None:
        self.response.close()
        self.connection.close()


@pytest.fixture
def follow() -> Iterator[Callable[..., Follower]]:
    """Make followers, and close them at the end."""
    made: list[Follower] = []

    def begin(*arguments: Any, **headers: str) -> Follower:
        made.append(Follower(*arguments, **headers))
        return made[-1]

    yield begin
    for follower in made:
        follower.close()


def bridged(n_rows: int = 6_000) -> np.ndarray:
    """Two blobs that a bridge joins in the second half: clusters merge."""
    rng = np.random.default_rng(3)
    side = np.where(rng.random(n_rows) < 0.5, -3.0, 3.0)
    is_bridge = (np.arange(n_rows) > n_rows // 2) & (rng.random(n_rows) < 0.5)
    x = np.where(is_bridge, rng.uniform(-3.0, 3.0, n_rows), side)
    return np.column_stack([x, np.zeros((n_rows, 2))]) + rng.normal(0.0, 0.4, (n_rows, 3))


@pytest.fixture(scope="session")
def merging() -> np.ndarray:
    X = bridged()
    assert any(event.kind == "merged" for event in IDAT().partial_fit(X).events(2000))
    return X


@pytest.fixture
def model(merging: np.ndarray) -> IDAT:
    return IDAT().partial_fit(merging[:2000])


@pytest.fixture
def page(model: IDAT) -> Iterator[LivePage]:
    with live(model) as shown:
        yield shown


@pytest.fixture
def feeding(model: IDAT, merging: np.ndarray) -> Iterator[None]:
    """Feed the model in a thread during the test."""
    done = threading.Event()

    def feed() -> None:
        start = 2000
        while not done.is_set():
            rows = np.arange(start, start + 20) % len(merging)
            model.partial_fit(merging[rows])
            start += 20
            done.wait(0.02)

    thread = threading.Thread(target=feed)
    thread.start()
    yield
    done.set()
    thread.join()


@pytest.fixture(name="ask")
def _ask() -> Callable[..., Answer]:
    return ask
