"""An MQTT topic: messages are acknowledged only once a checkpoint holds what was learnt from them."""

from __future__ import annotations

import queue
import secrets
import time
from collections.abc import Iterator
from typing import Any

from ...optional import require
from ..batch import Batch, Position, StreamError, UnreachableError
from ..columns import Columns
from ..urls import address_of
from .messages import AT_ONCE, WAIT, row_of, table_of
from .reconnect import Absence

QUIET = 0.5  # seconds without a message after which the broker may be waiting for acknowledgements
FORGOTTEN = None  # comes in place of a message: the broker knows nothing of what it delivered before


class MqttTopic:
    """`mqtt://host:port/topic?client=…&sequence=field`.

    The broker delivers again what was not acknowledged: every message is learnt at least once. If messages
    have a field whose number only grows, name it as `sequence`: then none is learnt twice.
    """

    named, endless = True, True

    def __init__(self, url: str, columns: Columns) -> None:
        paho = require("paho.mqtt.client", extra="mqtt", purpose="mqtt://")
        is_secure = url.startswith("mqtts")
        address = address_of(url, 8883 if is_secure else 1883, "topic", ("client", "sequence"))
        self.columns, self.url, self.topic = columns, address.shown, address.name
        self.sequence = address.options.get("sequence")
        self.arrived: queue.Queue[Any] = queue.Queue()
        self.open: list[tuple[int, int, int]] = []  # not acknowledged: number here, number there, quality
        self.n_new, self.latest = 0, time.monotonic()
        self.session = secrets.token_hex(4)  # numbers here mean nothing to a run that goes on
        self.client: Any = paho.Client(
            paho.CallbackAPIVersion.VERSION2,
            client_id=address.options.get("client", f"everclust-{self.topic}"),
            clean_session=False,
            manual_ack=True,
        )
        self.client.on_connect, self.client.on_disconnect = self._connected, self._disconnected
        self.client.on_message = self._came
        self.refused: str | None = None
        self.trouble: str | None = None  # why the connection is broken, while it is
        self.absence = Absence(self.url)
        self.client.reconnect_delay_set(1, 8)
        if address.user is not None:
            self.client.username_pw_set(address.user, address.password)
        if is_secure:
            self.client.tls_set()
        try:
            self.client.connect(*address.only_host())
        except OSError as error:
            raise UnreachableError(f"{self.url} does not answer: {error.strerror or error}.") from None

    def _connected(self, client: Any, data: Any, flags: Any, reason: Any, properties: Any) -> None:
        if reason.is_failure:
            self.refused = str(reason)
        else:
            self.trouble = None
            if not flags.session_present:
                self.arrived.put(FORGOTTEN)
            client.subscribe(self.topic, qos=1)

    def _disconnected(self, client: Any, data: Any, flags: Any, reason: Any, properties: Any) -> None:
        """The client connects again by itself."""
        self.trouble = str(reason)

    def _came(self, client: Any, data: Any, message: Any) -> None:
        self.arrived.put(message)

    @property
    def wants_checkpoint(self) -> bool:
        """Nothing comes while something is not acknowledged: the broker's window may be full."""
        is_quiet = time.monotonic() - self.latest > QUIET
        return bool(self.open) and is_quiet and self.trouble is None

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """Messages as they come, for ever."""
        last = position["sequence"] if position else None
        self.client.loop_start()
        while True:
            self._check()
            rows, places = [], []
            for message in self._take():
                if message is FORGOTTEN:
                    self.open.clear()  # from now on those numbers stand for other messages
                elif not self._came_before(message):
                    row = row_of(message.payload)
                    if self._is_new(row, last):
                        self.n_new += 1
                        last = row.get(self.sequence, last) if self.sequence else None
                        rows.append(row)
                        places.append(self._place(self.n_new, last))
                    # A duplicate is settled together with the message before it.
                    self.open.append((self.n_new, message.mid, message.qos))
            yield _batch(rows, places, self.columns, self._place(0, last))

    def _came_before(self, message: Any) -> bool:
        """Is it delivered again after a break, though we have it and will acknowledge it?"""
        return message.dup and any(message.mid == number for _, number, _ in self.open)

    def _check(self) -> None:
        if self.refused is not None:
            raise UnreachableError(f"{self.url} refuses the connection: {self.refused}.")
        if self.trouble is None:
            self.absence.is_over()
        else:
            self.absence.lasts(self.trouble)

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
        if self.open and self.trouble is not None:
            raise UnreachableError(
                f"{self.url} could not be told what was learnt: {self.trouble}; some of it may come again."
            )
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
        if self.client is not None:
            self.client.disconnect()
            self.client.loop_stop()
            self.client = None  # it closes its last sockets when nobody refers to it any more


def _batch(rows: list[Any], places: list[Any], columns: Columns, before: Position) -> Batch:
    return Batch(table_of(rows, columns), lambda n_rows: places[n_rows - 1] if n_rows else before)
