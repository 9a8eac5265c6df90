"""A Kafka topic: positions are offsets, and those of the checkpoint count, not those of the group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .batch import Batch, Position, StreamError, UnreachableError
from .columns import Columns
from .messages import AT_ONCE, WAIT, address, row_of, table_of, without_password

PATIENCE = 10.0  # seconds


class KafkaTopic:
    """`kafka://host:port/topic?group=…&from=earliest|latest`; options with a dot go to librdkafka.

    Within a partition the order is the topic's. Several partitions are interleaved as they arrive: nothing
    is lost or learnt twice, but two runs may see different orders.
    """

    named, endless, wants_checkpoint = True, True, False

    def __init__(self, url: str, columns: Columns) -> None:
        try:
            import confluent_kafka
        except ImportError:
            raise ImportError("kafka:// needs confluent-kafka: pip install 'everclust[kafka]'") from None
        parts, host, self.topic, options = address(url, 9092, "topic")
        self.kafka, self.columns, self.url = confluent_kafka, columns, without_password(url)
        self.group = options.get("group")
        self.first = options.get("from", "earliest")
        settings = {name: value for name, value in options.items() if "." in name}
        self.consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": parts.netloc.rpartition("@")[2] or host,
                "group.id": self.group or "everclust",
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "logger": _silent(),
                **settings,
            }
        )

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """Messages behind the offsets of a position, for ever."""
        offsets = self._assign(position or {})
        while True:
            messages: list[Any] = [
                message for message in self.consumer.consume(AT_ONCE, WAIT) if self._is_good(message)
            ]
            yield self._batch(messages, dict(offsets))
            offsets |= {str(message.partition()): message.offset() + 1 for message in messages}

    def _assign(self, offsets: dict[str, int]) -> dict[str, int]:
        kafka = self.kafka
        start = kafka.OFFSET_END if self.first == "latest" else kafka.OFFSET_BEGINNING
        try:
            found = self.consumer.list_topics(self.topic, timeout=PATIENCE).topics[self.topic]
        except kafka.KafkaException as error:
            raise UnreachableError(f"{self.url} does not answer: {error.args[0].str()}.") from None
        if found.error is not None:
            raise StreamError(f"{self.url} has no such topic: {found.error.str()}.")
        self.consumer.assign(
            [
                kafka.TopicPartition(self.topic, p, offsets.get(str(p), start))
                for p in sorted(found.partitions)
            ]
        )
        return dict(offsets)

    def _is_good(self, message: Any) -> bool:
        error = message.error()
        if error is None:
            return True
        if error.code() == self.kafka.KafkaError._AUTO_OFFSET_RESET:
            raise StreamError(
                f"{self.url} no longer has the messages after the checkpoint ({error.str()}); choose another "
                "checkpoint folder."
            )
        if error.fatal() or error.code() == self.kafka.KafkaError._ALL_BROKERS_DOWN:
            raise UnreachableError(f"{self.url} does not answer: {error.str()}.")
        return False  # it mends itself

    def _batch(self, messages: list[Any], offsets: dict[str, int]) -> Batch:
        def position_after(n_rows: int) -> Position:
            after = {str(message.partition()): message.offset() + 1 for message in messages[:n_rows]}
            return offsets | after

        return Batch(
            table_of([row_of(message.value() or b"") for message in messages], self.columns), position_after
        )

    def settle(self, position: Position) -> None:
        """Tell the group how far it is, for those who watch its lag."""
        if self.group and position:
            kafka = self.kafka
            places = [kafka.TopicPartition(self.topic, int(p), offset) for p, offset in position.items()]
            self.consumer.commit(offsets=places, asynchronous=True)

    def fraction(self, position: Position) -> float | None:
        """It has no end."""
        return None

    def close(self) -> None:
        """Let go of the connection."""
        self.consumer.close()


def _silent() -> Any:
    """librdkafka would write to standard error; what matters is raised."""
    import logging

    logger = logging.getLogger("everclust.kafka")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger
