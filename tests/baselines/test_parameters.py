"""What the paper tuned and found, as data."""

import inspect
from importlib.resources import files

import pytest

from everclust.baselines import SRPCMHDP, TorqueClustering, parameters
from everclust.benchmark.data.catalogue import CATALOGUE
from everclust.benchmark.run.settings import SETTINGS

SHEETS = [
    file.name.removesuffix(".json").replace("_", "-")
    for file in files(parameters).iterdir()
    if file.name.endswith(".json")
]
OWN = {"sr-pcm-hdp": SRPCMHDP, "torque-clustering": TorqueClustering}


@pytest.mark.parametrize("name", SHEETS)
def test_bounds(name):
    for low, high, *scale in parameters.space(name).values():
        assert low < high
        assert type(low) is type(high) or scale
        assert scale in ([], ["log"])
        assert low > 0 or not scale


@pytest.mark.parametrize("name", SHEETS)
@pytest.mark.parametrize("kind", ["published", "tuned"])
def test_every_key_is_known(name, kind):
    by_setting = parameters._sheet(name).get(kind, {})
    assert set(by_setting) <= set(SETTINGS)
    for setting, by_dataset in by_setting.items():
        assert set(by_dataset) <= set(CATALOGUE)
        for dataset, values in by_dataset.items():
            assert getattr(parameters, kind)(name, setting, dataset) == values


@pytest.mark.parametrize("name", OWN)
def test_parameters_are_those_of_the_constructor(name):
    taken = set(inspect.signature(OWN[name]).parameters)
    assert set(parameters.space(name)) <= taken
    for dataset in CATALOGUE:
        assert set(parameters.published(name, "stationary", dataset) or {}) <= taken


def test_values():
    assert parameters.space("sr-pcm-hdp") == {"alpha": (0.1, 5.0), "lamda": (0.0, 0.9)}
    assert parameters.space("torque-clustering") == {}
    expected = {"alpha": 1.375, "lamda": 0.9, "n_dense_points": 3}
    assert parameters.published("sr-pcm-hdp", "stationary", "iris") == expected


@pytest.mark.parametrize("dataset", CATALOGUE)
def test_as_many_dense_points_as_classes(dataset):
    found = parameters.published("sr-pcm-hdp", "stationary", dataset)
    assert found["n_dense_points"] == CATALOGUE[dataset].n_classes


def test_what_is_not_known_is_none():
    assert parameters.published("sr-pcm-hdp", "nonstationary", "iris") is None
    assert parameters.published("sr-pcm-hdp", "stationary", "weather") is None
    assert parameters.tuned("sr-pcm-hdp", "stationary", "iris") is None


def test_unknown_algorithm():
    with pytest.raises(ValueError, match=r"'k-means'; choose from .*sr-pcm-hdp, .*torque-clustering"):
        parameters.space("k-means")
