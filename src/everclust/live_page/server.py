"""The web server of the live page: the page, its frames and details, and the buttons."""

from __future__ import annotations

import json
import os
import re
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

from .access import has_token, is_local, is_own_host, is_same_origin
from .control import Control
from .details import cluster_details, node_details
from .frames import Viewer, as_message, palette
from .notebook import hub_prefix
from .plane import Plane

CONTENT_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
HEARTBEAT_SECONDS = 1.0  # after which an idle stream of frames says that the server is alive
SEND_TIMEOUT = 10.0  # seconds after which a viewer that reads nothing is disconnected
MAX_VIEWERS = 24
TOKEN_VARIABLE = "EVERCLUST_TOKEN"
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self' http://localhost:* http://127.0.0.1:* "
    # A notebook in VS Code: the frame around the output, and the window around that; both in a browser.
    "vscode-webview: vscode-file: https://*.vscode-cdn.net",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class PageServer(ThreadingHTTPServer):
    """Serves the page of one model."""

    daemon_threads = True
    block_on_close = False

    def __init__(
        self, control: Control, title: str, address: tuple[str, int], token: str | None, view_only: bool
    ) -> None:
        self.control, self.title, self.token, self.view_only = control, title, token, view_only
        host, port = address
        self.instance = secrets.token_hex(8)
        self.static = _static_files()
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, port), Handler)
        except OSError as error:
            raise OSError(error.errno, error.strerror, f"Port {port} of {host}") from None

    def server_bind(self) -> None:
        """Bind without `http.server`'s reverse DNS lookup, which can block."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "everclust", self.port

    @property
    def port(self) -> int:
        """Port that the server listens on."""
        return int(self.server_address[1])

    @property
    def cookie(self) -> str:
        """Name of the cookie. It holds the port, because browsers share cookies between ports."""
        return f"everclust-{self.port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore viewers that disconnect; report every other error."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def serve_in_thread(self) -> None:
        """Answer requests in a daemon thread."""
        threading.Thread(target=self.serve_forever, args=(0.1,), name="everclust-page", daemon=True).start()

    def stop(self) -> None:
        """Notify the viewers and stop answering."""
        self.control.watcher.stop()
        self.shutdown()
        self.server_close()


def token_for(host: str) -> str | None:
    """The token of EVERCLUST_TOKEN, or a random one; None without either, if only this machine is served.

    A hub's proxy makes the page known under another name, so that it needs one there.
    """
    given = os.environ.get(TOKEN_VARIABLE)
    if not given:
        return None if is_local(host) and hub_prefix() is None else secrets.token_urlsafe(16)
    if not re.fullmatch(r"[\w-]{16,}", given, re.ASCII):
        raise ValueError(
            f"{TOKEN_VARIABLE} holds {len(given)} characters, but a token needs 16 or more, all of them "
            "letters, digits, - or _; choose another one."
        )
    return given


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: PageServer
    timeout = SEND_TIMEOUT
    server_version = "everclust"
    sys_version = ""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""

    def do_GET(self) -> None:
        """Send the page, its scripts and styles, frames or details."""
        path, query = self._split_path()
        if not self._is_allowed(query.get("token"), same_origin_only=path != "/"):
            return
        if path == "/" and self.server.token is not None and "token" in query:
            self._move_token_to_cookie()
        elif path in self.server.static:
            self._send(HTTPStatus.OK, *self.server.static[path])
        elif path == "/frames":
            self._send_stream(Plane(_number(query.get("x")), _number(query.get("y"))))
        elif path in ("/cluster", "/node"):
            self._send_details(path, _number(query.get("id")))
        else:
            self._refuse(HTTPStatus.NOT_FOUND, f"Page {path} not found.")

    def do_POST(self) -> None:
        """Run the command of a button."""
        path, query = self._split_path()
        if not self._is_allowed(query.get("token"), same_origin_only=True):
            return
        if self.server.view_only:
            self._refuse(HTTPStatus.FORBIDDEN, "This page is view-only: its viewers cannot pause or step.")
            return
        try:
            known = _execute(self.server.control, path, query)
        except ValueError as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
            return
        if known:
            self._send_json(self.server.control.state())
        else:
            self._refuse(HTTPStatus.NOT_FOUND, f"Unknown command {path}: use /pause, /go, /step or /speed.")

    def _split_path(self) -> tuple[str, dict[str, str]]:
        url = urlsplit(self.path)
        return url.path, {name: values[-1] for name, values in parse_qs(url.query).items()}

    def _is_allowed(self, given: str | None, same_origin_only: bool) -> bool:
        server = self.server
        headers = dict(self.headers.items())
        if not is_own_host(headers, server.token):
            reason = "The Host header names another machine: open the page at http://127.0.0.1."
        elif same_origin_only and not is_same_origin(headers):
            reason = (
                "The request came from another page (cross-origin); only the live page itself may send it."
            )
        elif not has_token(headers, given, server.token, server.cookie):
            reason = "The token is missing or wrong: open the URL printed at the start, with ?token=…"
        else:
            return True
        self._refuse(HTTPStatus.FORBIDDEN, reason)
        return False

    def _move_token_to_cookie(self) -> None:
        """Redirect to the page without the token in its URL, which other people may see."""
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", "./")  # relative: a proxy may serve the page from another path
        cookie = f"{self.server.cookie}={self.server.token}; HttpOnly; SameSite=Strict; Path=/"
        self.send_header("Set-Cookie", cookie)
        self._finish_headers(0)

    def _send_details(self, path: str, number: int | None) -> None:
        watcher = self.server.control.watcher
        details = None
        if watcher.capture is not None and number is not None:
            names = watcher.feature_names()
            find = cluster_details if path == "/cluster" else node_details
            details = find(watcher.capture, names, number)
        if details is None:
            self._refuse(
                HTTPStatus.NOT_FOUND, f"The model has no {path[1:]} {number}; it may have been removed."
            )
        else:
            self._send_json(details)

    def _send_stream(self, plane: Plane) -> None:
        watcher = self.server.control.watcher
        if watcher.n_viewers >= MAX_VIEWERS:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, f"The page already has {MAX_VIEWERS} viewers.")
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/event-stream")
        self._finish_headers()
        with watcher.viewing():
            try:
                self._send_frames(Viewer(watcher, plane))
            except OSError:  # the viewer disconnected or reads nothing
                self.close_connection = True

    def _send_frames(self, viewer: Viewer) -> None:
        server, watcher = self.server, self.server.control.watcher
        hello = {
            "instance": server.instance,
            "title": server.title,
            "controls_stream": server.control.throttle is not None,
            "view_only": server.view_only,
        }
        self.wfile.write(as_message("hello", {**hello, "palette": palette()}))
        while not watcher.stopped:
            n_notices = watcher.n_notices
            frame = viewer.frame(server.control.state())
            self.wfile.write(as_message(*("frame", frame) if frame else ("alive", {})))
            watcher.wait(viewer.version, n_notices, HEARTBEAT_SECONDS)
        self.wfile.write(as_message("stopped", {}))

    def _send_json(self, record: dict[str, Any]) -> None:
        self._send(HTTPStatus.OK, "application/json", json.dumps(record).encode())

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        self._send(status, "text/plain; charset=utf-8", message.encode())

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self._finish_headers(len(body))
        self.wfile.write(body)

    def _finish_headers(self, length: int | None = None) -> None:
        for name, value in SECURITY_HEADERS.items():
            self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()


def _execute(control: Control, path: str, query: dict[str, str]) -> bool:
    """Run a command; False if there is none of that name."""
    if path in ("/pause", "/go"):
        control.pause(path == "/pause")
    elif path == "/step":
        control.step(int(query.get("rows", "1")))
    elif path == "/speed":
        control.set_speed(float(query["rows"]) if query.get("rows") else None)
    else:
        return False
    return True


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdecimal() and len(text) < 12 else None


def _static_files() -> dict[str, tuple[str, bytes]]:
    folder = files("everclust.live_page") / "static"
    found = {}
    for entry in folder.iterdir():
        kind = CONTENT_TYPES.get("." + entry.name.rpartition(".")[2])
        if kind is not None:
            name = "/" if entry.name == "page.html" else f"/{entry.name}"
            found[name] = f"{kind}; charset=utf-8", entry.read_bytes()
    return found
