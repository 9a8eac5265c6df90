"""How text is written: what is between columns and within numbers, and the encoding."""

from __future__ import annotations

import codecs
from typing import NamedTuple

from .batch import StreamError

TAB = ("tab", "\\t")  # as people write it on a command line
CSV, TEXT = ("csv", "tsv"), ("csv", "tsv", "jsonl")
UTF8 = "utf-8"


class Dialect(NamedTuple):
    """What was asked for; None is the default of the format."""

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def check_format(self, name: str, kind: str) -> None:
        """Raise an error if a source of this format cannot be read so."""
        for option, value, kinds in (
            ("--delimiter", self.delimiter, CSV),
            ("--decimal", self.decimal, CSV),
            ("--encoding", self.encoding, TEXT),
        ):
            if value is not None and kind not in kinds:
                raise StreamError(
                    f"{option} is for {' and '.join(kinds)}, but {name} is read as {kind}; leave it out."
                )
        if kind == "csv" and self.decimal == "," and self.delimiter is None:
            raise StreamError(
                "--decimal , makes commas part of numbers, but they are between the columns of csv; say what "
                "is between them, such as --delimiter ';'."
            )


USUAL = Dialect()


def dialect_of(
    delimiter: str | None = None, decimal: str | None = None, encoding: str | None = None
) -> Dialect:
    """The dialect that these options describe."""
    if delimiter in TAB:
        delimiter = "\t"
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0'):
        raise StreamError(
            f"--delimiter is {delimiter!r}, but it must be one ASCII character other than a quote, or tab."
        )
    if decimal not in (None, ".", ","):
        raise StreamError(f"--decimal is {decimal!r}, but it must be a point or a comma.")
    if delimiter is not None and delimiter == (decimal or "."):
        raise StreamError(
            f"--delimiter and --decimal are both {delimiter!r}, so numbers could not be told from columns; "
            "change one of them."
        )
    return Dialect(delimiter, None if decimal == "." else decimal, _known_encoding(encoding))


def _known_encoding(encoding: str | None) -> str | None:
    """The name of an encoding as Python writes it; None for UTF-8, which is the default."""
    if encoding is None:
        return None
    try:
        "".encode(encoding)  # refuses codecs of other things than text, too
        codecs.getincrementaldecoder(encoding)
        name = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise StreamError(
            f"There is no encoding {encoding!r}; give one that Python knows, such as latin-1, cp1252 or "
            "utf-16."
        ) from None
    return None if name == UTF8 else name
