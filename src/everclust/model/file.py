"""Save and load: one file, arrays and a JSON header with a format version; nothing is pickled.

Layout: MAGIC, length of the header (4 bytes, little-endian), header (JSON), the arrays one after the other
(little-endian, C order), SHA-256 of all that. The header says how long the arrays are, and a file that is
not exactly as long as its header says is refused before anything is allocated for it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..atomic import write_atomically
from ..core.serialise import Arrays
from ..core.state import State
from ..version import __version__
from .file_checks import (
    FORMAT,
    Form,
    check_format,
    check_layout,
    check_names,
    check_params,
    checked_state,
    form_of,
)
from .times import SampleTimes

MAGIC = b"everclust model\n"
DIGEST = hashlib.sha256().digest_size


class StoredModel(NamedTuple):
    """The content of a file."""

    algorithm: str
    state: State
    arrays: Arrays  # with ids and events, which the state does not hold
    params: dict[str, Any]  # of the estimator
    names: list[str] | None  # of the features
    times: SampleTimes | None = None  # of samples, by the stream's own clock


def write_model(
    path: str | Path,
    scalars: Mapping[str, Any],
    arrays: Arrays,
    algorithm: str,
    params: Mapping[str, Any],
    names: Iterable[str] | None = None,
    times: SampleTimes | None = None,
) -> None:
    """Write a file that is complete or not there at all."""
    layout = {name: [array.dtype.newbyteorder("<").str, array.shape] for name, array in arrays.items()}
    header = {
        "format": FORMAT,
        "everclust": __version__,
        "algorithm": algorithm,
        "params": dict(params),
        "scalars": dict(scalars),
        "names": None if names is None else list(names),
        "arrays": layout,
    }
    if times is not None:
        header["times"] = times.record()
    text = json.dumps(header, allow_nan=False, default=int).encode()  # json does not know NumPy's integers
    parts = [MAGIC, len(text).to_bytes(4, "little"), text]
    parts += [np.ascontiguousarray(a, a.dtype.newbyteorder("<")).tobytes() for a in arrays.values()]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    write_atomically(Path(path), [*parts, digest.digest()])


def read_model(path: str | Path, algorithms: Mapping[str, Form]) -> StoredModel:
    """Read and check a file.

    Parameters
    ----------
    path : str or Path
    algorithms : mapping of str to Form
        What the files of each algorithm hold, by its name.
    """
    data = Path(path).read_bytes()
    try:
        return _read(data, algorithms)
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        reason = f"malformed header ({type(error).__name__}: {error})"
    except ValueError as error:
        reason = str(error).removesuffix(".")
    raise ValueError(f"{path} cannot be read as an everclust model: {reason}.")


def _read(data: bytes, algorithms: Mapping[str, Form]) -> StoredModel:
    header, start = _read_header(data)
    check_format(header["format"])
    algorithm, names, params = header["algorithm"], header["names"], header["params"]
    form = form_of(algorithm, algorithms)
    arrays = _read_arrays(header["arrays"], data, start)
    check_params(params, form, arrays)
    state = checked_state(header["scalars"], arrays, form.clusters)
    check_names(names, state.prototype.shape[1])
    times = SampleTimes(header["times"]) if "times" in header else None
    return StoredModel(algorithm, state, arrays, params, names, times)


def _read_header(data: bytes) -> tuple[Any, int]:
    start = len(MAGIC) + 4
    if data[: len(MAGIC)] != MAGIC:
        raise ValueError("bad magic number, so everclust has not saved it; check the path")
    length = int.from_bytes(data[len(MAGIC) : start], "little")
    if len(data) < start + length + DIGEST:
        raise ValueError(f"unexpected end of file after {len(data)} bytes")
    return json.loads(data[start : start + length], parse_constant=_refuse_constant), start + length


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"invalid number {name} in the header")


def _read_arrays(layout: Mapping[str, Any], data: bytes, start: int) -> Arrays:
    sizes = {name: _n_bytes(name, *entry) for name, entry in layout.items()}
    expected = start + sum(sizes.values()) + DIGEST
    if len(data) != expected:
        raise ValueError(f"wrong file size of {len(data)} bytes, expected {expected} by its header")
    if hashlib.sha256(memoryview(data)[:-DIGEST]).digest() != data[-DIGEST:]:
        raise ValueError("wrong checksum (SHA-256), so bytes have changed since it was written")
    arrays = {}
    for name, (dtype, shape) in layout.items():
        raw = np.frombuffer(data, np.uint8, sizes[name], start)
        if dtype == "|b1" and (raw > 1).any():
            raise ValueError(f"invalid boolean in array {shortened(name)}")
        arrays[name] = raw.view(dtype).astype(np.dtype(dtype).newbyteorder("=")).reshape(shape)
        start += sizes[name]
    return arrays


def _n_bytes(name: str, dtype: Any, shape: Any) -> int:
    check_layout(name, dtype, shape)
    return np.dtype(dtype).itemsize * math.prod(shape)
