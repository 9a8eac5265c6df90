"""`max_nodes` as users meet it; the rule itself is tested in core/test_eviction.py."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import everclust
from everclust import IDAT
from everclust.core.invariants import check

DIGITS = load_digits().data


def test_never_more_nodes_after_any_batch():
    model = IDAT(max_nodes=20)
    for start in range(0, len(DIGITS), 13):
        model.partial_fit(DIGITS[start : start + 13])
        assert model.n_nodes_ <= 20
        check(model._learner.state)
    assert IDAT(max_nodes=20).fit(DIGITS).n_nodes_ <= 20


def test_without_it_nothing_changes(tmp_path):
    IDAT().fit(DIGITS).save(tmp_path / "free")
    IDAT(max_nodes=10**9).fit(DIGITS).set_params(max_nodes=None).save(tmp_path / "bounded")
    assert (tmp_path / "free").read_bytes() == (tmp_path / "bounded").read_bytes()


def test_the_bound_is_saved_with_the_model(tmp_path):
    for bound in (30, np.int64(30)):
        model = IDAT(max_nodes=bound).partial_fit(DIGITS[:900])
        model.save(tmp_path / "model")
        again = everclust.load(tmp_path / "model")
        assert again.max_nodes == 30
        assert np.array_equal(again.partial_fit(DIGITS).prototypes_, model.partial_fit(DIGITS).prototypes_)
        assert again.n_nodes_ <= 30


def test_the_bound_may_change_on_the_way():
    model = IDAT().partial_fit(DIGITS)
    assert model.n_nodes_ > 50
    model.set_params(max_nodes=25).partial_fit(DIGITS[:1])
    assert model.n_nodes_ <= 25
    check(model._learner.state)
    n_nodes = model.set_params(max_nodes=None).partial_fit(DIGITS).n_nodes_
    assert n_nodes > 25


@pytest.mark.parametrize("wrong", [2, 0, -1, 3.0, "10", True])
def test_absurd_bounds(wrong):
    with pytest.raises(ValueError, match=r"max_nodes is .*, but it must be None or an integer of 3 or more"):
        IDAT(max_nodes=wrong).fit(DIGITS)


def test_clusters_of_nodes_that_go_are_told_to_be_gone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2)) + np.arange(3000)[:, None] // 300 * 10
    model = IDAT(max_nodes=15).partial_fit(X)
    kinds = {event.kind for event in model.events()}
    assert {"born", "gone"} <= kinds
    living = set()
    for event in model.events():
        living = (living | set(event.after)) - (set(event.before) - set(event.after))
    assert living == set(model.node_labels_[model.active_].tolist())


def test_cost_stays_flat_because_arrays_do():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2)) + np.arange(20_000)[:, None] * 0.01
    model = IDAT(max_nodes=40).partial_fit(X[:10_000])
    before = [len(array) for array in model._learner.state[1:7]]
    model.partial_fit(X[10_000:])
    assert [len(array) for array in model._learner.state[1:7]] == before
