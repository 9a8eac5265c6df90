"""Traces of the right behaviour: the state after every sample, and the final model."""

import re

import numpy as np
import pytest

from everclust.core import variants as readings
from everclust.core.communities.communities import base_nodes, by_modularity, links_of
from everclust.core.handovers import handovers
from everclust.core.learn import learn
from everclust.core.readout import assign, components, edges, read_out
from everclust.core.spread import WEIGHT
from everclust.core.state import clock_of, new_state
from support.paths import DATA

GOLDEN = sorted((DATA / "golden").glob("*.npz"))
TRACES = [path for path in GOLDEN if "_handover" not in path.stem]
HANDOVER = [path for path in GOLDEN if "_handover" in path.stem]
VARIANTS = {
    "": readings.PUBLISHED,
    "_first_500": readings.starting_at(500),
    "_without_inc": readings.WITHOUT_GROWTH,
    "_without_inc_500": readings.starting_at(500, readings.WITHOUT_GROWTH),
    "_without_dec": readings.WITHOUT_SHRINKING,
    "_without_dec_500": readings.starting_at(500, readings.WITHOUT_SHRINKING),
    "_without_all": readings.WITHOUT_BOTH,
    "_printed_evidence": readings.PRINTED_EVIDENCE,
    "_handover": readings.PUBLISHED,
    "_handover_capped": readings.CAPPED,
}


def test_all_traces_are_there():
    assert (len(TRACES), len(HANDOVER)) == (15, 8)
    assert {_parts(trace)[1] for trace in GOLDEN} == set(VARIANTS.values())


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.stem)
def test_trace(trace, data_set):
    name, reading = _parts(trace)
    X = data_set(name)
    with np.load(trace) as file:
        golden = {key: file[key] for key in file.files}

    state, lived = _replay(X[golden["order"]], reading)
    for key in ("interval", "n_nodes", "n_active", "n_components"):
        np.testing.assert_array_equal(lived[key], golden[key], err_msg=f"{key} after every sample")
    np.testing.assert_allclose(lived["vigilance"], golden["vigilance"], rtol=0, atol=1e-9)

    n_nodes = clock_of(state).n_nodes
    np.testing.assert_allclose(state.prototype[:n_nodes], golden["prototype"], rtol=0, atol=1e-9)
    for key in ("usage", "scale", "active"):
        np.testing.assert_array_equal(state.node[key][:n_nodes], golden[key], err_msg=key)
    np.testing.assert_array_equal(edges(state), golden["edges"])
    assert _same_grouping(_labels(state, X), golden["labels"])


@pytest.mark.parametrize("trace", HANDOVER, ids=lambda path: path.stem)
def test_handover_trace(trace, data_set):
    """Hand-over clusters by modularity alone, as the study had them."""
    name, reading = _parts(trace)
    X = data_set(name)
    with np.load(trace) as file:
        golden = {key: file[key] for key in file.files}

    state = learn(new_state(X.shape[1], reading), X[golden["order"]], reading)
    n_nodes, clock = clock_of(state).n_nodes, clock_of(state)
    assert clock.interval == golden["interval"]
    assert clock.vigilance == pytest.approx(float(golden["vigilance"]), abs=1e-9)
    for key in ("usage", "active"):
        np.testing.assert_array_equal(state.node[key][:n_nodes], golden[key], err_msg=key)
    np.testing.assert_allclose(state.node["scale"][:n_nodes], golden["scale"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(state.prototype[:n_nodes], golden["prototype"], rtol=0, atol=1e-9)
    np.testing.assert_allclose(state.feature[WEIGHT], golden["feature_weight"], rtol=0, atol=1e-9)
    order = np.lexsort(golden["handover"].T[1::-1])
    np.testing.assert_array_equal(handovers(state), golden["handover"][order])

    base = base_nodes(state)
    np.testing.assert_array_equal(base, golden["base"])
    label = by_modularity(state, base, links_of(state, base))
    assert _same_grouping(label, golden["base_labels"])
    winner, nearness = np.empty(len(X), np.int64), np.empty(len(X))
    assign(read_out(state, base, by_scale=False), X, winner, nearness)
    assert _same_grouping(label[np.searchsorted(base, winner)], golden["labels"])


def _parts(trace):
    """(data set, reading) from <data set>_<setting>_<seed>[_variant]."""
    name, variant = re.fullmatch(r"(\w+)_(?:stationary|class_incremental)_\d+(\w*)", trace.stem).groups()
    return name, VARIANTS[variant]


def _replay(X, reading):
    state = new_state(X.shape[1], reading)
    lived = {key: [] for key in ("interval", "n_nodes", "n_active", "n_components", "vigilance")}
    for i in range(len(X)):
        state = learn(state, X[i : i + 1], reading)
        clock = clock_of(state)
        for key in lived:
            lived[key].append(clock.n_nodes - clock.n_joins if key == "n_components" else getattr(clock, key))
    return state, lived


def _labels(state, X):
    winner, nearness = np.empty(len(X), np.int64), np.empty(len(X))
    assign(read_out(state), X, winner, nearness)
    return components(state)[winner]


def _same_grouping(ours, theirs):
    """Is there a one-to-one renaming between the two?"""
    both = len(np.unique(np.stack([ours, theirs]), axis=1).T)
    return both == len(np.unique(ours)) == len(np.unique(theirs))
