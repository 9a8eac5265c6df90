"""Sources of rows: files, standard input and message systems, opened by path or URL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..batch import Source, StreamError
from ..columns import Columns
from ..dialect import dialect_of
from ..secrets import expanded
from ..urls import without_password

SYSTEMS = ("kafka", "redis", "rediss", "nats", "mqtt", "mqtts")


def open_source(
    url: str,
    columns: Columns | None = None,
    *,
    format: str | None = None,  # the name of the option
    header: bool | None = None,
    follow: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    warn: Callable[[str], None] = lambda sentence: None,
) -> Source:
    """Open a stream of rows: a file, a pattern of files, standard input or a message system.

    Parameters
    ----------
    url : str
        A path or pattern (CSV, TSV, JSON Lines, Parquet, Arrow, ``.npy``, ``.npz``), ``-`` for standard
        input, or ``kafka://host:port/topic``, ``redis://host:port/stream``, ``nats://host:port/stream``,
        ``mqtt://host:port/topic``. ``${NAME}`` in a URL stands for an environment variable.
    columns : Columns, optional
        Which columns to read; by default all, and they must be numbers.
    format : str, optional
        Format of files without a known suffix and of standard input, which is CSV by default.
    header : bool, optional
        Whether the first line of a CSV or TSV file names the columns. By default it does, but a first line of
        numbers only is refused, because it may be data.
    follow : bool, default=False
        Wait for more rows at the end of the file.
    delimiter : str, optional
        One character between the columns of CSV, or ``"tab"``; by default a comma, and a tab in TSV.
    decimal : {".", ","}, optional
        What is before the decimals of numbers in CSV and TSV.
    encoding : str, optional
        Encoding of CSV, TSV and JSON Lines; by default UTF-8.
    warn : callable, optional
        Called with a sentence when a message system is waited for, or has lost rows.

    Returns
    -------
    source : Source
        ``source.batches(position)`` yields batches from a position on. A batch without rows means that
        nothing arrived for a moment.

    Examples
    --------
    >>> from pathlib import Path
    >>> from everclust.stream import open_source
    >>> _ = Path("points.csv").write_text("width,height\\n1,2\\n3,4\\n")
    >>> [batch.table.num_rows for batch in open_source("points.csv").batches()]
    [2]
    """
    columns = Columns() if columns is None else columns
    url = expanded(url)
    dialect = dialect_of(delimiter, decimal, encoding)
    scheme, is_url, _ = url.partition("://")
    if is_url and scheme in SYSTEMS:
        dialect.check_format(without_password(url), "messages")
        return _message_system(scheme, url, columns, warn)
    if is_url:
        raise StreamError(
            f"{without_password(url)} has the unknown scheme {scheme!r}; give a path or one of "
            f"{', '.join(f'{name}://' for name in SYSTEMS)}."
        )
    from .files import Files

    return Files(url, columns, format=format, header=header, follow=follow, dialect=dialect)


def _message_system(scheme: str, url: str, columns: Columns, warn: Callable[[str], None]) -> Any:
    """Import the module of a message system, which needs a package of its own."""
    if scheme == "kafka":
        from .kafka import KafkaTopic

        return KafkaTopic(url, columns)
    if scheme.startswith("redis"):
        from .redis import RedisStream

        return RedisStream(url, columns, warn)
    if scheme == "nats":
        from .nats import JetStream

        return JetStream(url, columns, warn)
    from .mqtt import MqttTopic

    return MqttTopic(url, columns, warn)
