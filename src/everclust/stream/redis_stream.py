"""A Redis stream, read by a consumer group; entries are acknowledged once a checkpoint holds them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .batch import Batch, Position, StreamError, UnreachableError
from .columns import Columns
from .messages import AT_ONCE, WAIT, address, row_of, table_of, without_password

ALONE = (b"data", b"json")  # a single field of this name holds all columns as JSON


def connect(url: str) -> tuple[Any, str, dict[str, str]]:
    """(client, name of the stream, options) of `redis://user:password@host:port/stream?db=0`."""
    try:
        import redis
    except ImportError:
        raise ImportError("redis:// needs redis: pip install 'everclust[redis]'") from None
    parts, _, stream, options = address(url, 6379, "stream")
    client = redis.Redis(
        host=parts.hostname or "localhost",
        port=parts.port or 6379,
        db=int(options.get("db", 0)),
        username=parts.username or None,
        password=parts.password,
        ssl=parts.scheme == "rediss",
    )
    try:
        client.ping()
    except redis.RedisError as error:
        client.close()
        raise UnreachableError(f"{without_password(url)} does not answer: {error}.") from None
    return client, stream, options


class RedisStream:
    """`redis://host:port/stream?group=everclust&consumer=everclust&from=earliest|latest`.

    A position is the id of the last entry. After a checkpoint the stream itself is read again from there, so
    it does not matter what the group thinks was delivered. One group is for one model.
    """

    named, endless, wants_checkpoint = True, True, False

    def __init__(self, url: str, columns: Columns) -> None:
        self.client, self.stream, options = connect(url)
        self.columns, self.url = columns, without_password(url)
        self.group = options.get("group", "everclust")
        self.consumer = options.get("consumer", "everclust")
        self.first = "$" if options.get("from") == "latest" else "0"
        self.open: list[str] = []  # delivered, but not acknowledged

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """Entries behind a position, for ever."""
        import redis

        try:
            self._join(position or self.first)
            if position:
                self._acknowledge_learnt(position)
            entries = self._again(position) if position else self._pending()
            for some in entries:
                yield self._batch(some, position)
                position = some[-1][0].decode()
            while True:
                some = self._read(">", block=int(WAIT * 1000))
                yield self._batch(some, position)
                position = some[-1][0].decode() if some else position
        except redis.ConnectionError as error:
            raise UnreachableError(f"{self.url} does not answer: {error}.") from None

    def _join(self, first: str) -> None:
        import redis

        try:
            self.client.xgroup_create(self.stream, self.group, id=first, mkstream=True)
        except redis.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise StreamError(f"{self.url} is no stream that can be read: {error}.") from None

    def _acknowledge_learnt(self, position: str) -> None:
        """The checkpoint was written, but its run was killed before it could say so."""
        while True:
            some = self.client.xpending_range(self.stream, self.group, "-", position, AT_ONCE, self.consumer)
            if not some:
                return
            self.client.xack(self.stream, self.group, *(entry["message_id"] for entry in some))

    def _again(self, position: str) -> Iterator[list[Any]]:
        """Entries that the group has delivered since the checkpoint, acknowledged or not."""
        group = next(g for g in self.client.xinfo_groups(self.stream) if g["name"] == self.group.encode())
        last = group["last-delivered-id"].decode()
        while _key(position) < _key(last):
            some = self.client.xrange(self.stream, f"({position}", last, count=AT_ONCE)
            if not some:
                return
            yield some
            position = some[-1][0].decode()

    def _pending(self) -> Iterator[list[Any]]:
        """Entries that were delivered to a run that kept nothing."""
        last = "0"
        while some := self._read(last):
            yield [(entry, fields) for entry, fields in some if fields]
            last = some[-1][0].decode()

    def _read(self, after: str, block: int | None = None) -> list[Any]:
        answer = self.client.xreadgroup(
            self.group, self.consumer, {self.stream: after}, count=AT_ONCE, block=block
        )
        if isinstance(answer, dict):  # the third version of the protocol
            found: list[Any] = next(iter(answer.values()), [])
            return list(found[0]) if found and isinstance(found[0], list) else list(found)
        return list(answer[0][1]) if answer else []

    def _batch(self, entries: list[Any], before: Position) -> Batch:
        ids = [entry.decode() for entry, _ in entries]
        self.open += ids
        table = table_of([_row(fields) for _, fields in entries], self.columns)
        return Batch(table, lambda n_rows: ids[n_rows - 1] if n_rows else before)

    def settle(self, position: Position) -> None:
        """Acknowledge all entries up to a position."""
        learnt = [entry for entry in self.open if position and _key(entry) <= _key(position)]
        for start in range(0, len(learnt), AT_ONCE):
            self.client.xack(self.stream, self.group, *learnt[start : start + AT_ONCE])
        self.open = self.open[len(learnt) :]

    def fraction(self, position: Position) -> float | None:
        """It has no end."""
        return None

    def close(self) -> None:
        """Let go of the connection."""
        self.client.close()


def _key(entry: str) -> tuple[int, int]:
    """Ids are two numbers; as text they would be in another order."""
    time, _, number = entry.partition("-")
    return int(time), int(number or 0)


def _row(fields: dict[bytes, bytes]) -> dict[str, Any]:
    if len(fields) == 1 and next(iter(fields)) in ALONE:
        return row_of(next(iter(fields.values())))
    return {name.decode(): value.decode(errors="replace") for name, value in fields.items()}
