"""Files of any format, one after the other, read ahead by a thread."""

from __future__ import annotations

import glob
from collections.abc import Callable, Generator, Iterator
from functools import partial
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile

from ..batch import Batch, Position, StreamError
from ..columns import Columns
from ..dialect import USUAL, Dialect
from ..urls import source_name, source_subject
from .bytes import COMPRESSED, FileBytes, StandardInput
from .read_ahead import ReadAhead
from .rotation import is_same_file, n_read_before, rotated_files
from .tables import arrow_tables, npy_tables, npz_tables, parquet_tables, too_short
from .text import TextReader

if TYPE_CHECKING:
    import pyarrow

TEXTS = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}
TABLES: dict[str, Callable[[Path, int], Iterator[pyarrow.Table]]] = {
    ".parquet": parquet_tables,
    ".arrow": arrow_tables,
    ".feather": arrow_tables,
    ".ipc": arrow_tables,
    ".arrows": arrow_tables,
    ".npy": npy_tables,
    ".npz": npz_tables,
}
FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "npy", "npz")


class Files:
    """Files that match a path or pattern, in the order of their names; the Parquet files of a folder; or
    `-`, standard input.

    A position is the name of a file, the number of files before it, and the position within it.
    """

    wants_checkpoint = False

    def __init__(
        self,
        pattern: str,
        columns: Columns,
        *,
        format: str | None = None,  # the name of the option
        header: bool | None = None,
        follow: bool = False,
        dialect: Dialect = USUAL,
    ) -> None:
        self.columns, self.format, self.header, self.follow = columns, format, header, follow
        self.dialect = dialect
        self.paths = ["-"] if pattern == "-" else _matching_files(pattern)
        self.endless = follow
        self._origin: FileBytes | None = None  # the text file that is being read
        self._ahead: ReadAhead | None = None
        self.named = header is not False and not any(
            self._suffix(path) in (".npy", ".npz") for path in self.paths
        )
        self._check(pattern)

    def _check(self, pattern: str) -> None:
        if self.follow and (len(self.paths) > 1 or self._suffix(self.paths[0]) not in TEXTS):
            raise StreamError(
                f"{pattern} cannot be followed; only a single CSV, TSV or JSON Lines file can be."
            )
        for path in self.paths:
            if self._suffix(path) not in {*TEXTS, *TABLES}:
                raise StreamError(
                    f"The format of {path} is unknown; give it with --format ({', '.join(FORMATS)})."
                )
            self.dialect.check_format(
                source_name(path), TEXTS.get(self._suffix(path), self._suffix(path)[1:])
            )

    def _suffix(self, path: str) -> str:
        if self.format is not None:
            return f".{self.format}"
        if path == "-":
            return ".csv"
        name = Path(path)
        return (name.with_suffix("") if name.suffix in COMPRESSED else name).suffix.lower()

    def batches(self, position: Position = None) -> Iterator[Batch]:
        """All rows after a position, or from the start."""
        self._ahead = ReadAhead(self._batches(position))
        return iter(self._ahead)

    def _batches(self, position: Position) -> Generator[Batch, None, None]:
        first = self._index(position) if position else 0
        for k in range(first, len(self.paths)):
            within = position["within"] if position and self.paths[k] == position["file"] else None
            for batch in self._read_file(self.paths[k], within):
                yield Batch(batch.table, self._position_after(k, batch.position_after))

    def _position_after(self, k: int, within: Callable[[int], Position]) -> Callable[[int], Position]:
        return lambda n_rows: {
            "file": self.paths[k],
            "before": k,
            "learnt": self.paths[:k],
            "within": within(n_rows),
        }

    def _index(self, position: Position) -> int:
        """The file at which to go on; files that were read before it may have been deleted since."""
        file, learnt = position["file"], position.get("learnt")
        before = [path for path in self.paths if path < file]
        added = len(before) > position["before"] if learnt is None else not set(before) <= set(learnt)
        if added:
            raise StreamError(
                f"{file} was file number {position['before'] + 1} at the checkpoint, but the "
                "files before it have changed; restore them, or choose another checkpoint folder."
            )
        if file not in self.paths:
            self.columns.warn(
                f"{file}, in which the checkpoint lies, is gone, so rows of it that were not read yet are "
                "lost; reading goes on with the file after it."
            )
        return len(before)

    def _read_file(self, path: str, within: Position) -> Iterator[Batch]:
        suffix = self._suffix(path)
        try:
            if suffix in TEXTS and self.follow and path != "-":
                yield from self._follow(Path(path), within)
            elif suffix in TEXTS:
                if path != "-" and not is_same_file(Path(path), within):
                    raise _another_file(Path(path), within)
                yield from self._text_reader(path, suffix, self.follow).batches(within)
            else:
                yield from _with_positions(TABLES[suffix](Path(path), within or 0), within or 0)
        except StreamError:
            raise
        except (ValueError, EOFError, OSError, BadZipFile) as error:  # pyarrow's and NumPy's are ValueErrors
            reason = " ".join(str(error).split()).rstrip(".")
            raise StreamError(
                f"{source_subject(path)} cannot be read: {reason}; {_hint(error, self.dialect.encoding)}."
            ) from None

    def _text_reader(
        self, path: str, suffix: str, follow: bool, names: list[str] | None = None
    ) -> TextReader:
        origin = StandardInput() if path == "-" else FileBytes(Path(path))
        self._origin = origin if isinstance(origin, FileBytes) else None
        return TextReader(
            origin,
            source_subject(path),
            TEXTS[suffix],
            self.columns,
            header=self.header,
            follow=follow,
            names=names,
            dialect=self.dialect,
        )

    def _follow(self, path: Path, within: Position) -> Iterator[Batch]:
        """Rows of a file that grows. When it is rotated, the old one is read to its end, then the new one."""
        suffix, names = self._suffix(str(path)), None
        while True:
            if within and not is_same_file(path, within):
                old_files = rotated_files(path, within)
                self._warn_of_rotation(path, old_files)
                for old, start in old_files:
                    reader = self._text_reader(str(old), suffix, False, names)
                    yield from reader.batches(start)
                    names = reader.names
                within = None
            reader = self._text_reader(str(path), suffix, True, names)
            yield from reader.batches(within)
            names, within = reader.names, reader.truncated_at
            if within is None:
                self.columns.warn(f"{path} was replaced; it was read to its end, and its successor follows.")

    def _warn_of_rotation(self, path: Path, old_files: list[tuple[Path, Position]]) -> None:
        if old_files:
            rest = ", ".join(str(old) for old, _ in old_files)
            self.columns.warn(f"{path} was rotated; first the rest of {rest} is read.")
        else:
            self.columns.warn(
                f"{path} was rotated or truncated, and what was in it cannot be found beside it, so rows "
                "that were not read yet are lost; reading goes on at its start."
            )

    def acknowledge(self, position: Position) -> None:
        """Files need no acknowledgement."""

    def fraction(self, position: Position) -> float | None:
        """Share of bytes for a single uncompressed text file, otherwise of files."""
        if self.follow or self.paths == ["-"] or self.dialect.encoding or not position:
            return None
        k, within, path = position["before"], position["within"], Path(position["file"])
        size = path.stat().st_size if isinstance(within, dict) and path.suffix not in COMPRESSED else 0
        inside = within["byte"] / size if size else 0.0
        return (k + inside) / len(self.paths) if size or len(self.paths) > 1 else None

    def lag(self) -> dict[str, int]:
        """Bytes that were not read yet of a single text file; unknown if it is compressed."""
        if len(self.paths) > 1 or self._origin is None:
            return {}
        n_left = self._origin.left()
        return {} if n_left is None else {"bytes": n_left}

    def close(self) -> None:
        """Stop the reading thread."""
        if self._ahead is not None:
            self._ahead.close()


def _hint(error: Exception, encoding: str | None) -> str:
    if isinstance(error, UnicodeError) and encoding is not None:
        return f"if its encoding is not {encoding}, name it with --encoding, or leave that out for UTF-8"
    if isinstance(error, UnicodeError):
        return "if its text is not UTF-8, name its encoding with --encoding, such as cp1252 or utf-16"
    return "repair the file, or leave it out"


def _matching_files(pattern: str) -> list[str]:
    if Path(pattern).is_file():
        return [pattern]
    folder = Path(pattern) if Path(pattern).is_dir() else None
    if folder is not None:
        pattern = str(Path(glob.escape(pattern)) / "**" / "*.parquet")
    paths = sorted(path for path in glob.glob(pattern, recursive=True) if Path(path).is_file())
    if not paths and folder is not None:
        raise StreamError(
            f"{folder} is a folder without Parquet files, and only these are read from folders; for others, "
            f"give a pattern, such as '{folder / '*.csv'}'."
        )
    if not paths:
        raise StreamError(f"There is no file {pattern}; check the path, or quote the pattern.")
    return paths


def _another_file(path: Path, within: Position) -> StreamError:
    if path.stat().st_size < n_read_before(within):
        return too_short(path)
    return StreamError(
        f"{path} does not begin as the file that was read before the checkpoint did; restore it, or choose "
        "another checkpoint folder."
    )


def _with_positions(tables: Iterator[pyarrow.Table], n_before: int) -> Iterator[Batch]:
    for table in tables:
        yield Batch(table, partial(add, n_before))
        n_before += table.num_rows
