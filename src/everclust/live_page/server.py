"""A small server for one page about one model."""

from __future__ import annotations

import secrets
import socket
import sys
import threading
from http.server import ThreadingHTTPServer
from importlib.resources import files
from socketserver import TCPServer
from typing import Any

from .access import is_local
from .control import Control
from .handler import Handler

TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


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


def _static_files() -> dict[str, tuple[str, bytes]]:
    folder = files("everclust.live_page") / "static"
    found = {}
    for entry in folder.iterdir():
        kind = TYPES.get("." + entry.name.rpartition(".")[2])
        if kind is not None:
            name = "/" if entry.name == "page.html" else f"/{entry.name}"
            found[name] = f"{kind}; charset=utf-8", entry.read_bytes()
    return found
