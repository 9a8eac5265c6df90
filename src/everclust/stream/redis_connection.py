"""Connections to Redis, for streams to read and streams to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..optional import require
from .batch import StreamError, UnreachableError
from .reconnect import RefusedError, wait_for_server
from .urls import Address, address_of

TIMEOUT = 3.0  # seconds without a byte, after which a signal is noticed


def connect(
    url: str, options: tuple[str, ...] = (), warn: Callable[[str], None] = lambda sentence: None
) -> tuple[Any, Address]:
    """(client, address) of a server that answers; one that does not is waited for."""
    client, address = client_of(url, options)
    try:
        wait_for_server(lambda: ping(client, address.shown), warn)
    except BaseException:
        client.close()
        raise
    return client, address


def client_of(url: str, options: tuple[str, ...] = ()) -> tuple[Any, Address]:
    """(client, address) of `redis://user:password@host:port/stream?db=0`, which is not connected yet.

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
    return client, address


def ping(client: Any, shown: str) -> None:
    """Raise an error if the server does not answer, or refuses the connection."""
    import redis

    try:
        client.ping()
    except (redis.AuthenticationError, redis.ResponseError) as error:
        raise RefusedError(f"{shown} refuses the connection: {str(error).rstrip('.')}.") from None
    except redis.RedisError as error:
        raise UnreachableError(f"{shown} does not answer: {str(error).rstrip('.')}.") from None
