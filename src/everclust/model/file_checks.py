"""Checks of a model file: every one raises ValueError with the reason why no model can have written it."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping
from reprlib import repr as shortened
from typing import Any, NamedTuple

import numpy as np

from ..core.cluster_ids import BORN
from ..core.layout import NO_CLUSTER, SEED_NODES
from ..core.serialise import Arrays, examine
from ..core.spread import SCALE_FLOOR
from ..core.state import State
from ..version import __version__
from .clusters import COMPONENTS, HANDOVER
from .id_checks import check_ids, check_table
from .ids.event_log import N_COLUMNS
from .ids.shifts import JOINED
from .rows import LARGEST, MOST_SAMPLES

FORMAT = 2
COUNTS = ("n_seen", "since_recalibration", "interval", "next_cluster", "next_community", "n_born")
IDS = ("next_cluster", "next_community")
FRACTIONS = ("vigilance", "cluster_ratio")
UNPRINTABLE = ("Cc", "Cs")  # control characters, which a terminal obeys, and halves of pairs
LINE_BREAKS = "\t\r\n"  # which headers of spreadsheets hold
DTYPES = ("<f8", "<i8", "|b1")


def check_format(number: Any) -> None:
    """The only format is FORMAT."""
    if is_count(number) and number > FORMAT:
        raise ValueError(
            f"unknown format {number}, newer than {FORMAT}, the format of everclust {__version__}; "
            "upgrade everclust"
        )
    if not is_count(number) or number != FORMAT:
        raise ValueError(f"unknown format {shortened(number)}, expected {FORMAT}")


def check_layout(name: str, dtype: Any, shape: Any) -> None:
    """What the header says of an array, before anything is allocated for it."""
    if dtype not in DTYPES:
        raise ValueError(
            f"invalid dtype {shortened(dtype)} of array {shortened(name)}, expected one of {DTYPES}"
        )
    if not all(is_count(length) for length in shape):
        raise ValueError(f"invalid shape {shortened(shape)} of array {shortened(name)}")


class Form(NamedTuple):
    """What the files of an algorithm hold."""

    clusters: str  # COMPONENTS or HANDOVER
    choices: Mapping[str, tuple[str, ...]]  # legal values of the parameters, the default first


def form_of(algorithm: Any, forms: Mapping[str, Form]) -> Form:
    """The form of a known algorithm."""
    if type(algorithm) is not str or algorithm not in forms:
        raise ValueError(f"unknown algorithm {shortened(algorithm)}, expected one of {_listed(forms)}")
    return forms[algorithm]


def check_params(params: Any, form: Form, arrays: Arrays) -> None:
    """Parameters of the estimator: legal names and values; feature weights only in the capped metric."""
    wrong = set(params) - {*form.choices, "max_nodes"}
    wrong |= {name for name, legal in form.choices.items() if params.get(name, legal[0]) not in legal}
    max_nodes = params.get("max_nodes")
    if max_nodes is not None and not (is_count(max_nodes) and max_nodes >= SEED_NODES):
        wrong.add("max_nodes")
    if wrong:
        raise ValueError(f"invalid parameter {_listed(sorted(wrong))} in {shortened(params)}")
    default = form.choices.get("metric", ("euclidean",))[0]
    is_capped = params.get("metric", default) == "capped"
    if not is_capped and (arrays["weight"] != 1).any():
        raise ValueError("feature weights, which only models in the metric 'capped' have")
    if is_capped != ("direction" in arrays):
        raise ValueError("directions, which models in the metric 'capped' have, and no others")


def check_names(names: Any, n_features: int) -> None:
    """Names of the features, if there are any."""
    if names is None:
        return
    if type(names) is not list or not all(type(name) is str for name in names):
        raise ValueError("feature names are not a list of strings")
    if len(names) != n_features:
        raise ValueError(f"{len(names)} feature names, but {n_features} features")
    check_distinct(names)


def check_distinct(names: Iterable[str]) -> None:
    """Names of features are different, because rows are matched by them, and hold no control characters."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"the feature name {shortened(name)} is there twice; rename one of them")
        if any(unicodedata.category(c) in UNPRINTABLE and c not in LINE_BREAKS for c in name):
            raise ValueError(f"a control character in the feature name {ascii(name)[:60]}; rename it")
        seen.add(name)


def checked_state(scalars: Mapping[str, Any], arrays: Arrays, clusters: str) -> State:
    """The state that these are the parts of, with every check of state, ids and events."""
    _check_scalars(scalars)
    if (clusters == HANDOVER) != ("probe" in arrays):
        raise ValueError("probes, which models of EverClust have, and no others")
    if clusters == HANDOVER:
        _check_probe_scalars(scalars)
    if "direction" in arrays and not is_count(scalars["foretold_at"]):
        raise ValueError("invalid scalar 'foretold_at'")
    state = examine(scalars, arrays)
    n_features = arrays["prototype"].shape[1]
    next_id = scalars["next_cluster" if clusters == COMPONENTS else "next_community"]
    last_kind = BORN if clusters == COMPONENTS else JOINED
    _check_events([scalars["n_seen"], last_kind, next_id - 1, next_id - 1, MOST_SAMPLES], n_features, arrays)
    if clusters == HANDOVER:
        check_ids(scalars, arrays)
    _check_ranges(scalars["n_seen"], arrays)
    return state


def _check_scalars(scalars: Mapping[str, Any]) -> None:
    wrong = [name for name in COUNTS if not is_count(scalars[name])]
    wrong += [name for name in FRACTIONS if type(scalars[name]) not in (int, float)]
    if scalars["provisional"] not in (NO_CLUSTER, 0):
        wrong.append("provisional")
    if not wrong and scalars["since_recalibration"] > scalars["n_seen"]:
        wrong.append("since_recalibration")
    if not wrong:  # a sample issues at most one id for each node, and so leads from a legal number to one
        wrong += [name for name in IDS if scalars[name] > (scalars["n_seen"] + 1) ** 2]
    if wrong:
        raise ValueError(f"invalid scalar {_listed(wrong)}")


def _check_probe_scalars(scalars: Mapping[str, Any]) -> None:
    wrong = [
        name for name in ("n_probes", "n_compared", "n_rounds", "n_resting") if not is_count(scalars[name])
    ]
    wrong += [name for name in ("first_exponent",) if type(scalars[name]) is not int]
    numbers = ("n_ratios", "log_ratios", "radius_factor", "n_clusters", "cluster_end", "cluster_radius")
    wrong += [
        name
        for name in numbers
        if type(scalars[name]) not in (int, float) or not math.isfinite(scalars[name])
    ]
    if wrong:
        raise ValueError(f"invalid scalar {_listed(wrong)}")


def _check_events(highest: list[int], n_features: int, arrays: Arrays) -> None:
    records, centres = arrays["event"], arrays["event_centre"]
    check_table("event", N_COLUMNS, arrays)
    if centres.shape != (len(centres), n_features) or centres.dtype.kind != "f":
        raise ValueError(f"wrong shape or dtype of array 'event_centre': {centres.shape}, {centres.dtype}")
    if not np.isfinite(centres).all():
        raise ValueError("non-finite value in array 'event_centre'")
    if (records < 0).any() or (records > np.array([*highest, len(centres) - 1])).any():
        raise ValueError("unknown sample, kind, cluster or centre in array 'event'")


def _check_ranges(n_seen: int, arrays: Arrays) -> None:
    """Numbers that no stream leads to, or with which arithmetic would overflow."""
    uses = {name: arrays[name] for name in ("usage", "wins", "activity")}
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
    if wrong:
        raise ValueError(f"value out of range in array {_listed(wrong)}")


def is_count(value: Any) -> bool:
    """Whether a value is an integer that a count can have."""
    return type(value) is int and 0 <= value <= MOST_SAMPLES


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(map(shortened, names))
