"""A NATS JetStream stream: a position is a sequence number, and the server keeps nothing for us."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any

from .batch import Batch, Position, StreamError, UnreachableError
from .columns import Columns
from .messages import AT_ONCE, WAIT, address, row_of, table_of, without_password

PATIENCE = 5.0  # seconds
FORGOTTEN = 300.0  # seconds after which the server may drop a consumer that asks for nothing


class JetStream:
    """`nats://host:port/stream?subject=…&from=earliest|latest`.

    Every run reads with a consumer of its own, from the sequence number of its checkpoint on.
    """

    named, endless, wants_checkpoint = True, True, False

    def __init__(self, url: str, columns: Columns) -> None:
        try:
            import nats
        except ImportError:
            raise ImportError("nats:// needs nats-py: pip install 'everclust[nats]'") from None
        parts, host, self.stream, options = address(url, 4222, "stream")
        self.columns, self.url = columns, without_password(url)
        self.subject, self.first = options.get("subject"), options.get("from", "earliest")
        self.loop = asyncio.new_event_loop()
        login = {"user": parts.username, "password": parts.password} if parts.username else {}
        try:
            self.client = self._do(
                nats.connect(
                    f"nats://{host}", connect_timeout=PATIENCE, allow_reconnect=True, error_cb=_quiet, **login
                ),
                PATIENCE,
            )
        except (TimeoutError, OSError, nats.errors.Error) as error:
            self.loop.close()
            raise UnreachableError(f"{self.url} does not answer: {error or 'it took too long'}.") from None

    def _do(self, work: Coroutine[Any, Any, Any], limit: float | None = None) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(work, limit))

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """Messages behind a sequence number, for ever."""
        from nats.errors import ConnectionClosedError
        from nats.js.errors import NotFoundError, ServiceUnavailableError

        puller = self._consumer(position)
        while True:
            try:
                messages = self._do(puller.fetch(AT_ONCE, timeout=WAIT))
            except TimeoutError:  # that of NATS is one of asyncio's
                messages = []
            except (NotFoundError, ServiceUnavailableError):  # the server has dropped the consumer
                puller, messages = self._consumer(position), []
            except ConnectionClosedError as error:
                raise UnreachableError(f"{self.url} does not answer any more: {error}.") from None
            batch = self._batch(messages, position)
            position = batch.position_after(len(messages))
            yield batch

    def _consumer(self, position: Position) -> Any:
        from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
        from nats.js.errors import NotFoundError

        context = self.client.jetstream()
        try:
            info = self._do(context.stream_info(self.stream), PATIENCE)
        except NotFoundError:
            raise StreamError(f"{self.url} has no stream {self.stream!r}; check its name.") from None
        self._check(info.state.first_seq, info.state.last_seq, position)
        policy = DeliverPolicy.NEW if self.first == "latest" else DeliverPolicy.ALL
        if position is not None:
            policy = DeliverPolicy.BY_START_SEQUENCE
        config = ConsumerConfig(
            deliver_policy=policy,
            opt_start_seq=None if position is None else position + 1,
            ack_policy=AckPolicy.NONE,
            inactive_threshold=FORGOTTEN,
        )
        return self._do(
            context.pull_subscribe(self.subject or "", stream=self.stream, config=config), PATIENCE
        )

    def _check(self, first: int, last: int, position: Position) -> None:
        if position is not None and first > position + 1:
            raise StreamError(
                f"{self.url} no longer has the messages {position + 1} to {first - 1} after the checkpoint; "
                "choose another checkpoint folder."
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

    def settle(self, position: Position) -> None:
        """The server is not asked to remember anything."""

    def fraction(self, position: Position) -> float | None:
        """It has no end."""
        return None

    def close(self) -> None:
        """Let go of the connection."""
        if not self.loop.is_closed():
            self._do(self.client.close(), PATIENCE)
            self.loop.close()


async def _quiet(error: Exception) -> None:
    """What matters is raised; the client reconnects by itself."""
