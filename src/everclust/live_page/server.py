"""The web server of the live page: the page, its frames and details, and the buttons."""

from __future__ import annotations

import json
import secrets
import socket
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from socketserver import TCPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .access import has_token, is_local, is_own_page, knows_us
from .control import Control
from .details import cluster_details, node_details
from .frames import Viewer, as_message, palette
from .plane import Plane

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
HEARTBEAT = 1.0  # seconds after which a silent stream says that it is still there
PATIENCE = 10.0  # seconds after which a viewer who takes nothing is given up
MOST_VIEWERS = 24
SAFETY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self' http://localhost:* http://127.0.0.1:* vscode-webview:",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class PageServer(ThreadingHTTPServer):
    """Serves one page about one model."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, control: Control, title: str, host: str, port: int, token: str | None) -> None:
        self.control, self.title, self.token = control, title, token
        self.instance = secrets.token_hex(8)
        self.static = _static_files()
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, port), Handler)
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"Port {port} of {host}") from None

    def server_bind(self) -> None:
        """Without the look into the network's names that the library takes here, which can last."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "everclust", self.port

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.server_address[1])

    @property
    def cookie(self) -> str:
        """Cookies do not know ports, so that the name has to."""
        return f"everclust-{self.port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing about viewers who vanish."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def serve_in_thread(self) -> None:
        """Answer from now on."""
        threading.Thread(target=self.serve_forever, args=(0.1,), name="everclust-page", daemon=True).start()

    def stop(self) -> None:
        """Tell the viewers, and answer no more."""
        self.control.watcher.stop()
        self.shutdown()
        self.server_close()


def needed_token(host: str) -> str | None:
    """A new token, unless only this machine can reach the page."""
    return None if is_local(host) else secrets.token_urlsafe(16)


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: PageServer
    timeout = PATIENCE
    server_version = "everclust"
    sys_version = ""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """The page, its parts, frames, details."""
        path, query = self._asked()
        if not self._admitted(query.get("token"), own_page_only=path != "/"):
            return
        if path == "/" and self.server.token is not None and "token" in query:
            self._remember_token()
        elif path in self.server.static:
            self._send(HTTPStatus.OK, *self.server.static[path])
        elif path == "/frames":
            self._stream(Plane(_whole(query.get("x")), _whole(query.get("y"))))
        elif path in ("/cluster", "/node"):
            self._details(path, _whole(query.get("id")))
        else:
            self._refuse(HTTPStatus.NOT_FOUND, f"There is nothing at {path}.")

    def do_POST(self) -> None:
        """The buttons."""
        path, query = self._asked()
        if not self._admitted(query.get("token"), own_page_only=True):
            return
        try:
            known = _press(self.server.control, path, query)
        except ValueError as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
            return
        if known:
            self._send_json(self.server.control.state())
        else:
            self._refuse(HTTPStatus.NOT_FOUND, f"There is no button {path}.")

    def _asked(self) -> tuple[str, dict[str, str]]:
        url = urlsplit(self.path)
        return url.path, {name: values[-1] for name, values in parse_qs(url.query).items()}

    def _admitted(self, given: str | None, own_page_only: bool) -> bool:
        server = self.server
        headers = dict(self.headers.items())
        if not knows_us(headers, server.token):
            reason = "The page was asked for by a name that is not its own; use http://127.0.0.1."
        elif own_page_only and not is_own_page(headers):
            reason = "The request came from another page, and only this one may ask."
        elif not has_token(headers, given, server.token, server.cookie):
            reason = "The page needs the token printed when it was started: add ?token=… to its address."
        else:
            return True
        self._refuse(HTTPStatus.FORBIDDEN, reason)
        return False

    def _remember_token(self) -> None:
        """The token leaves the address, which others may see, for a cookie."""
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", "/")
        cookie = f"{self.server.cookie}={self.server.token}; HttpOnly; SameSite=Strict; Path=/"
        self.send_header("Set-Cookie", cookie)
        self._finish_headers(0)

    def _details(self, path: str, number: int | None) -> None:
        watcher = self.server.control.watcher
        details = None
        if watcher.picture is not None and number is not None:
            names = watcher.feature_names()
            find = cluster_details if path == "/cluster" else node_details
            details = find(watcher.picture, names, number)
        if details is None:
            self._refuse(HTTPStatus.NOT_FOUND, f"There is no {path[1:]} {number} any more.")
        else:
            self._send_json(details)

    def _stream(self, plane: Plane) -> None:
        watcher = self.server.control.watcher
        if watcher.n_viewers >= MOST_VIEWERS:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, f"There are {MOST_VIEWERS} viewers already.")
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self._finish_headers()
        with watcher.viewing():
            try:
                self._send_frames(Viewer(watcher, plane))
            except OSError:  # the viewer has vanished, or takes nothing
                self.close_connection = True

    def _send_frames(self, viewer: Viewer) -> None:
        server, watcher = self.server, self.server.control.watcher
        hello = {
            "instance": server.instance,
            "title": server.title,
            "drives": server.control.pace is not None,
        }
        self.wfile.write(as_message("hello", {**hello, "palette": palette()}))
        while not watcher.stopped:
            n_tellings = watcher.n_tellings
            frame = viewer.frame(server.control.state())
            self.wfile.write(as_message("frame", frame) if frame else b": still here\n\n")
            watcher.wait(viewer.version, n_tellings, HEARTBEAT)
        self.wfile.write(as_message("stopped", {}))

    def _send_json(self, record: dict[str, Any]) -> None:
        self._send(HTTPStatus.OK, "application/json", json.dumps(record).encode())

    def _refuse(self, status: HTTPStatus, sentence: str) -> None:
        self._send(status, "text/plain; charset=utf-8", sentence.encode())

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self._finish_headers(len(body))
        self.wfile.write(body)

    def _finish_headers(self, length: int | None = None) -> None:
        for name, value in SAFETY.items():
            self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()


def _press(control: Control, path: str, query: dict[str, str]) -> bool:
    """Press a button, if there is one of that name."""
    if path in ("/pause", "/go"):
        control.pause(path == "/pause")
    elif path == "/step":
        control.step(int(query.get("rows", "1")))
    elif path == "/speed":
        control.set_speed(float(query["rows"]) if query.get("rows") else None)
    else:
        return False
    return True


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdecimal() and len(text) < 12 else None


def _static_files() -> dict[str, tuple[str, bytes]]:
    folder = files("everclust.live_page") / "static"
    found = {}
    for entry in folder.iterdir():
        kind = TYPES.get("." + entry.name.rpartition(".")[2])
        if kind is not None:
            name = "/" if entry.name == "page.html" else f"/{entry.name}"
            found[name] = f"{kind}; charset=utf-8", entry.read_bytes()
    return found
