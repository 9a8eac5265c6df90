"""Where records of CSV end: a line break within quotes ends none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

LONGEST = 2**16  # bytes of a quoted value; a quote that is not closed by then never is


class Cut(NamedTuple):
    """How many bytes are whole records, and whether the record after them has a quote that never closes."""

    end: int
    is_broken: bool = False


class Quotes:
    """Finds the ends of records. As in RFC 4180, only a quote at the start of a value opens one."""

    def __init__(self, delimiter: str) -> None:
        other = rb"[^\r\n" + re.escape(delimiter.encode()) + rb"]"
        # The quote comes first, because a search for a literal is many times faster.
        self.quoted = re.compile(rb'"(?<!' + other + rb'")[^"]*(?:""[^"]*)*("?)')

    def first_end(self, text: bytes) -> int:
        """The length of the first record, with its line break; 0 if it has no end yet."""
        begin, end = 0, text.find(b"\n")
        while end >= 0 and (last := _last(self.quoted.finditer(text, begin, end))) and not last[1]:
            whole = self.quoted.search(text, last.start())
            assert whole is not None
            begin = whole.end()
            end = text.find(b"\n", begin)
        return end + 1

    def cut(self, text: bytes, *, at_end: bool = False) -> Cut:
        """The whole records at the start of a text that begins with one; `at_end`, nothing comes after it."""
        end = text.rfind(b"\n")
        if b'"' not in text:
            return Cut(end + 1)
        spans: list[tuple[int, int]] = []
        for match in self.quoted.finditer(text):
            start, stop = match.span()
            is_open = not match[1]
            if stop - start > LONGEST or (is_open and at_end):
                end = _last_break(text, start, spans)
                return Cut(end + 1, True)
            spans.append((start, stop))
        return Cut(_last_break(text, len(text), spans) + 1)


def _last(matches: Iterator[re.Match[bytes]]) -> re.Match[bytes] | None:
    match = None
    for match in matches:  # noqa: B007
        pass
    return match


def _last_break(text: bytes, before: int, spans: list[tuple[int, int]]) -> int:
    """The last line break outside of quotes, or -1."""
    end = text.rfind(b"\n", 0, before)
    for start, stop in reversed(spans):
        if start < end < stop:
            end = text.rfind(b"\n", 0, start)
        elif end >= stop:
            break
    return end
