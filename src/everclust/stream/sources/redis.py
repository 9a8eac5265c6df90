"""A Redis stream, read by a consumer group; entries are acknowledged when a checkpoint holds them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from ..batch import Batch, Position, StreamError, UnreachableError
from ..columns import Columns
from ..redis_connection import connect
from .messages import MAX_MESSAGES, WAIT, row_of, table_of
from .reconnect import Outage, with_reconnect

JSON_FIELDS = (b"data", b"json")  # a single field with such a name holds all columns as JSON


class RedisStream:
    """`redis://host:port/stream?group=everclust&consumer=everclust&from=earliest|latest`.

    A position is the id of the last entry. A resumed run reads the stream itself from there, whatever the
    group counts as delivered. Use one group per model.
    """

    named, endless, wants_checkpoint = True, True, False

    def __init__(self, url: str, columns: Columns) -> None:
        self.client, address = connect(url, ("group", "consumer", "from"))
        self.columns, self.url, self.stream = columns, address.shown, address.name
        self.group = address.options.get("group", "everclust")
        self.consumer = address.options.get("consumer", "everclust")
        self.first = "$" if address.from_latest else "0"
        self.open: list[str] = []  # delivered, but not acknowledged
        self.kept: Position = None

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """Entries after a position, without end."""
        import redis

        errors = redis.ConnectionError, redis.TimeoutError
        self.kept = position
        try:
            yield from with_reconnect(self._read_from, position, Outage(self.url), errors)
        except redis.ResponseError as error:
            raise StreamError(f"{self.url} cannot be read any more: {error}.") from None

    def _read_from(self, position: Position) -> Iterator[Batch]:
        self._join(position or self.first)
        if self.kept:
            self._acknowledge_kept(self.kept)
        delivered = self._delivered_since(position) if position else self._pending()
        for some in chain(delivered, self._new()):
            yield self._batch(some, position)
            position = some[-1][0].decode() if some else position

    def _join(self, first: str) -> None:
        import redis

        try:
            self.client.xgroup_create(self.stream, self.group, id=first, mkstream=True)
        except redis.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise StreamError(f"{self.url} cannot be read as a stream: {error}.") from None

    def _acknowledge_kept(self, position: str) -> None:
        """Acknowledge what the checkpoint holds: its run was killed, or the server down, before it could."""
        while True:
            some = self.client.xpending_range(
                self.stream, self.group, "-", position, MAX_MESSAGES, self.consumer
            )
            if not some:
                return
            self.client.xack(self.stream, self.group, *(entry["message_id"] for entry in some))

    def _delivered_since(self, position: str) -> Iterator[list[Any]]:
        """Entries that the group delivered after the checkpoint, acknowledged or not."""
        group = next(g for g in self.client.xinfo_groups(self.stream) if g["name"] == self.group.encode())
        last = group["last-delivered-id"].decode()
        while _key(position) < _key(last):
            some = self.client.xrange(self.stream, f"({position}", last, count=MAX_MESSAGES)
            if not some:
                return
            yield some
            position = some[-1][0].decode()

    def _pending(self) -> Iterator[list[Any]]:
        """Entries that were delivered to a run without checkpoints and not acknowledged."""
        last = "0"
        while some := self._read(last):
            yield [(entry, fields) for entry, fields in some if fields]
            last = some[-1][0].decode()

    def _new(self) -> Iterator[list[Any]]:
        while True:
            yield self._read(">", block=int(WAIT * 1000))

    def _read(self, after: str, block: int | None = None) -> list[Any]:
        answer = self.client.xreadgroup(
            self.group, self.consumer, {self.stream: after}, count=MAX_MESSAGES, block=block
        )
        if isinstance(answer, dict):  # RESP3
            found: list[Any] = next(iter(answer.values()), [])
            return list(found[0]) if found and isinstance(found[0], list) else list(found)
        return list(answer[0][1]) if answer else []

    def _batch(self, entries: list[Any], before: Position) -> Batch:
        ids = [entry.decode() for entry, _ in entries]
        self.open += ids
        table = table_of([_row(fields) for _, fields in entries], self.columns)
        return Batch(table, lambda n_rows: ids[n_rows - 1] if n_rows else before)

    def acknowledge(self, position: Position) -> None:
        """Acknowledge all entries up to a position."""
        import redis

        self.kept = position
        learnt = [entry for entry in self.open if position and _key(entry) <= _key(position)]
        try:
            for start in range(0, len(learnt), MAX_MESSAGES):
                self.client.xack(self.stream, self.group, *learnt[start : start + MAX_MESSAGES])
        except redis.RedisError as error:
            raise UnreachableError(
                f"{self.url} could not be sent acknowledgements: {str(error).rstrip('.')}; with a checkpoint "
                "folder, nothing is learnt again."
            ) from None
        self.open = self.open[len(learnt) :]

    def fraction(self, position: Position) -> float | None:
        """A stream has no end."""
        return None

    def close(self) -> None:
        """Close the connection."""
        self.client.close()


def _key(entry: str) -> tuple[int, int]:
    """An id as two numbers, which sort differently from text."""
    time, _, number = entry.partition("-")
    return int(time), int(number or 0)


def _row(fields: dict[bytes, bytes]) -> dict[str, Any]:
    if len(fields) == 1 and next(iter(fields)) in JSON_FIELDS:
        return row_of(next(iter(fields.values())))
    return {name.decode(): value.decode(errors="replace") for name, value in fields.items()}
