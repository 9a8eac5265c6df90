"""Events as HTTP requests."""

from __future__ import annotations

import json
import re
import urllib.request
from base64 import b64encode
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from types import MappingProxyType
from typing import Any
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit

from ..batch import StreamError
from ..secrets import with_secrets
from .event_queue import sort_key_of
from .queued import MAX_BATCH, UndeliveredError

TIMEOUT = 5.0  # seconds


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *request: Any) -> None:
        """Let a redirection be an error."""


_opener = urllib.request.build_opener(_NoRedirection)
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*\S)\s*")


def webhook_heads(texts: Sequence[str]) -> dict[str, str]:
    """Headers from texts such as `Authorization: Bearer ${TOKEN}`; values may be secrets."""
    heads = {}
    for text in texts:
        found = _HEADER.fullmatch(with_secrets(text))
        if found is None or not found[2].isprintable() or not found[2].isascii():
            name = text.partition(":")[0] if ":" in text else "…"
            raise StreamError(
                f"--webhook-header has {name!r}, but it must be a name, a colon and a value of printable "
                "ASCII characters, as in 'Authorization: Bearer ${TOKEN}'."
            )
        heads[found[1]] = found[2]
    return heads


class Webhook:
    """Delivers events in batches, each batch as a JSON array in one POST.

    The path may be a secret, so messages show the host only. Redirections are not followed: a POST would
    become a GET without its events, and another host would get the headers.
    """

    max_batch = MAX_BATCH

    def __init__(self, url: str, heads: Mapping[str, str] = MappingProxyType({})) -> None:
        parts = urlsplit(url)
        login, _, host = parts.netloc.rpartition("@")
        self.shown = f"{parts.scheme}://{host}/…"
        if not url.isprintable() or " " in url:
            raise StreamError(f"{self.shown} was given with a blank; write it as %20.")
        self.url = parts._replace(netloc=host).geturl()
        self.heads = {"Content-Type": "application/json"}
        if login:
            self.heads["Authorization"] = f"Basic {b64encode(unquote(login).encode()).decode()}"
        self.heads |= heads

    def deliver(self, batch: list[dict[str, Any]]) -> None:
        """Send a request; the same batch has the same key, should it come twice."""
        sample, number = sort_key_of(batch[0])
        heads = {**self.heads, "Idempotency-Key": f"{sample}-{number}-{len(batch)}"}
        request = urllib.request.Request(self.url, json.dumps(batch).encode(), heads)
        try:
            with _opener.open(request, timeout=TIMEOUT):
                pass
        except HTTPError as error:
            hint = "; give the URL to which it redirects" if 300 <= error.code < 400 else ""
            raise UndeliveredError(f"HTTP Error {error.code}: {error.reason}{hint}") from None
        except (OSError, HTTPException) as error:
            raise UndeliveredError(str(error)) from None

    def close(self) -> None:
        """A request has a connection of its own."""
