"""A Kafka topic: positions are offsets, and those of the checkpoint count, not those of the group."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from ...optional import require
from ..batch import Batch, Position, StreamError, UnreachableError
from ..columns import Columns
from ..urls import Address, address_of
from .messages import AT_ONCE, WAIT, row_of, table_of
from .reconnect import Absence

PATIENCE = 10.0  # seconds


class KafkaTopic:
    """`kafka://host:port,host:port/topic?group=…&from=earliest|latest`; options with a dot go to librdkafka.

    Within a partition the order is the topic's. Several partitions are interleaved as they arrive: nothing
    is lost or learnt twice, but two runs may see different orders. A position has the offsets of all
    partitions that were read.
    """

    named, endless, wants_checkpoint = True, True, False

    def __init__(self, url: str, columns: Columns) -> None:
        self.kafka = require("confluent_kafka", extra="kafka", purpose="kafka://")
        address = address_of(url, 9092, "topic", ("group", "from"), dotted=True)
        self.columns = columns
        self.url, self.topic = address.shown, address.name
        self.group, self.from_latest = address.options.get("group"), address.from_latest
        self.trouble: str | None = None
        self.absence = Absence(self.url)
        try:
            self.consumer = self.kafka.Consumer(self._settings(address))
        except self.kafka.KafkaException as error:
            raise StreamError(f"{self.url} has a setting that cannot be: {error.args[0].str()}.") from None

    def _settings(self, address: Address) -> dict[str, Any]:
        login = {}
        if address.user is not None:  # encrypted, unless the options say otherwise
            login = {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}
            login |= {"sasl.username": address.user, "sasl.password": address.password or ""}
        return {
            "bootstrap.servers": ",".join(f"{host}:{port}" for host, port in address.hosts),
            "group.id": self.group or "everclust",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "logger": _silent(),
            "error_cb": self._note,
            **login,
            **{name: value for name, value in address.options.items() if "." in name},
        }

    def _note(self, error: Any) -> None:
        """Called by librdkafka, which tries again by itself."""
        self.trouble = error.str()

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """Messages behind the offsets of a position, for ever."""
        offsets = self._assign(position)
        while True:
            messages: list[Any] = [
                message for message in self.consumer.consume(AT_ONCE, WAIT) if self._is_good(message)
            ]
            if not messages:
                self._look_after_trouble()
            yield self._batch(messages, dict(offsets))
            offsets |= {str(message.partition()): message.offset() + 1 for message in messages}

    def _assign(self, position: Position) -> dict[str, int]:
        """Begin behind a position, or where the address says; partitions made later begin at their start."""
        kafka, offsets = self.kafka, dict(position or {})
        try:
            found = self.consumer.list_topics(self.topic, timeout=PATIENCE).topics[self.topic]
            if found.error is not None:
                raise StreamError(f"{self.url} has no such topic: {found.error.str()}.")
            places = [kafka.TopicPartition(self.topic, p) for p in sorted(found.partitions)]
            if position is None and self.from_latest:
                ends = [self.consumer.get_watermark_offsets(place, timeout=PATIENCE)[1] for place in places]
                offsets = {str(place.partition): end for place, end in zip(places, ends, strict=True)}
        except kafka.KafkaException as error:
            raise UnreachableError(
                f"{self.url} does not answer: {self.trouble or error.args[0].str()}."
            ) from None
        for place in places:
            place.offset = offsets.get(str(place.partition), kafka.OFFSET_BEGINNING)
        self.consumer.assign(places)
        return offsets

    def _is_good(self, message: Any) -> bool:
        error = message.error()
        if error is None:
            self.trouble = None
            self.absence.is_over()
            return True
        if error.code() == self.kafka.KafkaError._AUTO_OFFSET_RESET:
            raise StreamError(
                f"{self.url} no longer has the messages after the checkpoint ({error.str()}); choose another "
                "checkpoint folder."
            )
        if error.fatal() or error.code() == self.kafka.KafkaError.TOPIC_AUTHORIZATION_FAILED:
            raise UnreachableError(f"{self.url} cannot be read any more: {error.str()}.")
        return False  # it mends itself

    def _look_after_trouble(self) -> None:
        """Nothing comes: because there is nothing, or because the brokers are away?"""
        if self.trouble is None:
            return
        try:
            self.consumer.list_topics(self.topic, timeout=WAIT)
        except self.kafka.KafkaException:
            self.absence.lasts(self.trouble)
        else:
            self.trouble = None
            self.absence.is_over()

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
            with suppress(kafka.KafkaException):  # we do not go by it
                self.consumer.commit(offsets=places, asynchronous=True)

    def fraction(self, position: Position) -> float | None:
        """It has no end."""
        return None

    def close(self) -> None:
        """Let go of the connection."""
        self.consumer.close()


def _silent() -> logging.Logger:
    """librdkafka would write to standard error; what matters is raised."""
    logger = logging.getLogger("everclust.kafka")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger
