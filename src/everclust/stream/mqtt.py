"""An MQTT topic: messages are acknowledged only once a checkpoint holds what was learnt from them."""

from __future__ import annotations

import queue
import secrets
import time
from collections.abc import Iterator
from typing import Any

from .batch import Batch, Position, StreamError, UnreachableError
from .columns import Columns
from .messages import AT_ONCE, WAIT, address, row_of, table_of, without_password

PATIENCE = 10.0  # seconds
QUIET = 0.5  # seconds without a message after which the broker may be waiting for acknowledgements


class MqttTopic:
    """`mqtt://host:port/topic?client=…&sequence=field`.

    The broker delivers again what was not acknowledged: every message is learnt at least once. If messages
    have a field whose number only grows, name it as `sequence`: then none is learnt twice.
    """

    named, endless = True, True

    def __init__(self, url: str, columns: Columns) -> None:
        try:
            from paho.mqtt import client as paho
            from paho.mqtt.enums import CallbackAPIVersion
        except ImportError:
            raise ImportError("mqtt:// needs paho-mqtt: pip install 'everclust[mqtt]'") from None
        parts, _, self.topic, options = address(url, 8883 if url.startswith("mqtts") else 1883, "topic")
        self.columns, self.url = columns, without_password(url)
        self.sequence = options.get("sequence")
        self.arrived: queue.Queue[Any] = queue.Queue()
        self.open: list[tuple[int, int, int]] = []  # not acknowledged: number here, number there, quality
        self.n_new, self.latest = 0, time.monotonic()
        self.session = secrets.token_hex(4)  # numbers here mean nothing to a run that goes on
        self.client = paho.Client(
            CallbackAPIVersion.VERSION2,
            client_id=options.get("client", f"everclust-{self.topic}"),
            clean_session=False,
            manual_ack=True,
        )
        self.client.on_connect = self._connected
        self.client.on_message = self._came
        if parts.username:
            self.client.username_pw_set(parts.username, parts.password)
        if parts.scheme == "mqtts":
            self.client.tls_set()
        try:
            self.client.connect(parts.hostname or "localhost", parts.port or 1883)
        except OSError as error:
            raise UnreachableError(f"{self.url} does not answer: {error.strerror or error}.") from None
        self.refused: str | None = None

    def _connected(self, client: Any, data: Any, flags: Any, reason: Any, properties: Any) -> None:
        if reason.is_failure:
            self.refused = str(reason)
        else:  # also after a break: the broker may have forgotten us
            client.subscribe(self.topic, qos=1)

    def _came(self, client: Any, data: Any, message: Any) -> None:
        self.arrived.put(message)

    @property
    def wants_checkpoint(self) -> bool:
        """Nothing comes while something is not acknowledged: the broker's window may be full."""
        return bool(self.open) and time.monotonic() - self.latest > QUIET

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """Messages as they come, for ever."""
        last = position["sequence"] if position else None
        self.client.loop_start()
        while True:
            if self.refused is not None:
                raise UnreachableError(f"{self.url} refuses the connection: {self.refused}.")
            messages = self._take()
            rows, places = [], []
            for message in messages:
                row = row_of(message.payload)
                if self._is_new(row, last):
                    self.n_new += 1
                    last = row.get(self.sequence, last) if self.sequence else None
                    rows.append(row)
                    places.append(self._place(self.n_new, last))
                # A duplicate is settled together with the message before it.
                self.open.append((self.n_new, message.mid, message.qos))
            yield _batch(rows, places, self.columns, self._place(0, last))

    def _place(self, number: int, sequence: Any) -> Position:
        return {"session": self.session, "message": number, "sequence": sequence}

    def _is_new(self, row: dict[str, Any], last: Any) -> bool:
        if self.sequence is None or not row:
            return True
        if not isinstance(row.get(self.sequence), (int, float)):
            raise StreamError(
                f"A message of {self.url} has no number in its field {self.sequence!r}; name another one."
            )
        return last is None or row[self.sequence] > last

    def _take(self) -> list[Any]:
        """What has come; waits for a moment if nothing has."""
        messages: list[Any] = []
        try:
            messages.append(self.arrived.get(timeout=WAIT))
            while len(messages) < AT_ONCE:
                messages.append(self.arrived.get_nowait())
        except queue.Empty:
            pass
        if messages:
            self.latest = time.monotonic()
        return messages

    def settle(self, position: Position) -> None:
        """Acknowledge all that came before a position."""
        is_ours = position is not None and position["session"] == self.session
        last = position["message"] if is_ours else 0
        for number, message, quality in self.open:
            if number <= last:
                self.client.ack(message, quality)
        self.open = [one for one in self.open if one[0] > last]
        self.latest = time.monotonic()

    def fraction(self, position: Position) -> float | None:
        """It has no end."""
        return None

    def close(self) -> None:
        """Let go of the connection; the broker keeps what was not acknowledged."""
        self.client.disconnect()
        self.client.loop_stop()


def _batch(rows: list[Any], places: list[Any], columns: Columns, before: Position) -> Batch:
    return Batch(table_of(rows, columns), lambda n_rows: places[n_rows - 1] if n_rows else before)
