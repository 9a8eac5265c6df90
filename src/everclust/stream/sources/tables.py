"""Parquet, Arrow and NumPy files; a position is a number of rows."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...text import counted
from ..batch import StreamError, import_pyarrow

if TYPE_CHECKING:
    import pyarrow

ROWS = 8_192  # read at a time


def parquet_tables(path: Path, skip: int) -> Iterator[pyarrow.Table]:
    """Rows of a Parquet file; reading begins at the row group of the first one."""
    arrow = import_pyarrow()
    with import_pyarrow("parquet").ParquetFile(path) as file:
        sizes = [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]
        first, skip = _first_group(sizes, skip, path)
        for batch in file.iter_batches(ROWS, row_groups=list(range(first, len(sizes)))):
            dropped = min(skip, batch.num_rows)
            skip -= dropped
            yield arrow.Table.from_batches([batch.slice(dropped)])


def arrow_tables(path: Path, skip: int) -> Iterator[pyarrow.Table]:
    """Rows of an Arrow file, in the file or the stream format, by memory map."""
    arrow = import_pyarrow()
    with arrow.memory_map(str(path)) as memory:
        is_file = memory.read(6) == b"ARROW1"
        memory.seek(0)
        reader = arrow.ipc.open_file(memory) if is_file else arrow.ipc.open_stream(memory)
        batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else iter(reader)
        for batch in batches:
            dropped = min(skip, batch.num_rows)
            skip -= dropped
            for start in range(dropped, batch.num_rows, ROWS):
                yield arrow.Table.from_batches([batch.slice(start, ROWS)])
    if skip:
        raise too_short(path)


def npy_tables(path: Path, skip: int) -> Iterator[pyarrow.Table]:
    """Rows of an `.npy` file, by memory map."""
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    _check_matrix(array.shape, path)
    if skip > len(array):
        raise too_short(path)
    for start in range(skip, len(array), ROWS):
        yield _named(array[start : start + ROWS])


def npz_tables(path: Path, skip: int) -> Iterator[pyarrow.Table]:
    """Rows of an `.npz` file: the matrix X, or the only matrix, and vectors of the same length."""
    with zipfile.ZipFile(path) as archive, ExitStack() as stack:
        members = {
            name.removesuffix(".npy"): stack.enter_context(closing(Member(archive, name)))
            for name in archive.namelist()
        }
        matrix = _find_matrix(members, path)
        n_rows = matrix.shape[0]
        if skip > n_rows:
            raise too_short(path)
        beside = {name: m for name, m in members.items() if m.shape == (n_rows,)}
        for member in (matrix, *beside.values()):
            member.skip(skip)
        for start in range(skip, n_rows, ROWS):
            n = min(ROWS, n_rows - start)
            table = _named(matrix.take(n))
            for name, member in beside.items():
                table = table.append_column(name, import_pyarrow().array(member.take(n)))
            yield table


class Member:
    """An array in an `.npz` file, decompressed piece by piece."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self.file = archive.open(name)
        version = np.lib.format.read_magic(self.file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        self.shape, fortran, self.dtype = read(self.file)
        self.readable = not (fortran and len(self.shape) > 1) and not self.dtype.hasobject
        self.row_bytes = self.dtype.itemsize * int(np.prod(self.shape[1:], dtype=int))

    def take(self, n_rows: int) -> np.ndarray:
        """The next rows."""
        data = self.file.read(n_rows * self.row_bytes)
        return np.frombuffer(data, self.dtype).reshape(n_rows, *self.shape[1:])

    def close(self) -> None:
        """Close the archive member."""
        self.file.close()

    def skip(self, n_rows: int) -> None:
        """Skip rows."""
        self.file.seek(n_rows * self.row_bytes, 1)


def _find_matrix(members: dict[str, Member], path: Path) -> Member:
    matrices = {name: member for name, member in members.items() if len(member.shape) == 2}
    if "X" not in matrices and len(matrices) != 1:
        raise StreamError(
            f"{path} holds {counted(len(matrices), 'matrix', 'matrices')} and none called X; save one as X."
        )
    matrix = matrices["X"] if "X" in matrices else next(iter(matrices.values()))
    if not matrix.readable:
        raise StreamError(
            f"The matrix in {path} is stored column by column, so its rows cannot be read one by one; "
            "save np.ascontiguousarray of it."
        )
    return matrix


def _named(rows: np.ndarray) -> pyarrow.Table:
    arrow = import_pyarrow()
    if rows.dtype.kind not in "fiub":
        raise StreamError(f"The matrix holds {rows.dtype}, but distances need numbers; save it as float64.")
    rows = np.asarray(rows, np.float64)
    return arrow.table({f"x{k}": np.ascontiguousarray(rows[:, k]) for k in range(rows.shape[1])})


def _check_matrix(shape: tuple[int, ...], path: Path) -> None:
    if len(shape) != 2:
        raise StreamError(
            f"{path} holds an array of {counted(len(shape), 'dimension')}, but rows and columns are needed."
        )


def _first_group(sizes: list[int], skip: int, path: Path) -> tuple[int, int]:
    """(first group to read, rows to skip in it)."""
    for k, size in enumerate(sizes):
        if skip < size:
            return k, skip
        skip -= size
    if skip:
        raise too_short(path)
    return len(sizes), 0


def too_short(path: Any) -> StreamError:
    """The error for a file that ends before the position of the checkpoint."""
    return StreamError(
        f"{path} is shorter than the checkpoint, so it is not the file that was read before; restore it, or "
        "choose another checkpoint folder."
    )
