"""Events as HTTP requests."""

from __future__ import annotations

import json
import time
import urllib.request
from base64 import b64encode
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any
from urllib.parse import unquote, urlsplit

from ..batch import StreamError, UnreachableError

TIMEOUT = 10.0  # seconds
ATTEMPTS = 5


class Webhook:
    """Sends a POST for each event; after a crash some again, with the same `Idempotency-Key`.

    The path may be a secret, so messages show the host only.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        login, _, host = parts.netloc.rpartition("@")
        self.name = f"{parts.scheme}://{host}/…"
        if not url.isprintable() or " " in url:
            raise StreamError(f"{self.name} was given with a blank; write it as %20.")
        self.url = parts._replace(netloc=host).geturl()
        self.heads = {"Content-Type": "application/json"}
        if login:
            self.heads["Authorization"] = f"Basic {b64encode(unquote(login).encode()).decode()}"

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Send events, each up to ATTEMPTS times."""
        for event in events:
            self._send(event)

    def _send(self, event: dict[str, Any]) -> None:
        heads = {**self.heads, "Idempotency-Key": f"{event['sample']}-{event['number']}"}
        request = urllib.request.Request(self.url, json.dumps(event).encode(), heads)
        for attempt in range(ATTEMPTS):
            try:
                with urllib.request.urlopen(request, timeout=TIMEOUT):
                    return
            except (OSError, HTTPException) as error:
                reason = str(error)
                time.sleep(0.1 * 2**attempt)
        raise UnreachableError(
            f"{self.name} does not accept events: {reason}; check the address, and start again."
        )

    def mark(self) -> None:
        """A webhook has no position."""

    def rewind(self, mark: Any) -> None:
        """Requests cannot be taken back."""

    def finish(self) -> None:
        """Close after the last event."""

    def abort(self) -> None:
        """Close after an error."""
