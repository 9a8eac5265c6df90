"""Counts with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 row`, `2 rows`, `3,000 rows`; the plural is given if it is not the noun with an s."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
