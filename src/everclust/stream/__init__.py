"""Streams from files and message systems, and runs over them that survive being killed."""

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .batch import Batch, Source, StreamError
    from .blocks import Block
    from .columns import Columns
    from .job import Run, Summary
    from .sources import open_source

__all__ = ["Batch", "Block", "Columns", "Run", "Source", "StreamError", "Summary", "open_source"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Batch": "batch",
        "Block": "blocks",
        "Columns": "columns",
        "Run": "job",
        "Source": "batch",
        "StreamError": "batch",
        "Summary": "job",
        "open_source": "sources",
    },
)
