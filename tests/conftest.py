"""What several test files share: drawing profiles, compiled inner functions, hand-made models, data sets."""

import signal
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import load_iris

from everclust.core.learn import learn
from everclust.core.serialise import restore
from everclust.core.state import copy, scalars_of
from support.jit_mode import PLAIN
from support.paths import DATA_FOLDERS

# `few` (the core in `make test`), `fixed` and `more` (`make test-slow`) draw the same examples on every run;
# `explore` looks for new ones.
_ALWAYS: dict[str, Any] = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}
settings.register_profile("few", derandomize=True, max_examples=2, **_ALWAYS)
settings.register_profile("fixed", derandomize=True, max_examples=6 if PLAIN else 12, **_ALWAYS)
settings.register_profile("more", derandomize=True, max_examples=25, **_ALWAYS)
settings.register_profile("explore", max_examples=1000, print_blob=True, **_ALWAYS)
settings.load_profile("fixed")

# A shell lets what it starts in the background ignore Ctrl-C; some tests press it.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):  # which nohup lets them ignore
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile even where NUMBA_DISABLE_JIT is set."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)


@pytest.fixture(params=["plain", "compiled"])
def either_way(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """A function as it is, and compiled, regardless of NUMBA_DISABLE_JIT."""
    if request.param == "plain":
        return lambda function: function
    request.getfixturevalue("compiling")
    return numba.njit  # which keeps nothing on disk


@pytest.fixture(scope="session")
def compiled() -> Callable[[Any], Any]:
    """Make an inner function of the core callable from Python: compiled it has no wrapper of its own."""

    @cache
    def wrap(function: Any) -> Any:
        if PLAIN:
            return function

        def call(*arguments):
            return function(*arguments)

        return numba.njit(call)

    return wrap


@pytest.fixture(scope="session")
def model() -> Callable[..., Any]:
    """Make a state from a few node fields, the rest being as if nothing had happened yet.

    `evidence` and `handover` list (i, j, count) and `edge` (i, j), with i < j; `window` is oldest first.
    """

    def build(
        prototype,
        *,
        evidence=(),
        edge=(),
        handover=(),
        window=(),
        mean=None,
        square_sum=None,
        weight=None,
        **fields,
    ):
        prototype = np.array(prototype, float)
        n_nodes, n_features = prototype.shape
        zeros = np.zeros(n_nodes, np.int64)
        usage = np.array(fields.pop("usage", zeros + 1), np.int64)
        arrays = {
            "prototype": prototype,
            "usage": usage,
            "wins": np.array(fields.pop("wins", usage), np.int64),
            "scale": np.array(fields.pop("scale", zeros + 1.0), float),
            "active": np.array(fields.pop("active", zeros), bool),
            "idle": np.array(fields.pop("idle", zeros), np.int64),
            "activity": np.array(fields.pop("activity", zeros), np.int64),
            "mean": np.zeros(n_features) if mean is None else np.array(mean, float),
            "square_sum": np.zeros(n_features) if square_sum is None else np.array(square_sum, float),
            "window": np.array(window, float).reshape(-1, n_features),
            "evidence": np.array(evidence, np.int64).reshape(-1, 3),
            "edge": np.array(edge, np.int64).reshape(-1, 2),
            "last_won": np.array(fields.pop("last_won", zeros), np.int64),
            "community": np.array(fields.pop("community", zeros - 1), np.int64),
            "cluster": np.array(fields.pop("cluster", zeros - 1), np.int64),
            "since": np.array(fields.pop("since", zeros), np.int64),
            "handover": np.array(handover, np.int64).reshape(-1, 3),
            "weight": np.ones(n_features) if weight is None else np.array(weight, float),
        }
        scalars = {
            "n_seen": max(int(arrays["usage"].sum()), len(arrays["window"])),
            "since_recalibration": 0,
            "interval": 2,
            "vigilance": 0.0,
            "cluster_ratio": 0.0,
            "next_cluster": 0,
            "provisional": -1,
            "next_community": 0,
        }
        unknown = set(fields) - set(scalars)
        if unknown:
            raise TypeError(f"a model has no {unknown}")
        return restore(scalars | fields, arrays)

    return build


@pytest.fixture(scope="session")
def winners() -> Callable[..., np.ndarray]:
    """Find the nearest two nodes of every row, by what learning the row would change."""

    def search(state, X):
        state = copy(state)
        scalars = scalars_of(state)
        # Everything resonates, and neither maintenance nor recalibration is due.
        scalars.vigilance, scalars.interval, scalars.n_seen, scalars.since_recalibration = 0.0, 3, 3001, 0
        state.node["scale"] = state.node["scale"].max() * 1234.5
        n_nodes, found = int(scalars.n_nodes), np.empty((len(X), 2), np.int64)
        for i in range(len(X)):
            after = learn(copy(state), np.ascontiguousarray(X[i : i + 1]))
            used = after.node["usage"][:n_nodes] > state.node["usage"][:n_nodes]
            rescaled = after.node["scale"][:n_nodes] != state.node["scale"][:n_nodes]  # only the first is
            found[i] = *np.flatnonzero(used & rescaled), *np.flatnonzero(used & ~rescaled)
        return found

    return search


@pytest.fixture(scope="session")
def data_set() -> Callable[[str], np.ndarray]:
    """Load the features of a data set by name, or skip the test and say which file is missing."""

    @cache
    def load(name: str) -> np.ndarray:
        if name == "iris":  # scikit-learn's is the very array of the data folder
            return load_iris().data
        for folder in DATA_FOLDERS:
            if (folder / f"{name}.npz").exists():
                with np.load(folder / f"{name}.npz") as file:
                    return np.ascontiguousarray(file["X"], dtype=float)
        pytest.skip(
            f"{name}.npz is not in {' or '.join(map(str, DATA_FOLDERS))}; set EVERCLUST_DATA to its folder"
        )

    return load
