"""Save and load: one file, arrays and a JSON header with a format version; no pickle on the path.

Layout: MAGIC, length of the header (4 bytes, little-endian), header (JSON), the arrays one after the other
(little-endian, C order), SHA-256 of all that. The header says how long the arrays are, and a file that is
not exactly as long as its header says is refused before anything is allocated for it.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .core.portable import Arrays, examine
from .version import __version__

MAGIC = b"everclust model\n"
FORMAT = 1
LONGEST_HEADER = 2**24
DIGEST = hashlib.sha256().digest_size


def write_model(
    path: str | Path, scalars: Mapping[str, Any], arrays: Arrays, names: Iterable[str] | None = None
) -> None:
    """Write a file that is complete or not there at all."""
    layout = {name: [array.dtype.newbyteorder("<").str, array.shape] for name, array in arrays.items()}
    header = {
        "format": FORMAT,
        "everclust": __version__,
        "scalars": dict(scalars),
        "names": None if names is None else list(names),
        "arrays": layout,
    }
    text = json.dumps(header, allow_nan=False).encode()
    parts = [MAGIC, len(text).to_bytes(4, "little"), text]
    parts += [np.ascontiguousarray(a, a.dtype.newbyteorder("<")).tobytes() for a in arrays.values()]
    digest = hashlib.sha256(b"".join(parts)).digest()
    write_atomically(Path(path), [*parts, digest])


def write_atomically(path: Path, parts: Iterable[bytes]) -> None:
    """Write beside the target, make sure it is on the disk, then take its place."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name + ".", delete=False) as file:
        try:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def read_model(path: str | Path) -> tuple[dict[str, Any], Arrays, list[str] | None]:
    """(scalars, arrays, feature names), each of them examined."""
    data = Path(path).read_bytes()
    try:
        header, start = _read_header(data)
        if header["format"] > FORMAT:
            raise ValueError(
                f"its format is {header['format']}, newer than {FORMAT}, which is the newest that "
                f"everclust {__version__} reads; upgrade everclust"
            )
        arrays = _read_arrays(header["arrays"], data, start)
        names = header["names"]
        examine(header["scalars"], arrays)
        if names is not None and len(names) != arrays["prototype"].shape[1]:
            raise ValueError("it names another number of features than it has")
        return header["scalars"], arrays, names
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise ValueError(f"{path} is not an everclust model: its header makes no sense.") from None
    except ValueError as error:
        raise ValueError(f"{path} cannot be read as an everclust model: {error}.") from None


def _read_header(data: bytes) -> tuple[Any, int]:
    start = len(MAGIC) + 4
    if data[: len(MAGIC)] != MAGIC:
        raise ValueError("it does not begin like one")
    length = int.from_bytes(data[len(MAGIC) : start], "little")
    if len(data) < start + length + DIGEST or length > LONGEST_HEADER:
        raise ValueError(f"it ends too early, after {len(data)} bytes")
    return json.loads(data[start : start + length]), start + length


def _read_arrays(layout: Mapping[str, Any], data: bytes, start: int) -> Arrays:
    sizes = {name: _n_bytes(*entry) for name, entry in layout.items()}
    expected = start + sum(sizes.values()) + DIGEST
    if len(data) != expected:
        raise ValueError(f"it has {len(data)} bytes where its header speaks of {expected}")
    if hashlib.sha256(data[:-DIGEST]).digest() != data[-DIGEST:]:
        raise ValueError("its checksum is wrong, so some of its bytes have changed")
    arrays = {}
    for name, (dtype, shape) in layout.items():
        raw = np.frombuffer(data[start : start + sizes[name]], dtype)
        arrays[name] = raw.astype(raw.dtype.newbyteorder("=")).reshape(shape)
        start += sizes[name]
    return arrays


def _n_bytes(dtype: str, shape: list[int]) -> int:
    if dtype not in ("<f8", "<i8", "|b1"):
        raise ValueError(f"it holds an array of type {dtype!r}")
    if not all(isinstance(length, int) and length >= 0 for length in shape):
        raise ValueError(f"it holds an array of shape {shape}")
    return np.dtype(dtype).itemsize * math.prod(shape)
