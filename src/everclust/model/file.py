"""Save and load: one file, arrays and a JSON header with a format version; no pickle on the path.

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
from typing import Any, NoReturn

import numpy as np

from ..atomic import write_atomically
from ..core.readout import candidates, components, number_clusters
from ..core.serialise import Arrays, examine, restore
from ..core.spread import SCALE_FLOOR
from ..core.state import SEED_NODES
from ..core.topology import NO_CLUSTER
from ..text import quantity
from ..version import __version__
from .event_arrays import examine_history, nothing_happened
from .rows import LARGEST

MAGIC = b"everclust model\n"
FORMAT = 2
#: Values that the parameters can have.
CHOICES = {"clusters": ("components", "handover"), "metric": ("euclidean", "capped")}
DIGEST = hashlib.sha256().digest_size
MOST_SAMPLES = 2**53  # more than anybody can have learnt: sums of so large counts would overflow
COUNTS = ("n_seen", "since_recalibration", "interval", "next_cluster", "next_community")
FRACTIONS = ("vigilance", "cluster_ratio")


def write_model(
    path: str | Path,
    scalars: Mapping[str, Any],
    arrays: Arrays,
    params: Mapping[str, Any],
    names: Iterable[str] | None = None,
) -> None:
    """Write a file that is complete or not there at all."""
    layout = {name: [array.dtype.newbyteorder("<").str, array.shape] for name, array in arrays.items()}
    header = {
        "format": FORMAT,
        "everclust": __version__,
        "params": dict(params),
        "scalars": dict(scalars),
        "names": None if names is None else list(names),
        "arrays": layout,
    }
    text = json.dumps(header, allow_nan=False, default=int).encode()  # NumPy's integers are none to it
    parts = [MAGIC, len(text).to_bytes(4, "little"), text]
    parts += [np.ascontiguousarray(a, a.dtype.newbyteorder("<")).tobytes() for a in arrays.values()]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    write_atomically(Path(path), [*parts, digest.digest()])


def read_model(path: str | Path) -> tuple[dict[str, Any], Arrays, dict[str, Any], list[str] | None]:
    """(scalars, arrays, parameters, feature names), each of them examined."""
    data = Path(path).read_bytes()
    try:
        header, start = _read_header(data)
        _check_format(header["format"])
        scalars, names = header["scalars"], header["names"]
        arrays = _read_arrays(header["arrays"], data, start)
        params = header["params"] if header["format"] > 1 else _complete(scalars, arrays)
        _check_scalars(scalars)
        _check_params(params, arrays)
        examine(scalars, arrays)
        examine_history(scalars, arrays)
        _check_ranges(scalars["n_seen"], arrays)
        _check_names(names, arrays["prototype"].shape[1])
        if header["format"] == 1:
            _number_clusters(scalars, arrays)
        return scalars, arrays, params, names
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


def _complete(scalars: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Add what format 1 did not know: hand-overs, ids of clusters, and parameters."""
    scalars.update(next_cluster=0, provisional=NO_CLUSTER, next_community=0)
    arrays["handover"] = np.empty((0, 3), np.int64)
    n_nodes, n_features = arrays["prototype"].shape
    arrays["weight"] = np.ones(n_features)
    arrays["last_won"] = np.zeros(n_nodes, np.int64)
    arrays |= {name: np.full(n_nodes, NO_CLUSTER) for name in ("community", "cluster")}
    arrays["since"] = np.zeros(n_nodes, np.int64)
    arrays.update(nothing_happened(n_features))
    return {}


def _number_clusters(scalars: dict[str, Any], arrays: Arrays) -> None:
    """The numbers that clusters had in format 1 become their ids; `order` names nodes in their order."""
    state = restore(scalars, arrays)
    number = number_clusters(components(state), arrays.pop("order", candidates(state)))
    arrays["cluster"] = np.where(arrays["active"], number, NO_CLUSTER)
    scalars["next_cluster"] = int(arrays["cluster"].max()) + 1


def _check_params(params: Any, arrays: Arrays) -> None:
    max_nodes = params.get("max_nodes")
    known = all(params.get(name, values[0]) in values for name, values in CHOICES.items())
    known = known and set(params) <= {*CHOICES, "max_nodes"}
    known = known and (max_nodes is None or (_is_count(max_nodes) and max_nodes >= SEED_NODES))
    if not known or (params.get("metric") != "capped" and (arrays["weight"] != 1).any()):
        raise ValueError(f"its parameters make no sense ({params!r})")


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST_SAMPLES


def _check_scalars(scalars: Mapping[str, Any]) -> None:
    wrong = [name for name in COUNTS if not _is_count(scalars[name])]
    wrong += [name for name in FRACTIONS if type(scalars[name]) not in (int, float)]
    if scalars["provisional"] not in (NO_CLUSTER, 0):
        wrong.append("provisional")
    if wrong or scalars["since_recalibration"] > scalars["n_seen"]:
        raise ValueError(f"its scalars cannot be ({', '.join(wrong) or 'since_recalibration'})")


def _check_ranges(n_seen: int, arrays: Arrays) -> None:
    """Refuse numbers that no learning leads to and that arithmetic does not survive."""
    uses = {name: arrays[name] for name in ("usage", "gain")}
    uses |= {name: arrays[name][:, 2] for name in ("evidence", "handover")}
    wrong = [name for name in ("prototype", "window", "mean") if (abs(arrays[name]) > LARGEST).any()]
    wrong += [name for name, n_times in uses.items() if n_times.sum(dtype=float) > 4 * n_seen]
    if (arrays["scale"] < SCALE_FLOOR).any():
        wrong.append("scale")
    if (arrays["handover"][:, 2] < 1).any():
        wrong.append("handover")
    if (arrays["weight"] <= 0).any():
        wrong.append("weight")
    if (arrays["since"] < 0).any() or (arrays["since"] > n_seen).any():
        wrong.append("since")
    if "order" in arrays and not _numbers_clusters(arrays["order"], arrays["active"]):
        wrong.append("order")
    if wrong:
        raise ValueError(f"no learning leads to such numbers ({', '.join(wrong)})")


def _numbers_clusters(order: np.ndarray, taking_part: np.ndarray) -> bool:
    """Does it name every node that takes part in the answer, once?"""
    candidates = np.flatnonzero(taking_part) if taking_part.any() else np.arange(len(taking_part))
    return order.dtype.kind == "i" and order.ndim == 1 and np.array_equal(np.sort(order), candidates)


def _check_names(names: Any, n_features: int) -> None:
    if names is None:
        return
    if type(names) is not list or not all(type(name) is str for name in names):
        raise ValueError("its feature names are not a list of strings")
    if len(names) != n_features:
        raise ValueError(f"it names {quantity(len(names), 'feature')}, but has {n_features}")
