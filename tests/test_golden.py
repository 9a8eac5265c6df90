"""Traces of the right behaviour: the state after every sample, and the final model."""

import re

import numpy as np
import pytest

from everclust import EverClust
from everclust.core import variants
from everclust.core.handovers import handovers
from everclust.core.layout import NO_CLUSTER
from everclust.core.learn import learn
from everclust.core.readout import assign, components, edges, read_out
from everclust.core.state import new_state, scalars_of
from support.paths import DATA

GOLDEN = sorted((DATA / "golden").glob("*.npz"))
TRACES = [path for path in GOLDEN if "_handover" not in path.stem]
HANDOVER = [path for path in GOLDEN if "_handover" in path.stem]
VARIANTS = {
    "": variants.PUBLISHED,
    "_first_500": variants.starting_at(500),
    "_without_inc": variants.WITHOUT_GROWTH,
    "_without_inc_500": variants.starting_at(500, variants.WITHOUT_GROWTH),
    "_without_dec": variants.WITHOUT_SHRINKING,
    "_without_dec_500": variants.starting_at(500, variants.WITHOUT_SHRINKING),
    "_without_all": variants.WITHOUT_BOTH,
    "_printed_evidence": variants.PRINTED_EVIDENCE,
    "_handover": variants.PUBLISHED,
    "_handover_capped": variants.CAPPED,
}


def test_all_traces_are_there():
    assert (len(TRACES), len(HANDOVER)) == (15, 8)
    assert {_parts(trace)[1] for trace in GOLDEN} == set(VARIANTS.values())


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.stem)
def test_trace(trace, data_set):
    name, variant = _parts(trace)
    X = data_set(name)
    with np.load(trace) as file:
        golden = {key: file[key] for key in file.files}

    state, lived = _replay(X[golden["order"]], variant)
    for key in ("interval", "n_nodes", "n_active", "n_components"):
        np.testing.assert_array_equal(lived[key], golden[key], err_msg=f"{key} after every sample")
    np.testing.assert_allclose(lived["vigilance"], golden["vigilance"], rtol=0, atol=1e-9)

    n_nodes = scalars_of(state).n_nodes
    np.testing.assert_allclose(state.prototype[:n_nodes], golden["prototype"], rtol=0, atol=1e-9)
    for key in ("usage", "scale", "active"):
        np.testing.assert_array_equal(state.node[key][:n_nodes], golden[key], err_msg=key)
    np.testing.assert_array_equal(edges(state), golden["edges"])
    assert _same_grouping(_labels(state, X), golden["labels"])


@pytest.mark.parametrize("trace", HANDOVER, ids=lambda path: path.stem)
def test_handover_trace(trace, data_set):
    """Hand-over clusters as users get them, recorded with the slow twin (tools/record_handover_traces.py)."""
    name, variant = _parts(trace)
    X = data_set(name)
    with np.load(trace) as file:
        golden = {key: file[key] for key in file.files}

    model = EverClust(metric="capped" if variant.capped else "euclidean")
    model.partial_fit(X[golden["order"]])
    assert model.interval_ == golden["interval"]
    assert model.vigilance_ == pytest.approx(float(golden["vigilance"]), abs=1e-9)
    for key in ("usage", "active"):
        np.testing.assert_array_equal(getattr(model, f"{key}_"), golden[key], err_msg=key)
    np.testing.assert_allclose(model.scales_, golden["scale"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.prototypes_, golden["prototype"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.feature_weights_, golden["feature_weight"], rtol=0, atol=1e-9)
    order = np.lexsort(golden["handover"].T[1::-1])
    np.testing.assert_array_equal(handovers(model._learner.state), golden["handover"][order])

    np.testing.assert_array_equal(np.flatnonzero(model.node_labels_ != NO_CLUSTER), golden["base"])
    assert _same_grouping(model.node_labels_[golden["base"]], golden["base_labels"])
    assert _same_grouping(model.predict(X), golden["labels"])


def _parts(trace):
    """(data set, variant) from <data set>_<setting>_<seed>[_variant]."""
    name, variant = re.fullmatch(r"(\w+)_(?:stationary|class_incremental)_\d+(\w*)", trace.stem).groups()
    return name, VARIANTS[variant]


def _replay(X, variant):
    state = new_state(X.shape[1], variant)
    lived = {key: [] for key in ("interval", "n_nodes", "n_active", "n_components", "vigilance")}
    for i in range(len(X)):
        state = learn(state, X[i : i + 1], variant)
        scalars = scalars_of(state)
        for key in lived:
            lived[key].append(
                scalars.n_nodes - scalars.n_joins if key == "n_components" else getattr(scalars, key)
            )
    return state, lived


def _labels(state, X):
    winner, nearness = np.empty(len(X), np.int64), np.empty(len(X))
    assign(read_out(state), X, winner, nearness)
    return components(state)[winner]


def _same_grouping(ours, theirs):
    """Is there a one-to-one renaming between the two?"""
    both = len(np.unique(np.stack([ours, theirs]), axis=1).T)
    return both == len(np.unique(ours)) == len(np.unique(theirs))
