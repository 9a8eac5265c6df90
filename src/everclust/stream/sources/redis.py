"""A Redis stream, read by a consumer group; entries are acknowledged when a checkpoint holds them."""

from __future__ import annotations

import gc
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from operator import itemgetter
from typing import Any

from ..batch import Batch, Position, StreamError, UnreachableError
from ..columns import Columns
from ..reconnect import Outage, with_reconnect
from ..redis_connection import connect
from .messages import MAX_MESSAGES, WAIT
from .redis_entries import entries_of, fields_table, id_key, id_of
from .redis_losses import Losses


class RedisStream:
    """`redis://host:port/stream?group=everclust&consumer=everclust&from=earliest|latest`.

    A position is the id of the last entry and the number of entries up to it that were read or gone before.
    A resumed run reads the stream itself from there, whatever the group counts as delivered. Use one group
    per model. Entries that were deleted before they could be read (XTRIM, MAXLEN) are counted and reported.
    """

    named, endless, wants_checkpoint = True, True, False

    def __init__(self, url: str, columns: Columns, warn: Callable[[str], None]) -> None:
        self.client, address = connect(url, ("group", "consumer", "from"), warn)
        for command in ("XREADGROUP", "XRANGE"):  # fields stay lists: to make a dict of each takes longer
            self.client.set_response_callback(command, lambda answer, **options: answer)
        self.columns, self.url, self.stream = columns, address.shown, address.name
        self.group = address.options.get("group", "everclust")
        self.consumer = address.options.get("consumer", "everclust")
        self.first = "$" if address.from_latest else "0"
        self.open: list[bytes] = []  # delivered, but not acknowledged
        self.kept: Position = None
        self.outage = Outage(self.url)
        self.losses = Losses(self.url, warn)
        self.n_past: int | None = (
            None  # entries that were read, or gone before; None if the server cannot say
        )

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """Entries after a position, without end."""
        import redis

        errors = redis.ConnectionError, redis.TimeoutError
        self.kept = position
        try:
            yield from _uncollected(with_reconnect(self._read_from, position, self.outage, errors))
        except redis.ResponseError as error:
            raise StreamError(f"{self.url} cannot be read any more: {error}.") from None

    def _read_from(self, position: Position) -> Iterator[Batch]:
        last = id_of(position)
        is_new = self._join(last or self.first)
        self.n_past = self._count_past(position, is_new)
        if self.kept:
            self._acknowledge_kept(id_of(self.kept))
        for some in self._delivered_since(last) if last else self._pending():
            batch = self._batch(some, position, is_counted=not isinstance(position, list))
            position = batch.position_after(len(some))
            yield batch
        for some in self._new(id_of(position)):
            batch = self._batch(some, position)
            position = batch.position_after(len(some))
            yield batch

    def _join(self, first: str) -> bool:
        """Create the group; False if it exists."""
        import redis

        try:
            self.client.xgroup_create(self.stream, self.group, id=first, mkstream=True)
        except redis.ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise StreamError(f"{self.url} cannot be read as a stream: {error}.") from None
            return False
        return True

    def _count_past(self, position: Position, is_new: bool) -> int | None:
        """Number of entries up to a position, or to the last delivered one, that were read or are gone.

        None if other consumers read some of them, or if we may not ask.
        """
        import redis

        try:
            consumers = self.client.xinfo_consumers(self.stream, self.group)
            if any(one["name"] != self.consumer.encode() for one in consumers):
                return None
            if isinstance(position, list):
                return position[1]
            if not is_new:
                return self._group().get("entries-read")
            info = self.client.xinfo_stream(self.stream)
            if "entries-added" not in info:  # before Redis 7
                return None
            return info["entries-added"] - (0 if self.first == "$" else info["length"])
        except redis.exceptions.NoPermissionError:
            return None

    def _group(self) -> Any:
        return next(g for g in self.client.xinfo_groups(self.stream) if g["name"] == self.group.encode())

    def _counted(self, read: Callable[[Any], Any]) -> Any:
        """What `read` returns, a command after the entries that are past; counts those that are gone instead.

        If more entries are gone than are past, the difference was never read. The server answers both at
        once, so that nothing can be trimmed in between.
        """
        assert self.n_past is not None
        with self.client.pipeline(transaction=True) as both:
            both.xinfo_stream(self.stream)
            read(both)
            info, found = both.execute()
        n_lost = info["entries-added"] - info["length"] - self.n_past
        if n_lost > 0:
            self.n_past += n_lost
            self.losses.add(n_lost)
        return found

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
        last = self._group()["last-delivered-id"].decode()
        while id_key(position) < id_key(last):
            some = self._range(position, last)
            if not some:
                return
            yield some
            position = some[-1][0].decode()

    def _range(self, after: str, last: str) -> list[Any]:
        def read(client: Any) -> Any:
            return client.xrange(self.stream, f"({after}", last, count=MAX_MESSAGES)

        return list(read(self.client) if self.n_past is None else self._counted(read))

    def _pending(self) -> Iterator[list[Any]]:
        """Entries that were delivered to a run without checkpoints and not acknowledged."""
        last = "0"
        while some := self._read(last):
            there = [(entry, fields) for entry, fields in some if fields]
            self.losses.add(len(some) - len(there))
            yield there
            last = some[-1][0].decode()

    def _new(self, last: str | None) -> Iterator[list[Any]]:
        """Entries that were not delivered yet; none if none arrives for a moment."""
        if self.n_past is None:
            while True:
                yield self._read(">", block=int(WAIT * 1000))
        last = last or self._group()["last-delivered-id"].decode()
        while True:
            some = entries_of(self._counted(partial(self._deliver, ">")))
            if some:
                last = some[-1][0].decode()
            else:  # wait without taking anything, because what is taken must be counted
                self.client.xread({self.stream: last}, count=1, block=int(WAIT * 1000))
            yield some

    def _read(self, after: str, block: int | None = None) -> list[Any]:
        return entries_of(self._deliver(after, self.client, block))

    def _deliver(self, after: str, client: Any, block: int | None = None) -> Any:
        return client.xreadgroup(
            self.group, self.consumer, {self.stream: after}, count=MAX_MESSAGES, block=block
        )

    def _batch(self, entries: list[Any], before: Position, is_counted: bool = False) -> Batch:
        """Entries as rows; the group delivers some again, which are counted already."""
        ids = list(map(itemgetter(0), entries))
        self.open += ids
        if self.n_past is not None and not is_counted:
            self.n_past += len(ids)
        n_past = None if is_counted else self.n_past

        def position_after(n_rows: int) -> Position:
            if n_rows == 0:
                return before
            last = ids[n_rows - 1].decode()
            return last if n_past is None else [last, n_past - (len(ids) - n_rows)]

        return Batch(fields_table(list(map(itemgetter(1), entries)), self.columns), position_after)

    def acknowledge(self, position: Position) -> None:
        """Acknowledge all entries up to a position."""
        import redis

        self.kept, last = position, id_of(position)
        learnt = self.open[: bisect_right(self.open, id_key(last), key=id_key) if last else 0]
        try:
            if learnt and self.outage.since is not None:  # to wait for it once more would delay the end
                raise redis.ConnectionError("it does not answer")
            with self.client.pipeline(transaction=False) as commands:
                for start in range(0, len(learnt), MAX_MESSAGES):
                    commands.xack(self.stream, self.group, *learnt[start : start + MAX_MESSAGES])
                commands.execute()
        except redis.RedisError as error:
            raise UnreachableError(
                f"{self.url} could not be sent acknowledgements: {str(error).rstrip('.')}; with a checkpoint "
                "folder, nothing is learnt again."
            ) from None
        self.open = self.open[len(learnt) :]

    def fraction(self, position: Position) -> float | None:
        """A stream has no end."""
        return None

    def lag(self) -> dict[str, int]:
        """Entries that the group was not delivered yet; unknown before Redis 7 and after XDEL."""
        import redis

        try:
            n_left = None if self.outage.since is not None else self._group().get("lag")
        except (redis.RedisError, StopIteration):  # it does not answer, or there is no group yet
            return {}
        return {} if n_left is None else {"messages": int(n_left)}

    def close(self) -> None:
        """Close the connection."""
        self.losses.report()
        self.client.close()


def _uncollected(batches: Iterator[Batch]) -> Iterator[Batch]:
    """The same batches, made without a search for circles of references.

    There are none in the millions of lists that the server's answers become, and the search takes a third of
    the time.
    """
    while True:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            batch = next(batches, None)
        finally:
            if was_enabled:
                gc.enable()
        if batch is None:
            return
        yield batch
