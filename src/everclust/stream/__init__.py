"""Streams from files and message systems, and runs over them that can be killed and go on."""

from .batch import Batch, Source, StreamError
from .blocks import Block
from .columns import Columns
from .job import Run, Summary
from .sources import open_source

__all__ = ["Batch", "Block", "Columns", "Run", "Source", "StreamError", "Summary", "open_source"]
