"""Save and load: one file, arrays and a JSON header with a format version; no pickle on the path.

Layout: MAGIC, length of the header (4 bytes, little-endian), header (JSON), the arrays one after the other
(little-endian, C order), SHA-256 of all that. The header says how long the arrays are, and a file that is
not exactly as long as its header says is refused before anything is allocated for it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import secrets
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from .core.portable import Arrays, examine
from .core.spread import SCALE_FLOOR
from .version import __version__

MAGIC = b"everclust model\n"
FORMAT = 1
DIGEST = hashlib.sha256().digest_size
MOST_SAMPLES = 2**53  # more than anybody can have learnt: sums of so large counts would overflow
LARGEST = 1e140  # of the values in a model: the squares of larger ones would leave float64
COUNTS = ("n_seen", "since_recalibration", "interval")
FRACTIONS = ("vigilance", "cluster_ratio")


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
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    write_atomically(Path(path), [*parts, digest.digest()])


def write_atomically(path: Path, parts: Iterable[bytes]) -> None:
    """Write beside the target, make sure it is on the disk, then take its place.

    A link stays a link: the file it leads to is replaced. Devices and pipes are refused, not replaced.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise OSError(errno.EINVAL, "A device or pipe cannot be replaced; choose another path", str(path))
    beside = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
    try:
        with open(beside, "xb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink()
        if isinstance(error, OSError) and error.errno is not None:
            what = f"{error.strerror}, so nothing was written and what was there before is untouched"
            raise OSError(error.errno, what, str(path)) from None
        raise


def read_model(path: str | Path) -> tuple[dict[str, Any], Arrays, list[str] | None]:
    """(scalars, arrays, feature names), each of them examined."""
    data = Path(path).read_bytes()
    try:
        header, start = _read_header(data)
        _check_format(header["format"])
        scalars, names = header["scalars"], header["names"]
        arrays = _read_arrays(header["arrays"], data, start)
        _check_scalars(scalars)
        examine(scalars, arrays)
        _check_ranges(scalars["n_seen"], arrays)
        _check_names(names, arrays["prototype"].shape[1])
        return scalars, arrays, names
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise ValueError(f"{path} is not an everclust model: its header makes no sense.") from None
    except ValueError as error:
        reason = str(error).removesuffix(".")
        raise ValueError(f"{path} cannot be read as an everclust model: {reason}.") from None


def _read_header(data: bytes) -> tuple[Any, int]:
    start = len(MAGIC) + 4
    if data[: len(MAGIC)] != MAGIC:
        raise ValueError("it does not begin like one")
    length = int.from_bytes(data[len(MAGIC) : start], "little")
    if len(data) < start + length + DIGEST:
        raise ValueError(f"it ends too early, after {len(data)} bytes")
    return json.loads(data[start : start + length], parse_constant=_refuse_constant), start + length


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"its header holds {name}")


def _check_format(number: Any) -> None:
    if not _is_count(number) or number == 0:
        raise ValueError(f"its format is {number!r}, which is none")
    if number > FORMAT:
        raise ValueError(
            f"its format is {number}, newer than {FORMAT}, which is the newest that "
            f"everclust {__version__} reads; upgrade everclust"
        )


def _read_arrays(layout: Mapping[str, Any], data: bytes, start: int) -> Arrays:
    sizes = {name: _n_bytes(*entry) for name, entry in layout.items()}
    expected = start + sum(sizes.values()) + DIGEST
    if len(data) != expected:
        raise ValueError(f"it has {len(data)} bytes where its header speaks of {expected}")
    if hashlib.sha256(memoryview(data)[:-DIGEST]).digest() != data[-DIGEST:]:
        raise ValueError("its checksum is wrong, so some of its bytes have changed")
    arrays = {}
    for name, (dtype, shape) in layout.items():
        raw = np.frombuffer(data, np.uint8, sizes[name], start)
        if dtype == "|b1" and (raw > 1).any():
            raise ValueError(f"its {name} is neither true nor false")
        arrays[name] = raw.view(dtype).astype(np.dtype(dtype).newbyteorder("=")).reshape(shape)
        start += sizes[name]
    return arrays


def _n_bytes(dtype: str, shape: list[int]) -> int:
    if dtype not in ("<f8", "<i8", "|b1"):
        raise ValueError(f"it holds an array of type {dtype!r}")
    if not all(_is_count(length) for length in shape):
        raise ValueError(f"it holds an array of shape {shape}")
    return np.dtype(dtype).itemsize * math.prod(shape)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST_SAMPLES


def _check_scalars(scalars: Mapping[str, Any]) -> None:
    wrong = [name for name in COUNTS if not _is_count(scalars[name])]
    wrong += [name for name in FRACTIONS if type(scalars[name]) not in (int, float)]
    if wrong or scalars["since_recalibration"] > scalars["n_seen"]:
        raise ValueError(f"its scalars cannot be ({', '.join(wrong) or 'since_recalibration'})")


def _check_ranges(n_seen: int, arrays: Arrays) -> None:
    """Refuse numbers that no learning leads to and that arithmetic does not survive."""
    uses = {"usage": arrays["usage"], "evidence": arrays["evidence"][:, 2], "gain": arrays["gain"]}
    wrong = [name for name in ("prototype", "window", "mean") if (abs(arrays[name]) > LARGEST).any()]
    wrong += [name for name, n_times in uses.items() if n_times.sum(dtype=float) > 4 * n_seen]
    if (arrays["scale"] < SCALE_FLOOR).any():
        wrong.append("scale")
    if "order" in arrays and not _numbers_clusters(arrays["order"], arrays["active"]):
        wrong.append("order")
    if wrong:
        raise ValueError(f"no learning leads to such numbers ({', '.join(wrong)})")


def _numbers_clusters(order: np.ndarray, active: np.ndarray) -> bool:
    """Does it name every node that takes part in the answer, once?"""
    candidates = np.flatnonzero(active) if active.any() else np.arange(len(active))
    return order.dtype.kind == "i" and order.ndim == 1 and np.array_equal(np.sort(order), candidates)


def _check_names(names: Any, n_features: int) -> None:
    if names is None:
        return
    if type(names) is not list or not all(type(name) is str for name in names):
        raise ValueError("its feature names are not a list of strings")
    if len(names) != n_features:
        raise ValueError(f"it names {len(names)} features, but has {n_features}")
