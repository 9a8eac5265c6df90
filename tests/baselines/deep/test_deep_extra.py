"""What must hold of the deep algorithms where PyTorch is not installed, and where it is."""

import inspect
import re
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, Birch
from sklearn.datasets import load_iris

from everclust.baselines import GCEALS, TableDC, parameters
from everclust.baselines.deep import birch_centres
from everclust.baselines.deep.birch_centres import adaptive_birch, birch

BOTH = [TableDC(), GCEALS()]
X = load_iris().data


@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed here; nothing can import it")
def test_importing_does_not_import_torch():
    code = "import sys, everclust.baselines as r; r.TableDC, r.GCEALS; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("model", BOTH, ids=repr)
def test_a_missing_torch_says_how_to_get_it(model, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    model = clone(model)
    with pytest.raises(ImportError, match=re.escape('pip install "everclust[deep]"')):
        model.fit(X)
    assert model.__dict__ == clone(model).__dict__


@pytest.mark.parametrize("model", BOTH, ids=repr)
def test_parameters_are_by_name_and_explained(model):
    with pytest.raises(TypeError):
        type(model)(3)
    text = inspect.getdoc(type(model))
    for name in model.get_params():
        assert re.search(rf"^{name} : ", text, re.MULTILINE), name
    assert "arXiv" in text


@pytest.mark.parametrize("name", ["tabledc", "g-ceals"])
def test_the_paper_tuned_nothing(name):
    assert parameters.space(name) == {}
    assert parameters.published(name, "stationary", "iris") is None


@pytest.mark.parametrize(
    ("model", "wrong"),
    [
        *((model, wrong) for model in BOTH for wrong in (
            {"n_clusters": 0}, {"hidden_layers": "500"}, {"n_latent": 0}, {"learning_rate": 0},
            {"batch_size": 0}, {"training_epochs": -1}, {"pretraining_epochs": 1.5}, {"device": "tpu"},
            {"progress": 2}, {"random_state": "a"},
        )),
        *((TableDC(), wrong) for wrong in (
            {"init": "kmeans"}, {"patience": 0}, {"min_epochs": -1}, {"gamma": 0}, {"covariance_scale": 0},
        )),
        *((GCEALS(), wrong) for wrong in (
            {"standardize": None}, {"update_interval": 0}, {"stop_factor": -1},
        )),
    ],
)  # fmt: skip
def test_wrong_parameters_are_named(model, wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=name):
        clone(model).set_params(**wrong).fit(X)


# First centres


@pytest.mark.parametrize("scale", [1e-4, 1, 1e5])
@pytest.mark.parametrize("n_clusters", [1, 2, 3, 10])
def test_adaptive_birch_finds_between_k_and_2k_minus_1(scale, n_clusters):
    for seed in range(5):
        codes = np.random.RandomState(seed).randn(60, 4) * scale
        centres = adaptive_birch(codes, n_clusters)
        assert n_clusters <= len(centres) < 2 * n_clusters


def test_adaptive_birch_starts_at_the_usual_threshold():
    codes = np.random.RandomState(0).randn(100, 2)
    usual = Birch(n_clusters=None).fit(codes).subcluster_centers_
    assert np.array_equal(adaptive_birch(codes, len(usual)), usual)
    assert np.array_equal(adaptive_birch(codes, len(usual) // 2 + 1), usual)
    assert len(adaptive_birch(codes, len(usual) // 2)) < len(usual)


def test_adaptive_birch_when_no_threshold_is_right(monkeypatch):
    """One subcluster above a threshold and one per code below it: what there is gets merged to k."""
    codes, tree, tried = np.arange(10.0)[:, None] ** 2, birch_centres._tree, []

    def jump(codes, threshold):
        tried.append(threshold)
        return tree(codes, 1e-6 if threshold < 0.3 else 1e6)

    monkeypatch.setattr(birch_centres, "_tree", jump)
    labels = AgglomerativeClustering(3).fit_predict(codes)
    expected = sorted(codes[labels == label].mean() for label in range(3))
    assert sorted(adaptive_birch(codes, 3)[:, 0]) == pytest.approx(expected)
    assert len(tried) == 60
    assert tried[:4] == [0.5, 0.25, 0.375, 0.3125]
    monkeypatch.setattr(birch_centres, "_tree", lambda codes, threshold: tree(codes, 1e6))
    with pytest.raises(ValueError, match="only 1 distinct codes, fewer than n_clusters=3"):
        adaptive_birch(codes, 3)


def test_too_few_distinct_codes_are_refused():
    with pytest.raises(ValueError, match="only 2 distinct codes, fewer than n_clusters=3"):
        adaptive_birch(np.repeat([[0.0, 1.0], [2.0, 3.0]], 10, axis=0), 3)


def test_birch_merges_to_k():
    codes = np.random.RandomState(0).randn(100, 2) * 5
    labels = Birch(n_clusters=4).fit(codes).labels_
    expected = [codes[labels == label].mean(axis=0) for label in range(4)]
    assert np.allclose(birch(codes, 4), expected)
    with pytest.raises(ValueError, match="finds 1 subclusters in the codes, fewer than n_clusters=2"):
        birch(codes * 1e-3, 2)
