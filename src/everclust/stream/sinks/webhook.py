"""Events as HTTP requests."""

from __future__ import annotations

import json
import urllib.request
from base64 import b64encode
from http.client import HTTPException
from typing import Any
from urllib.parse import unquote, urlsplit

from ..batch import StreamError
from .event_queue import place_of
from .queued import MAX_BATCH, UndeliveredError

TIMEOUT = 5.0  # seconds


class Webhook:
    """Delivers events in batches, each batch as a JSON array in one POST.

    The path may be a secret, so messages show the host only.
    """

    max_batch = MAX_BATCH

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        login, _, host = parts.netloc.rpartition("@")
        self.shown = f"{parts.scheme}://{host}/…"
        if not url.isprintable() or " " in url:
            raise StreamError(f"{self.shown} was given with a blank; write it as %20.")
        self.url = parts._replace(netloc=host).geturl()
        self.heads = {"Content-Type": "application/json"}
        if login:
            self.heads["Authorization"] = f"Basic {b64encode(unquote(login).encode()).decode()}"

    def deliver(self, batch: list[dict[str, Any]]) -> None:
        """Send a request; the same batch has the same key, should it come twice."""
        sample, number = place_of(batch[0])
        heads = {**self.heads, "Idempotency-Key": f"{sample}-{number}-{len(batch)}"}
        request = urllib.request.Request(self.url, json.dumps(batch).encode(), heads)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT):
                pass
        except (OSError, HTTPException) as error:
            raise UndeliveredError(str(error)) from None

    def close(self) -> None:
        """A request has a connection of its own."""
