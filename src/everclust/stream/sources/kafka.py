"""A Kafka topic. Positions are offsets; a run resumes from those of its checkpoint, not of the group."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ...optional import require
from ..batch import Batch, Position, StreamError, UnreachableError, empty_batch
from ..columns import Columns
from ..reconnect import Outage
from ..urls import Address, address_of
from .messages import MAX_MESSAGES, WAIT, row_of, table_of

TIMEOUT = 3.0  # seconds, after which a signal is noticed


class KafkaTopic:
    """`kafka://host:port,host:port/topic?group=…&from=earliest|latest`; options with a dot go to librdkafka.

    Messages of a partition keep their order. Several partitions are interleaved as they arrive: nothing is
    lost or learnt twice, but two runs may see different orders. A position holds the offsets of all
    partitions read so far.
    """

    named, endless, wants_checkpoint = True, True, False

    def __init__(self, url: str, columns: Columns) -> None:
        self.kafka = require("confluent_kafka", extra="kafka", purpose="kafka://")
        address = address_of(url, 9092, "topic", ("group", "from"), dotted=True)
        self.columns = columns
        self.url, self.topic = address.shown, address.name
        self.group, self.from_latest = address.options.get("group"), address.from_latest
        self.trouble: str | None = None
        self.outage = Outage(self.url, has_answered=False)
        try:
            self.consumer = self.kafka.Consumer(self._settings(address))
        except self.kafka.KafkaException as error:
            raise StreamError(f"{self.url} has an invalid setting: {error.args[0].str()}.") from None

    def _settings(self, address: Address) -> dict[str, Any]:
        login = {}
        if address.user is not None:  # encrypted, unless options override it
            login = {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}
            login |= {"sasl.username": address.user, "sasl.password": address.password or ""}
        return {
            "bootstrap.servers": ",".join(f"{host}:{port}" for host, port in address.hosts),
            "group.id": self.group or "everclust",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "logger": _silent(),
            "error_cb": self._on_error,
            **login,
            **{name: value for name, value in address.options.items() if "." in name},
        }

    def _on_error(self, error: Any) -> None:
        """Called by librdkafka, which reconnects on its own."""
        self.trouble = error.str()

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """Messages after the offsets of a position, without end."""
        while True:
            try:
                offsets = self._assign(position)
                self.outage.end()
                break
            except UnreachableError as error:
                self.outage.check(self.trouble or error)
            yield empty_batch(position)
        while True:
            messages: list[Any] = [
                message for message in self.consumer.consume(MAX_MESSAGES, WAIT) if self._is_good(message)
            ]
            if not messages:
                self._check_outage()
            yield self._batch(messages, dict(offsets))
            offsets |= {str(message.partition()): message.offset() + 1 for message in messages}

    def _assign(self, position: Position) -> dict[str, int]:
        """Start after a position, or where the URL says; new partitions start at their beginning."""
        kafka, offsets = self.kafka, dict(position or {})
        try:
            found = self.consumer.list_topics(self.topic, timeout=TIMEOUT).topics[self.topic]
            if found.error is not None:
                raise StreamError(f"{self.url} has no such topic: {found.error.str()}.")
            partitions = [kafka.TopicPartition(self.topic, p) for p in sorted(found.partitions)]
            if position is None and self.from_latest:
                ends = [
                    self.consumer.get_watermark_offsets(partition, timeout=TIMEOUT)[1]
                    for partition in partitions
                ]
                offsets = {
                    str(partition.partition): end for partition, end in zip(partitions, ends, strict=True)
                }
        except kafka.KafkaException as error:
            raise UnreachableError(str(self.trouble or error.args[0].str())) from None
        for partition in partitions:
            partition.offset = offsets.get(str(partition.partition), kafka.OFFSET_BEGINNING)
        self.consumer.assign(partitions)
        return offsets

    def _is_good(self, message: Any) -> bool:
        error = message.error()
        if error is None:
            self.trouble = None
            self.outage.end()
            return True
        if error.code() == self.kafka.KafkaError._AUTO_OFFSET_RESET:
            raise StreamError(
                f"{self.url} no longer has the messages after the checkpoint ({error.str()}); choose another "
                "checkpoint folder."
            )
        if error.fatal() or error.code() == self.kafka.KafkaError.TOPIC_AUTHORIZATION_FAILED:
            raise UnreachableError(f"{self.url} cannot be read any more: {error.str()}.")
        return False  # librdkafka recovers from it

    def _check_outage(self) -> None:
        """Nothing arrived after an error: check whether the brokers answer."""
        if self.trouble is None:
            return
        try:
            self.consumer.list_topics(self.topic, timeout=WAIT)
        except self.kafka.KafkaException:
            self.outage.check(self.trouble)
        else:
            self.trouble = None
            self.outage.end()

    def _batch(self, messages: list[Any], offsets: dict[str, int]) -> Batch:
        def position_after(n_rows: int) -> Position:
            after = {str(message.partition()): message.offset() + 1 for message in messages[:n_rows]}
            return offsets | after

        return Batch(
            table_of([row_of(message.value() or b"") for message in messages], self.columns), position_after
        )

    def acknowledge(self, position: Position) -> None:
        """Commit the offsets of the group, for monitoring of its lag."""
        if self.group and position:
            kafka = self.kafka
            partitions = [kafka.TopicPartition(self.topic, int(p), offset) for p, offset in position.items()]
            with suppress(kafka.KafkaException):  # the checkpoint counts
                self.consumer.commit(offsets=partitions, asynchronous=True)

    def fraction(self, position: Position) -> float | None:
        """A topic has no end."""
        return None

    def lag(self) -> dict[str, int]:
        """Messages of all partitions that were not consumed yet, as the brokers said with the last ones."""
        try:
            places = self.consumer.position(self.consumer.assignment())
            behind = [self._behind(place) for place in places if place.offset >= 0]
        except (self.kafka.KafkaException, RuntimeError):  # it does not answer, or is closed
            return {}
        return {"messages": sum(behind)} if behind else {}

    def _behind(self, place: Any) -> int:
        _, end = self.consumer.get_watermark_offsets(place, cached=True)
        return max(end - place.offset, 0)

    def close(self) -> None:
        """Close the connection."""
        self.consumer.close()


def _silent() -> logging.Logger:
    """A logger that drops everything: librdkafka would write to standard error, and errors are raised."""
    logger = logging.getLogger("everclust.kafka")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger
