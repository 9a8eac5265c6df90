"""Connections to Redis, for streams to read and streams to write."""

from __future__ import annotations

from typing import Any

from ..optional import require
from .batch import StreamError, UnreachableError
from .urls import Address, address_of

TIMEOUT = 10.0  # seconds


def connect(url: str, options: tuple[str, ...] = ()) -> tuple[Any, Address]:
    """(client, address) of `redis://user:password@host:port/stream?db=0`.

    The client retries no command: a retried read would skip entries delivered to a broken connection.
    """
    redis = require("redis", extra="redis", purpose="redis://")
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    address = address_of(url, 6379, "stream", ("db", *options))
    host, port = address.only_host()
    database = address.options.get("db", "0")
    if not database.isdecimal():
        raise StreamError(f"{address.shown} says db={database}, but it must be a number.")
    client = redis.Redis(
        host=host,
        port=port,
        db=int(database),
        username=address.user,
        password=address.password,
        ssl=address.scheme == "rediss",
        socket_timeout=TIMEOUT,
        socket_connect_timeout=TIMEOUT,
        retry=Retry(NoBackoff(), 0),
    )
    try:
        client.ping()
    except redis.RedisError as error:
        client.close()
        refused = isinstance(error, (redis.AuthenticationError, redis.ResponseError))
        how = "refuses the connection" if refused else "does not answer"
        raise UnreachableError(f"{address.shown} {how}: {str(error).rstrip('.')}.") from None
    return client, address
