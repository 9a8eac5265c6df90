"""G-CEALS: the specification's examples and its transcription, scikit-learn's contract, our own."""

import doctest
import math

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from everclust.baselines import GCEALS
from everclust.baselines.deep import g_ceals_training
from everclust.baselines.deep.autoencoder import new_autoencoder, optimiser, tensors_of
from everclust.baselines.deep.g_ceals_training import (
    UNIT,
    Tuning,
    balanced_batches,
    fine_tuning,
    is_vanishing,
    memberships,
    new_mixture,
    shares,
)
from everclust.baselines.deep.pytorch import generator_from, to_tensor
from support.contracts import deep as deep_contract
from support.contracts.deep import NEEDED, SMALL, X, far_blobs

torch = pytest.importorskip("torch", reason=NEEDED)
oracle = pytest.importorskip("oracles.baselines.deep")
CPU = torch.device("cpu")


@pytest.fixture(autouse=True)
def one_thread():
    """Several are slow on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def small(**params):
    return GCEALS(**{**SMALL, "n_clusters": 3} | params)


# scikit-learn's checks


@parametrize_with_checks([small(n_clusters=2)])
def test_estimator_check(estimator, check):
    check(estimator)


# The specification's examples


def test_memberships():
    """A unit away from one of two clusters: 1 / (1 + 1/e)."""
    p = memberships(torch.zeros(1, 1), torch.tensor([[0.0], [1.0]]), torch.ones(2, 1))
    assert torch.allclose(p, torch.tensor([[0.7311, 0.2689]]), atol=1e-4)
    # Twice the standard deviation is half the distance: δ = 0 and 1/2.
    p = memberships(torch.zeros(1, 1), torch.tensor([[0.0], [1.0]]), torch.tensor([[1.0], [4.0]]))
    assert float(p[0, 1]) == pytest.approx(1 / (1 + math.exp(0.5)), abs=1e-5)


def test_variances_begin_at_1():
    assert math.log1p(math.exp(UNIT)) == pytest.approx(1)
    assert round(UNIT, 6) == 0.541325
    mixture = new_mixture(np.zeros((3, 2)), generator_from(0), CPU)
    assert torch.allclose(mixture.variances(), torch.ones(3, 2))
    assert torch.allclose(mixture.weights, torch.full((3,), 1 / 3))


def test_shares():
    assert shares([30, 50, 70], 256) == [30, 30, 30]
    assert shares([100, 200, 400], 256) == [85, 85, 86]
    assert shares([7], 256) == [7]
    assert shares([1] * 300, 256) == [0] * 299 + [256]


def test_balanced_batches():
    groups = np.repeat([2, 0, 1], [400, 200, 100])
    batches = balanced_batches(groups, 256, generator_from(0))
    first, second = next(batches).tolist(), next(batches).tolist()
    assert set(first) != set(second)
    for batch in (first, second):
        assert len(set(batch)) == len(batch) == 256
        assert np.bincount(groups[batch]).tolist() == [85, 85, 86]


def one_step(gamma):
    """Centroids and spreads before and after a step."""
    generator = generator_from(0)
    network = new_autoencoder(4, (16, 3), generator, CPU)
    mixture = new_mixture(np.random.RandomState(0).randn(3, 3), generator, CPU)
    before = [mixture.centroids.detach().clone(), mixture.spreads.detach().clone()]
    adam = optimiser([*tensors_of(*network, mixture.head), mixture.centroids, mixture.spreads], 1e-3)
    rows, batches = to_tensor(X, CPU), iter([torch.arange(50)])
    list(fine_tuning(network, mixture, rows, batches, adam, Tuning(1, 1, gamma, 0.1)))
    return before, [mixture.centroids.detach(), mixture.spreads.detach()]


def test_the_clusters_move_through_the_target():
    for before, after in zip(*one_step(0.1), strict=True):
        assert (before != after).all()
    for before, after in zip(*one_step(0.0), strict=True):
        assert torch.equal(before, after)


def test_a_cluster_vanishes():
    assert is_vanishing(torch.tensor([0.03, 0.97]), 0.1)
    assert not is_vanishing(torch.tensor([0.06, 0.94]), 0.1)
    assert is_vanishing(torch.tensor([0.0625, 0.9375]), 0.125)


def test_without_steps_it_is_k_means():
    model = small(training_epochs=0).fit(X)
    codes = model.encode(X).astype(float)
    expected = KMeans(3, n_init=1, random_state=0).fit(codes)
    assert adjusted_rand_score(model.labels_, expected.labels_) == 1
    assert np.allclose(model.variances_, 1)
    assert (model.stop_epoch_, model.stop_reason_) == (0, "epochs")


def test_two_far_blobs():
    rows, y = far_blobs()
    for seed in range(3):
        model = GCEALS(
            n_clusters=2, hidden_layers=(100, 100), pretraining_epochs=50, training_epochs=50,
            random_state=seed, device="cpu",
        ).fit(rows)  # fmt: skip
        assert adjusted_rand_score(y, model.labels_) == 1


# The specification as a whole


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_clusters", [1, 3, 5])
@pytest.mark.parametrize("stop_factor", [0.1, 0.8])
def test_lockstep(seed, n_clusters, stop_factor):
    """Losses of every epoch, weights, labels and the end, as PyTorch's own layers and pinv give them."""
    rows = torch.tensor(StandardScaler().fit_transform(X), dtype=torch.float32)
    twin = oracle.Autoencoder([4, 16, 8, 3], seed)
    model = small(
        hidden_layers=(16, 8), n_clusters=n_clusters, batch_size=64, random_state=seed, training_epochs=25,
        stop_factor=stop_factor,
    ).fit(X)  # fmt: skip
    assert np.allclose(model.pretraining_losses_, oracle.pretrain(twin, rows, 30, 64), rtol=1e-4)
    codes = twin.encoder(rows).detach().numpy().astype(float)
    kmeans = KMeans(n_clusters, n_init=1, random_state=seed).fit(codes)
    losses, labels, weights, n_steps = oracle.g_ceals(
        twin, kmeans.cluster_centers_, kmeans.labels_, rows, epochs=25, batch_size=64, stop_factor=stop_factor
    )
    assert model.stop_epoch_ == n_steps
    assert model.stop_reason_ == ("epochs" if n_steps == 25 else "vanishing cluster")
    assert np.allclose(model.reconstruction_losses_, losses[:, 0], rtol=1e-3)
    assert np.allclose(model.clustering_losses_, losses[:, 1], rtol=1e-3)
    assert np.allclose(np.sort(model.weights_), np.sort(weights), atol=1e-3)
    assert adjusted_rand_score(model.labels_, labels) > 0.95


def test_the_lockstep_saw_both_ends():
    ends = [small(n_clusters=5, stop_factor=factor).fit(X).stop_reason_ for factor in (0.1, 0.95)]
    assert ends == ["epochs", "vanishing cluster"]


def test_weights_are_computed_every_so_many_steps(monkeypatch):
    calls = []
    monkeypatch.setattr(
        g_ceals_training, "mean_memberships", lambda *args: calls.append(1) or torch.full((3,), 1 / 3)
    )
    small(training_epochs=9).fit(X)
    assert len(calls) == 9  # before every step but the first, and in the end
    calls.clear()
    small(training_epochs=9, update_interval=4).fit(X)
    assert len(calls) == 3  # before the steps 5 and 9, and in the end


def test_a_loss_that_is_no_number_ends_the_training(monkeypatch):
    parts = g_ceals_training.loss_parts
    calls = []

    def broken(*arguments):
        calls.append(1)
        error, clustering = parts(*arguments)
        return error, clustering * (math.nan if len(calls) == 4 else 1)

    monkeypatch.setattr(g_ceals_training, "loss_parts", broken)
    model = small().fit(X)
    assert (model.stop_epoch_, model.stop_reason_) == (3, "diverged")
    monkeypatch.undo()
    assert np.array_equal(model.labels_, small(training_epochs=3).fit(X).labels_)


# As an estimator


def test_contract(capfd):
    deep_contract.answers_for_new_rows(small())
    deep_contract.is_deterministic(small())
    deep_contract.shows_progress_when_asked(small(), capfd)


def test_bad_input():
    deep_contract.refuses_bad_input(small())


def test_invariants():
    model = small(training_epochs=50).fit(X)
    assert model.weights_.sum() == pytest.approx(1, abs=1e-5)
    assert (model.variances_ > 0).all()
    assert model.weights_ == pytest.approx(model.predict_proba(X).mean(axis=0), abs=1e-5)
    assert model.n_nodes_ == len(model.centroids_) == 3


def test_standardising():
    """Units do not matter, a constant feature neither; without it they do."""
    units = np.array([1e-3, 1, 10, 1e6])
    model = small().fit(X)
    assert np.allclose(small().fit(X * units + 5).encode(X * units + 5), model.encode(X), atol=1e-2)
    assert np.isfinite(small().fit(np.c_[X, np.full(150, 3.0)]).encode(np.c_[X, np.full(150, 3.0)])).all()
    raw = small(standardize=False).fit(X)
    assert raw.scaler_ is None
    twin = small(standardize=False).fit(StandardScaler().fit_transform(X))
    assert np.allclose(twin.encode(StandardScaler().fit_transform(X)), model.encode(X), atol=1e-5)
    assert not np.allclose(raw.encode(X), model.encode(X), atol=1e-2)


def test_one_cluster_and_identical_rows():
    model = small(n_clusters=1).fit(X)
    assert (model.n_clusters_, set(model.labels_)) == (1, {0})
    with pytest.warns(UserWarning, match="distinct clusters"):
        model = small().fit(np.ones((20, 2)))
    assert model.n_clusters_ == 1


def test_examples():
    text = GCEALS.__doc__.replace("# doctest: +SKIP", "")
    example = doctest.DocTestParser().get_doctest(text, {}, "GCEALS", None, 0)
    assert len(example.examples) > 5
    assert doctest.DocTestRunner().run(example).failed == 0
