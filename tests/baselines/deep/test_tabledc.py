"""TableDC: the specification's examples and its transcription, scikit-learn's contract, our own."""

import doctest

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import check_clustering, parametrize_with_checks

from everclust.baselines import TableDC
from everclust.baselines.deep import autoencoder, tabledc, tabledc_training
from everclust.baselines.deep.autoencoder import CHUNK, new_autoencoder, optimiser, tensors_of
from everclust.baselines.deep.pytorch import generator_from, to_tensor
from everclust.baselines.deep.tabledc_training import (
    Objective,
    divergence,
    joint_training,
    similarities,
    targets,
)
from support.contracts import deep as deep_contract
from support.contracts.deep import NEEDED, SMALL, X, far_blobs

torch = pytest.importorskip("torch", reason=NEEDED)
oracle = pytest.importorskip("oracles.baselines.deep")
GOAL = Objective(covariance_scale=0.01, gamma=0.5, kl_weight=0.9)
Q = torch.tensor([[1.0, 0.5], [0.2, 0.4]], requires_grad=True)


@pytest.fixture(autouse=True)
def one_thread():
    """Several are slow on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def small(**params):
    return TableDC(**{**SMALL, "n_clusters": 3} | params)


# scikit-learn's checks

EXPECTED = {
    "check_clustering": "adaptive_birch makes up to 2 n_clusters - 1 clusters, the check allows n_clusters",
}


@parametrize_with_checks([small(training_epochs=2, n_clusters=2)], expected_failed_checks=lambda _: EXPECTED)
def test_estimator_check(estimator, check):
    check(estimator)


def test_as_many_clusters_as_asked_for_pass_the_check_that_is_expected_to_fail():
    params = {"init": "birch", "hidden_layers": (64, 64), "pretraining_epochs": 100, "patience": None}
    check_clustering("TableDC", small(**params, training_epochs=2))


# The specification's examples


def test_similarity():
    """q = 1 / (1 + 40 ‖z - c‖): 1 at 0, a half at 0.025."""
    q = similarities(torch.tensor([[0.0, 0.0], [0.025, 0.0]]), torch.tensor([[0.0, 0.0]]), GOAL)
    assert torch.allclose(q, torch.tensor([[1.0], [0.5]]), atol=1e-4)


def test_targets_and_divergence():
    t = targets(Q, Q.detach().sum(0))
    assert torch.allclose(t, torch.tensor([[0.75, 0.25], [0.15789, 0.84211]]), atol=1e-5)
    assert not t.requires_grad
    assert torch.allclose(Q.softmax(1), torch.tensor([[0.6225, 0.3775], [0.4502, 0.5498]]), atol=1e-4)
    assert float(divergence(Q, Q.detach().sum(0)).detach()) / 2 == pytest.approx(0.1151, abs=1e-4)


def test_the_gradient_is_finite_on_a_centre():
    centre = torch.zeros(1, 2, requires_grad=True)
    similarities(torch.zeros(1, 2), centre, GOAL).sum().backward()
    assert torch.isfinite(centre.grad).all()


def test_two_far_blobs():
    rows, y = far_blobs()
    for seed in range(3):
        for init in ("adaptive_birch", "birch"):
            model = TableDC(
                n_clusters=2, init=init, hidden_layers=(100, 100), pretraining_epochs=30, training_epochs=20,
                random_state=seed, device="cpu",
            ).fit(rows)  # fmt: skip
            assert adjusted_rand_score(y, model.labels_ > 0 if model.n_clusters_ < 3 else model.labels_) == 1


# The specification as a whole


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_clusters", [1, 3, 5])
def test_lockstep(seed, n_clusters):
    """Losses of every epoch, labels and codes in the end, as PyTorch's own layers give them."""
    rows = torch.tensor(X, dtype=torch.float32)
    twin = oracle.Autoencoder([4, 16, 8, 3], seed)
    params = {"hidden_layers": (16, 8), "n_clusters": n_clusters, "batch_size": 64, "random_state": seed}
    model = small(**params, training_epochs=0)
    first = model.fit(X).centres_
    assert np.allclose(model.pretraining_losses_, oracle.pretrain(twin, rows, 30, 64), rtol=1e-4)
    losses, labels = oracle.tabledc(twin, first, rows, 25)
    model.set_params(training_epochs=25).fit(X)
    assert np.allclose(model.reconstruction_losses_, losses[:, 0], rtol=1e-3)
    assert np.allclose(model.clustering_losses_, losses[:, 1], rtol=1e-3, atol=1e-5)
    assert np.allclose(model.encode(X), twin.encoder(rows).detach(), atol=5e-3)
    assert adjusted_rand_score(model.labels_, labels) > 0.95


def test_chunks_are_the_same_mathematics(monkeypatch):
    def trained():
        generator = generator_from(1)
        network = new_autoencoder(4, (16, 3), generator, torch.device("cpu"))
        centres = torch.randn(4, 3, generator=generator).requires_grad_()
        adam = optimiser([*tensors_of(*network), centres], 1e-3)
        epochs = joint_training(network, centres, to_tensor(X, torch.device("cpu")), GOAL, adam)
        return np.array([next(epochs) for _ in range(10)]), centres.detach()

    assert len(X) < CHUNK
    losses, centres = trained()
    for module in (tabledc_training, autoencoder):
        monkeypatch.setattr(module, "CHUNK", 40)
    in_parts, moved = trained()
    assert np.allclose(losses, in_parts, rtol=1e-4)
    assert torch.allclose(centres, moved, atol=1e-4)


# As an estimator


def test_contract(capfd):
    deep_contract.answers_for_new_rows(small())
    deep_contract.is_deterministic(small())
    deep_contract.shows_progress_when_asked(small(patience=None), capfd)


def test_bad_input():
    deep_contract.refuses_bad_input(small())


def test_sizes_of_layers():
    with pytest.raises(ValueError, match=r"hidden_layers must be positive integers, but are \(8, 0\)"):
        small(hidden_layers=(8, 0)).fit(X)
    assert [weight.shape for weight, _ in small(hidden_layers=[]).fit(X).encoder_] == [(3, 4)]


def test_number_of_centres():
    for seed in range(4):
        model = small(random_state=seed).fit(X)
        assert 3 <= model.n_nodes_ < 6
        assert model.n_clusters_ <= model.n_nodes_ == len(model.centres_)
    assert small(init="birch", hidden_layers=(64, 64)).fit(X * 10).n_nodes_ == 3


def test_centres_without_rows_come_last():
    """Whatever the training gives, the clusters are numbered from 0 without a gap."""
    for seed in range(4):
        model = small(n_clusters=12, training_epochs=60, random_state=seed).fit(X)
        assert set(model.labels_) == set(range(model.n_clusters_))
    assert model.n_clusters_ < model.n_nodes_  # or nothing was shown


def test_a_training_that_cannot_be_finished_leaves_the_model_alone():
    model = small().fit(X)
    before = deep_contract.state_of(model)
    with pytest.raises(ValueError, match="only 1 distinct codes, fewer than n_clusters=3"):
        model.fit(np.ones((20, 2)))
    with pytest.raises(ValueError, match="diverged"):
        model.set_params(learning_rate=1e30).fit(X[:, :2])
    model.set_params(learning_rate=1e-3)
    assert deep_contract.state_of(model) == before


def test_min_epochs_keeps_a_small_set_from_ending_early():
    """Seed 2 on Iris, as specified: a dip at epoch 5, an overshoot, the end at 25 with a loss of 1.12."""
    model = TableDC(n_clusters=3, training_epochs=0, random_state=2, device="cpu").fit(X)
    losses = model.pretraining_losses_
    assert (len(losses), losses.argmin()) == (25, 4)
    assert (losses[5:].max(), losses[-1]) == pytest.approx((9.8, 1.12), abs=0.05)
    model.set_params(min_epochs=50, pretraining_epochs=30).fit(X)
    assert len(model.pretraining_losses_) == 30


def test_the_authors_parameters():
    model = TableDC(n_clusters=2, **tabledc.AUTHORS, training_epochs=3, random_state=0).fit(X)
    assert [weight.shape for weight, _ in model.encoder_] == [(1000, 4), (100, 1000)]
    assert (len(model.pretraining_losses_), model.n_nodes_) == (30, 2)


def test_examples():
    text = TableDC.__doc__.replace("# doctest: +SKIP", "")
    example = doctest.DocTestParser().get_doctest(text, {}, "TableDC", None, 0)
    assert len(example.examples) > 5
    assert doctest.DocTestRunner().run(example).failed == 0
