"""Events as entries of a Redis stream."""

from __future__ import annotations

import json
from typing import Any

from ..batch import UnreachableError
from ..reconnect import RefusedError
from ..redis_connection import client_of, ping
from .event_queue import sort_key_of
from .queued import MAX_BATCH, UndeliveredError


class RedisEvents:
    """Delivers events as entries of a Redis stream. Sample and number form the id, so none is added twice.

    A server that does not answer when the run begins is tried again later; one that refuses the password is
    an error.
    """

    max_batch = MAX_BATCH

    def __init__(self, url: str) -> None:
        self.client, address = client_of(url)
        self.shown, self.stream = address.shown, address.name
        try:
            ping(self.client, self.shown)
        except UnreachableError as error:  # `deliver` tries again
            if isinstance(error, RefusedError):
                self.client.close()
                raise

    def deliver(self, batch: list[dict[str, Any]]) -> None:
        """Add events that are not there yet."""
        import redis

        for event in batch:
            sample, number = sort_key_of(event)
            fields = {name: json.dumps(value) for name, value in event.items() if name != "kind"}
            try:
                self.client.xadd(self.stream, {"kind": event["kind"], **fields}, id=f"{sample}-{number}")
            except redis.RedisError as error:
                if "equal or smaller" not in str(error):
                    raise UndeliveredError(str(error)) from None

    def close(self) -> None:
        """Close the connection."""
        self.client.close()
