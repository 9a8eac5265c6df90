"""A NATS JetStream stream; a position is a sequence number, and the server stores no state of ours."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from typing import Any

from ...optional import require
from ..batch import Batch, Position, StreamError, UnreachableError
from ..columns import Columns
from ..reconnect import Outage, RefusedError, wait_for_server, with_reconnect
from ..urls import address_of
from .messages import MAX_MESSAGES, WAIT, row_of, table_of

TIMEOUT = 5.0  # seconds
INACTIVE_SECONDS = 300.0  # after which the server may drop an idle consumer


class JetStream:
    """`nats://user:password@host:port/stream?subject=…&from=earliest|latest`; `nats://token@host` too.

    Every run reads with a consumer of its own, from the sequence number of its checkpoint on. After an outage
    it creates a new consumer after the last message received, so that none is skipped.
    """

    named, endless, wants_checkpoint = True, True, False

    def __init__(self, url: str, columns: Columns, warn: Callable[[str], None]) -> None:
        require("nats", extra="nats", purpose="nats://")
        self.address = address_of(url, 4222, "stream", ("subject", "from"))
        self.columns, self.url, self.stream = columns, self.address.shown, self.address.name
        self.subject, self.from_latest = self.address.options.get("subject", ""), self.address.from_latest
        self.loop = asyncio.new_event_loop()
        logging.getLogger("asyncio").addHandler(
            logging.NullHandler()
        )  # its warnings would go to standard error
        self.trouble: Exception | None = None
        self.outage = Outage(self.url)
        self.n_behind: int | None = None  # messages after the last one that was read
        try:
            self.client = wait_for_server(self._connect, warn)
        except BaseException:
            self.loop.close()
            raise

    def _connect(self) -> Any:
        from nats.errors import Error, NoServersError

        self.trouble = None
        try:
            return self._wait_for(self._open_client())
        except (OSError, Error) as error:  # TimeoutError is an OSError
            vague = isinstance(error, (NoServersError, TimeoutError))
            reason = str((vague and self.trouble) or error).rstrip(".") or "it took too long"
            if "uthorization" in reason:
                raise RefusedError(f"{self.url} refuses the connection: {reason}.") from None
            raise UnreachableError(f"{self.url} does not answer: {reason}.") from None

    async def _open_client(self) -> Any:
        """A client that tries to connect once; `with_reconnect` tries again."""
        from nats.aio.client import Client

        user, password = self.address.user, self.address.password
        login: dict[str, Any] = {"token": user} if password is None else {"user": user, "password": password}
        once: dict[str, Any] = {
            "allow_reconnect": False,
            "max_reconnect_attempts": 1,
            "reconnect_time_wait": 0.1,
        }
        servers = [f"nats://{host}:{port}" for host, port in self.address.hosts]
        client = Client()
        try:
            await client.connect(servers, error_cb=self._on_error, **login, **once)
        except BaseException:
            with suppress(Exception):
                await client.close()
            raise
        return client

    async def _on_error(self, error: Exception) -> None:
        self.trouble = error

    def _wait_for(self, work: Coroutine[Any, Any, Any], limit: float = TIMEOUT) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(work, limit))

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """Messages after a sequence number, without end."""
        from nats.errors import Error

        errors = Error, OSError, UnreachableError
        yield from with_reconnect(self._read_from, position, self.outage, errors)

    def _read_from(self, position: Position) -> Iterator[Batch]:
        """Messages until one is missing or the connection breaks."""
        if self.client.is_closed:
            self.client = self._connect()
        puller, position = self._consumer(position)
        n_came = 0
        while True:
            messages = self._fetch(puller)
            numbers = [message.metadata.sequence.consumer for message in messages]
            in_order = [n == n_came + 1 + k for k, n in enumerate(numbers)]
            messages = messages if all(in_order) else messages[: in_order.index(False)]
            self.n_behind = messages[-1].metadata.num_pending if messages else 0
            yield self._batch(messages, position)
            position = messages[-1].metadata.sequence.stream if messages else position
            n_came += len(messages)
            if not all(in_order):
                return

    def _fetch(self, puller: Any) -> list[Any]:
        try:
            return self._wait_for(puller.fetch(MAX_MESSAGES, timeout=WAIT))
        except TimeoutError:  # nats.errors.TimeoutError is one
            return []

    def _consumer(self, position: Position) -> tuple[Any, Position]:
        """(consumer, the position after which it reads)."""
        from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
        from nats.js.errors import BadRequestError, NotFoundError

        context = self.client.jetstream()
        try:
            info = self._wait_for(context.stream_info(self.stream))
            if position is None and self.from_latest:
                position = info.state.last_seq
            self._check(info.state.first_seq, info.state.last_seq, position)
            config = ConsumerConfig(
                deliver_policy=DeliverPolicy.ALL if position is None else DeliverPolicy.BY_START_SEQUENCE,
                opt_start_seq=None if position is None else position + 1,
                ack_policy=AckPolicy.NONE,
                inactive_threshold=INACTIVE_SECONDS,
            )
            puller = self._wait_for(context.pull_subscribe(self.subject, stream=self.stream, config=config))
        except NotFoundError:
            raise StreamError(f"{self.url} has no stream {self.stream!r}; check its name.") from None
        except BadRequestError as error:
            raise StreamError(f"{self.url} cannot be read: {error.description}.") from None
        return puller, position

    def _check(self, first: int, last: int, position: Position) -> None:
        if position is not None and first > position + 1:
            raise StreamError(
                f"{self.url} begins at message {first} and so lacks some after the checkpoint, which is at "
                f"{position}; choose another checkpoint folder."
            )
        if position is not None and last < position:
            raise StreamError(
                f"{self.url} ends at message {last} and so is shorter than the checkpoint, which is at "
                f"{position}; choose another checkpoint folder."
            )

    def _batch(self, messages: list[Any], before: Position) -> Batch:
        numbers = [message.metadata.sequence.stream for message in messages]
        table = table_of([row_of(message.data) for message in messages], self.columns)
        return Batch(table, lambda n_rows: numbers[n_rows - 1] if n_rows else before)

    def acknowledge(self, position: Position) -> None:
        """Nothing to acknowledge: the consumer has no acknowledgements."""

    def fraction(self, position: Position) -> float | None:
        """A stream has no end."""
        return None

    def lag(self) -> dict[str, int]:
        """Messages behind the last one, as the server said when it sent that one."""
        return {} if self.n_behind is None else {"messages": self.n_behind}

    def close(self) -> None:
        """Close the connection."""
        if not self.loop.is_closed():
            with suppress(Exception):  # it may be broken already
                self._wait_for(self.client.close())
            self.loop.close()
