import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.core import serialise
from everclust.core.invariants import check
from everclust.core.learn import learn
from everclust.core.readout import cluster_ids
from everclust.core.serialise import examine, export, restore
from everclust.core.state import new_state, scalars_of
from everclust.core.variants import starting_at

PARTS = {
    "prototype": [[0, 0], [1, 0], [4, 0], [9, 0]],
    "usage": [3, 4, 5, 1],
    "scale": [1, 2, 3, 4],
    "active": [1, 1, 1, 0],
    "idle": [0, 0, 1, 0],
    "activity": [2, 0, 1, 1],
    "evidence": [(0, 1, 5), (1, 2, 3)],
    "edge": [(0, 1)],
    "last_won": [3, 20, 7, 19],
    "community": [1, 1, 0, -1],
    "cluster": [2, 2, 0, -1],
    "since": [4, 4, 9, 0],
    "handover": [(0, 1, 4), (1, 3, 2)],
    "weight": [1, 0.5],
    "window": [[5, 5], [6, 6], [7, 7]],
    "mean": [1, 2],
    "square_sum": [30, 40],
    "n_seen": 20,
    "since_recalibration": 1,
    "interval": 2,
    "vigilance": 0.25,
    "cluster_ratio": 0.75,
    "next_cluster": 3,
    "provisional": 0,
    "next_community": 2,
}


@pytest.fixture
def parts(model):
    return export(model(**PARTS))


def test_parts_are_in_plain_node_order(parts):
    scalars, arrays = parts
    for name, value in PARTS.items():
        if name in scalars:
            assert scalars[name] == value
        else:
            np.testing.assert_array_equal(arrays[name], value)


def test_parts_are_copies(model):
    state = model(**PARTS)
    _, arrays = export(state)
    for array in arrays.values():
        array[...] = 0
    check(state)
    assert state.prototype[3, 0] == 9


def test_what_follows_from_the_parts_is_rebuilt(model):
    state = model(**PARTS)
    check(state)
    scalars = scalars_of(state)
    assert (scalars.n_nodes, scalars.n_active, scalars.n_edges, scalars.n_joins) == (4, 3, 1, 1)
    assert (scalars.used_nodes, scalars.used_usage) == (3, 12)
    assert (scalars.evident_pairs, scalars.total_evidence) == (2, 8)
    assert (scalars.n_touched, scalars.n_isolated) == (3, 1)


@given(seed=st.integers(0, 2**32), n=st.integers(1, 90), grid=st.booleans())
def test_going_on_after_a_stop_is_never_having_stopped(seed, n, grid):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 30, 2))
    if grid:
        X = np.round(2 * X) / 2
    whole = learn(new_state(2), X[:n].copy())
    again = restore(*export(whole))
    check(again)
    for i in range(n, len(X)):
        whole, again = learn(whole, X[i : i + 1]), learn(again, X[i : i + 1])
        same_parts(export(whole), export(again))


def test_slots_may_be_taken_in_another_order(model):
    # Nodes 2 and 3 got their slots before 0 and 1, and both pairs are equally large. A file does not tell, so
    # the order of nodes alone decides which id is the lower one, and which part of a split is the first.
    fields = {"usage": [3] * 4, "active": [1] * 4, "n_seen": 20, "interval": 9}
    one = model([[0], [1], [8], [9]], **fields, evidence=[(2, 3, 2), (0, 1, 2)], edge=[(2, 3), (0, 1)])
    other = model([[0], [1], [8], [9]], **fields, evidence=[(0, 1, 2), (2, 3, 2)], edge=[(0, 1), (2, 3)])
    assert one.slot["node"][:4].tolist() == [2, 3, 0, 1]
    assert cluster_ids(one).tolist() == cluster_ids(other).tolist() == [0, 0, 1, 1]
    same_parts(export(one), export(other))


def test_clusters_without_an_id_are_given_one_in_silence(model):
    state = model(**PARTS | {"cluster": [2, 2, -1, -1]})
    assert cluster_ids(state).tolist() == [2, 2, 3, -1]
    assert (
        scalars_of(state).next_cluster,
        scalars_of(state).n_events,
        scalars_of(state).n_event_centres,
    ) == (4, 0, 0)
    check(state)


def test_a_node_that_was_quiet_before_it_got_its_edge_is_not_quiet_any_more(model):
    # Node 2 has been idle once and has an edge since. Maintenance is due with the next sample, and
    # resets it, also in a model that was taken apart and put together again in between.
    fields = PARTS | {"edge": [(0, 1), (1, 2)], "vigilance": 0.0}
    state = learn(restore(*export(model(**fields))), np.array([[0.0, 1.0]]))
    assert state.node["idle"][:4].tolist() == [0, 0, 0, 0]


def test_evidence_of_a_large_model_finds_room(model):
    n = 100
    evidence = [(i, i + 1, 1) for i in range(n - 1)]
    state = model(np.arange(float(n))[:, None], usage=[2] * n, active=[1] * n, evidence=evidence)
    check(state)
    assert scalars_of(state).n_slots == n
    same_parts(export(state), export(restore(*export(state))))


def same_parts(ours, theirs):
    assert ours[0] == theirs[0]
    assert ours[1].keys() == theirs[1].keys()
    for name, array in ours[1].items():
        other = theirs[1][name]
        assert array.dtype == other.dtype
        assert np.array_equal(array, other), name


# ---- Parts that come from outside ----


def test_sound_parts_are_restored(parts):
    same_parts(export(examine(*parts)), parts)


def test_arrays_of_a_file_need_no_other_machine_code(parts):
    """They cannot be written, those of a copy can."""
    scalars, arrays = parts
    restore(scalars, arrays)
    for array in arrays.values():
        array.flags.writeable = False
    same_parts(export(restore(scalars, arrays)), parts)
    assert len(getattr(serialise._resume, "signatures", ())) <= 1  # none where nothing is compiled


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("usage", np.ones(3, np.int64), "wrong shape or dtype of array .usage"),
        ("prototype", np.ones((4, 3)), "wrong shape or dtype"),
        ("prototype", np.ones(4), "wrong shape or dtype of array 'prototype'"),
        ("evidence", np.ones((1, 2), np.int64), "wrong shape or dtype of array .evidence"),
        ("usage", np.ones(4), "wrong shape or dtype of array .usage"),
        ("active", np.ones(4, np.int64), "wrong shape or dtype of array .active"),
        ("scale", np.array([1.0, 2.0, np.inf, 4.0]), "non-finite value in array"),
        ("window", np.full((3, 2), np.nan), "non-finite value in array"),
        ("edge", np.array([[0, 4]]), "pair of unknown nodes"),
        ("edge", np.array([[-1, 1]]), "pair of unknown nodes"),
        ("edge", np.array([[1, 0]]), "repeated pair"),
        ("edge", np.array([[0, 1], [0, 1]]), "repeated pair"),
        ("evidence", np.array([[0, 1, 1], [0, 1, 2]]), "repeated pair"),
        ("edge", np.array([[0, 2]]), "edge without evidence"),
        ("window", np.ones((6, 2)), "interval 2 does not match a window of 6"),
        ("cluster", np.array([0, 1, 2, -1]), "cluster ids contradict the edges"),
        ("cluster", np.array([0, 0, 0, -1]), "ids are different"),
        ("cluster", np.array([3, 3, 4, -1]), "ids are different and were issued"),
        ("cluster", np.zeros(4), "wrong shape or dtype of array .cluster"),
        ("community", np.array([2, -1, -1, -1]), "ids of communities were issued"),
        ("last_won", np.array([1, 2, 21, 4]), "no node won a sample that is to come"),
        ("last_won", np.array([1, 2, -1, 4]), "no node won a sample"),
        ("since", np.ones(3, np.int64), "wrong shape or dtype of array .since"),
        ("weight", np.array([1.0, 1.5]), "feature weights"),
        ("weight", np.ones(3), "wrong shape or dtype of array .weight"),
        ("handover", np.array([[0, 4, 1]]), "pair of unknown nodes"),
        ("handover", np.array([[0, 1, 1], [0, 1, 1]]), "repeated pair"),
        ("handover", np.array([[0, 1, 21]]), "hands over once at most"),
        ("usage", np.array([0, 4, 5, 1]), "used at least once"),
        ("scale", np.array([1.0, 2.0, 0.0, 4.0]), "scales are positive"),
    ],
)
def test_unsound_arrays_are_refused(name, value, complaint, parts):
    scalars, arrays = parts
    with pytest.raises(ValueError, match=complaint):
        examine(scalars, arrays | {name: value})


@pytest.mark.parametrize(
    ("name", "value", "complaint"),
    [
        ("interval", 1, "interval 1 does|interval and vigilance"),
        ("interval", 10**9, "interval 1000000000 does not match"),
        ("vigilance", 1.5, "interval and vigilance"),
        ("cluster_ratio", -0.5, "cluster ratio"),
        ("n_seen", 1, "two per sample"),
    ],
)
def test_unsound_scalars_are_refused(name, value, complaint, parts):
    scalars, arrays = parts
    with pytest.raises(ValueError, match=complaint):
        examine(scalars | {name: value}, arrays)


def test_a_model_without_nodes_is_refused():
    with pytest.raises(ValueError, match="model without nodes"):
        examine(*export(new_state(2)))


def test_a_first_interval_longer_than_the_window_is_refused():
    variant = starting_at(10)
    state = learn(new_state(1, variant), np.arange(5.0)[:, None], variant)
    with pytest.raises(ValueError, match="interval 10 does not match a window of 5"):
        examine(*export(state))
