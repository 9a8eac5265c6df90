"""The algorithms by name."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from everclust import IDAT, EverClust
from everclust.benchmark.report.paper.published import published
from everclust.benchmark.run.plan import algorithms_named
from everclust.benchmark.run.registry import ALGORITHMS, Algorithm, algorithm_called, register
from everclust.core.variants import WITHOUT_BOTH, WITHOUT_GROWTH, WITHOUT_SHRINKING, starting_at

X = load_iris().data
VARIANTS = {
    "idat-500": starting_at(500),
    "idat-without-growth": WITHOUT_GROWTH,
    "idat-without-growth-500": starting_at(500, WITHOUT_GROWTH),
    "idat-without-shrinking": WITHOUT_SHRINKING,
    "idat-without-shrinking-500": starting_at(500, WITHOUT_SHRINKING),
    "idat-without-both": WITHOUT_BOTH,
    "idat-without-both-500": starting_at(500, WITHOUT_BOTH),
}


def test_idat_and_its_variants_are_there():
    assert {name for name, algorithm in ALGORITHMS.items() if algorithm.kind == "ablation"} == set(VARIANTS)
    assert all(ALGORITHMS[name].incremental and not ALGORITHMS[name].space for name in ["idat", *VARIANTS])


def test_everclust_is_there_with_either_metric():
    models = {algorithm.name: algorithm.make({}, 1) for algorithm in algorithms_named(["extensions"])}
    assert {name: (type(model), model.metric) for name, model in models.items()} == {
        "everclust": (EverClust, "capped"),
        "everclust-euclidean": (EverClust, "euclidean"),
    }
    assert set(models) < {algorithm.name for algorithm in algorithms_named(["all"])}


def test_titles_are_the_columns_of_the_paper():
    columns = set(published()["ablation_nonstationary_nodes_clusters"]["iris"])
    assert {ALGORITHMS[name].title for name in VARIANTS} == columns - {"IDAT (2)"}
    assert ALGORITHMS["idat"].title in published()["nonstationary_ari_ami"]["iris"]


def test_idat_is_the_public_estimator():
    model = ALGORITHMS["idat"].make({}, 1)
    assert type(model) is IDAT
    assert ALGORITHMS["idat"].count(model.fit(X)) == (model.n_active_nodes_, model.n_clusters_)


def test_all_nodes_count_while_none_is_active():
    model = IDAT().fit(X[:2])
    assert model.n_active_nodes_ == 0
    assert ALGORITHMS["idat"].count(model)[0] == model.n_nodes_ == 2


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_learn_as_they_are_named(name):
    model = ALGORITHMS[name].make({}, 1)
    assert model._chosen_variant() == VARIANTS[name]
    assert model.fit(X)._learner.variant == VARIANTS[name]
    if name.startswith("idat-without-both"):
        assert model.interval_ == VARIANTS[name].first_interval


def test_variants_of_one_name_do_not_change_those_of_another():
    models = [ALGORITHMS[name].make({}, 1) for name in VARIANTS]
    assert [model._chosen_variant() for model in models] == list(VARIANTS.values())
    assert IDAT()._chosen_variant() == starting_at(2)


def test_a_variant_cannot_be_saved(tmp_path):
    model = ALGORITHMS["idat-500"].make({}, 1).fit(X)
    with pytest.raises(NotImplementedError, match="for the benchmark only and cannot be saved"):
        model.save(tmp_path / "model.everclust")
    assert not list(tmp_path.iterdir())


def test_registering(monkeypatch):
    monkeypatch.setattr("everclust.benchmark.run.registry.ALGORITHMS", dict(ALGORITHMS))
    mine = Algorithm("mine", "Mine", lambda params, seed: None)
    register(mine)
    register(mine)
    assert algorithm_called("mine") is mine
    with pytest.raises(ValueError, match="There is an algorithm called 'mine' already"):
        register(Algorithm("mine", "Other", lambda params, seed: None))
    for name in ("all", "ablation", "", "a,b", "a b"):
        with pytest.raises(ValueError, match="cannot be called"):
            register(Algorithm(name, "Bad", lambda params, seed: None))


def test_an_unknown_name_tells_those_there_are():
    with pytest.raises(ValueError, match=r"no algorithm called 'kmeans'; choose from idat, .*ablation"):
        algorithm_called("kmeans")


def test_clusters_of_an_algorithm_without_nodes_are_its_labels():
    class Labelled:
        labels_ = np.array([0, 3, 3, -1])

    assert Algorithm("x", "X", lambda params, seed: None).count(Labelled()) == (None, 3)
