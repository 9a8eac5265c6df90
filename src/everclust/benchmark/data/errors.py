"""Errors of data sets; each message is one sentence for the user."""

from __future__ import annotations


class DataSetError(Exception):
    """A data set cannot be used; the message is one sentence for the user."""


class MissingDataSet(DataSetError, FileNotFoundError):  # noqa: N818
    """The file does not exist."""


class BadDataSet(DataSetError, ValueError):  # noqa: N818
    """The file exists, but is damaged or not the expected data set."""
