"""Events as entries of a Redis stream."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from ..batch import UnreachableError
from ..redis_connection import connect
from .event_queue import place_of

RETRIES = 7  # of adding an entry, over half a minute


class RedisEvents:
    """Events as entries of a Redis stream. Sample and number form the id, so none is added twice."""

    def __init__(self, url: str, warn: Callable[[str], None]) -> None:
        self.client, address = connect(url, warn=warn)
        from redis.backoff import ExponentialBackoff
        from redis.retry import Retry

        self.client.set_retry(Retry(ExponentialBackoff(cap=8.0, base=0.25), RETRIES))
        self.name, self.stream = address.shown, address.name

    def write(self, events: Sequence[dict[str, Any]]) -> None:
        """Add events that are not there yet."""
        import redis

        for event in events:
            sample, number = place_of(event)
            fields = {name: json.dumps(value) for name, value in event.items() if name != "kind"}
            try:
                self.client.xadd(self.stream, {"kind": event["kind"], **fields}, id=f"{sample}-{number}")
            except redis.ResponseError as error:
                if "equal or smaller" not in str(error):
                    raise UnreachableError(f"{self.name} refuses events: {error}.") from None
            except redis.RedisError as error:
                raise UnreachableError(f"{self.name} does not answer: {str(error).rstrip('.')}.") from None

    def mark(self) -> None:
        """The server has no position."""

    def rewind(self, mark: Any) -> None:
        """Entries stay, and are not added again."""

    def finish(self) -> None:
        """Close after the last event."""
        self.client.close()

    def abort(self) -> None:
        """Close after an error."""
        self.client.close()
