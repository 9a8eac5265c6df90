"""An MQTT topic; messages are acknowledged when a checkpoint holds what was learnt from them."""

from __future__ import annotations

import queue
import secrets
import time
from collections.abc import Callable, Iterator
from typing import Any

from ...optional import require
from ..batch import Batch, Position, StreamError, UnreachableError
from ..columns import Columns
from ..reconnect import Outage, wait_for_server
from ..urls import address_of
from .messages import MAX_MESSAGES, WAIT, row_of, table_of

QUIET_SECONDS = 0.5  # without a message, after which the broker may be waiting for acknowledgements
SESSION_LOST = None  # queued in place of a message: the broker has no session of ours


class MqttTopic:
    """`mqtt://host:port/topic?client=…&sequence=field`.

    The broker redelivers messages that were not acknowledged, so each is learnt at least once. If messages
    have a field with an increasing number, name it as `sequence`: then none is learnt twice.
    """

    named, endless = True, True

    def __init__(self, url: str, columns: Columns, warn: Callable[[str], None]) -> None:
        paho = require("paho.mqtt.client", extra="mqtt", purpose="mqtt://")
        is_secure = url.startswith("mqtts")
        address = address_of(url, 8883 if is_secure else 1883, "topic", ("client", "sequence"))
        self.columns, self.url, self.topic = columns, address.shown, address.name
        self.sequence = address.options.get("sequence")
        self.arrived: queue.Queue[Any] = queue.Queue()
        self.open: list[tuple[int, int, int]] = []  # not acknowledged: our number, message id, QoS
        self.n_new, self.latest = 0, time.monotonic()
        self.session = secrets.token_hex(4)  # our numbers mean nothing to a resumed run
        self.client: Any = paho.Client(
            paho.CallbackAPIVersion.VERSION2,
            client_id=address.options.get("client", f"everclust-{self.topic}"),
            clean_session=False,
            manual_ack=True,
        )
        self.client.on_connect, self.client.on_disconnect = self._on_connect, self._on_disconnect
        self.client.on_message = self._on_message
        self.refused: str | None = None
        self.trouble: str | None = None  # reason while the connection is broken
        self.outage = Outage(self.url)
        self.client.reconnect_delay_set(1, 8)
        if address.user is not None:
            self.client.username_pw_set(address.user, address.password)
        if is_secure:
            self.client.tls_set()
        wait_for_server(lambda: self._connect(*address.only_host()), warn)

    def _connect(self, host: str, port: int) -> None:
        try:
            self.client.connect(host, port)
        except OSError as error:
            raise UnreachableError(f"{self.url} does not answer: {error.strerror or error}.") from None

    def _on_connect(self, client: Any, data: Any, flags: Any, reason: Any, properties: Any) -> None:
        if reason.is_failure:
            self.refused = str(reason)
        else:
            self.trouble = None
            if not flags.session_present:
                self.arrived.put(SESSION_LOST)
            client.subscribe(self.topic, qos=1)

    def _on_disconnect(self, client: Any, data: Any, flags: Any, reason: Any, properties: Any) -> None:
        """The client reconnects on its own."""
        self.trouble = str(reason)

    def _on_message(self, client: Any, data: Any, message: Any) -> None:
        self.arrived.put(message)

    @property
    def wants_checkpoint(self) -> bool:
        """True when nothing arrives while messages are not acknowledged: the in-flight window may be full."""
        is_quiet = time.monotonic() - self.latest > QUIET_SECONDS
        return bool(self.open) and is_quiet and self.trouble is None

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """Messages as they arrive, without end."""
        last = position["sequence"] if position else None
        self.client.loop_start()
        while True:
            self._check()
            rows, positions = [], []
            for message in self._receive():
                if message is SESSION_LOST:
                    self.open.clear()  # their message ids are reused from now on
                elif not self._is_redelivered(message):
                    row = row_of(message.payload)
                    if self._is_new(row, last):
                        self.n_new += 1
                        last = row.get(self.sequence, last) if self.sequence else None
                        rows.append(row)
                        positions.append(self._position(self.n_new, last))
                    # A duplicate is acknowledged together with the message before it.
                    self.open.append((self.n_new, message.mid, message.qos))
            yield _batch(rows, positions, self.columns, self._position(0, last))

    def _is_redelivered(self, message: Any) -> bool:
        """Whether it was redelivered after a reconnect, although it waits here to be acknowledged."""
        return message.dup and any(message.mid == number for _, number, _ in self.open)

    def _check(self) -> None:
        if self.refused is not None:
            raise UnreachableError(f"{self.url} refuses the connection: {self.refused}.")
        if self.trouble is None:
            self.outage.end()
        else:
            self.outage.check(self.trouble)

    def _position(self, number: int, sequence: Any) -> Position:
        return {"session": self.session, "message": number, "sequence": sequence}

    def _is_new(self, row: dict[str, Any], last: Any) -> bool:
        if self.sequence is None or not row:
            return True
        if not isinstance(row.get(self.sequence), (int, float)):
            raise StreamError(
                f"A message of {self.url} has no number in its field {self.sequence!r}; name another one."
            )
        return last is None or row[self.sequence] > last

    def _receive(self) -> list[Any]:
        """Messages that have arrived; waits up to WAIT seconds for the first."""
        messages: list[Any] = []
        try:
            messages.append(self.arrived.get(timeout=WAIT))
            while len(messages) < MAX_MESSAGES:
                messages.append(self.arrived.get_nowait())
        except queue.Empty:
            pass
        if messages:
            self.latest = time.monotonic()
        return messages

    def acknowledge(self, position: Position) -> None:
        """Acknowledge all messages up to a position."""
        if self.open and self.trouble is not None:
            raise UnreachableError(
                f"{self.url} could not be sent acknowledgements: {self.trouble}; messages may come again."
            )
        is_ours = position is not None and position["session"] == self.session
        last = position["message"] if is_ours else 0
        for number, message, quality in self.open:
            if number <= last:
                self.client.ack(message, quality)
        self.open = [one for one in self.open if one[0] > last]
        self.latest = time.monotonic()

    def fraction(self, position: Position) -> float | None:
        """A topic has no end."""
        return None

    def lag(self) -> dict[str, int]:
        """A broker does not say how many messages wait."""
        return {}

    def close(self) -> None:
        """Close the connection; the broker keeps messages that were not acknowledged."""
        if self.client is not None:
            self.client.disconnect()
            self.client.loop_stop()
            self.client = None  # it closes its last sockets when it is deleted


def _batch(rows: list[Any], positions: list[Any], columns: Columns, before: Position) -> Batch:
    return Batch(table_of(rows, columns), lambda n_rows: positions[n_rows - 1] if n_rows else before)
