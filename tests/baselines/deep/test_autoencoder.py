"""The autoencoder of the deep algorithms: first weights, pretraining and its end, devices."""

import math

import numpy as np
import pytest

from everclust.baselines.deep import autoencoder as module
from everclust.baselines.deep.autoencoder import (
    Pretraining,
    arrays_of,
    codes_of,
    encoded,
    new_autoencoder,
    pretrained,
    pretraining,
    reconstruction_error,
)
from everclust.baselines.deep.pytorch import device_called, generator_from, seed_from, to_tensor
from support.contracts.deep import NEEDED, X

torch = pytest.importorskip("torch", reason=NEEDED)
oracle = pytest.importorskip("oracles.baselines.deep")
CPU = torch.device("cpu")
ROWS = to_tensor(X, CPU)


@pytest.fixture(autouse=True)
def one_thread():
    """Several are slow on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def small(seed=0):
    return new_autoencoder(4, (16, 8, 3), generator_from(seed), CPU)


def test_weights_begin_as_pytorch_s_own():
    ours, theirs = small(5), oracle.Autoencoder([4, 16, 8, 3], 5)
    for network, twin in ((ours.encoder, theirs.encoder), (ours.decoder, theirs.decoder)):
        for (weight, bias), layer in zip(network, twin[::2], strict=True):
            assert torch.equal(weight, layer.weight)
            assert torch.equal(bias, layer.bias)
    assert torch.equal(encoded(ours.encoder, ROWS), theirs.encoder(ROWS))


@pytest.mark.parametrize("batch_size", [32, 64, 256])
def test_pretraining_is_the_specification_s(batch_size):
    twin = oracle.Autoencoder([4, 16, 8, 3], 2)
    expected = oracle.pretrain(twin, ROWS, 20, batch_size)
    plan = Pretraining(20, batch_size, 1e-3)
    ours, losses = pretrained(ROWS, (16, 8, 3), plan, generator_from(2), bar=None)
    assert np.allclose(losses, expected, rtol=1e-4)
    assert np.allclose(encoded(ours.encoder, ROWS), twin.encoder(ROWS).detach(), atol=1e-3)
    assert losses[-1] < losses[0]


def end_of(errors, monkeypatch, **rules):
    """The epoch after which the pretraining ends when the loss goes like that."""
    errors = iter(errors)
    monkeypatch.setattr(module, "_epoch", lambda *arguments: next(errors))
    plan = Pretraining(12, 256, 1e-3, **rules)
    return len(list(pretraining(small(), ROWS, plan, generator_from(0))))


def test_patience(monkeypatch):
    flat = [3.0, 2.0, 1.0] + [1.0] * 9
    assert end_of(flat, monkeypatch) == 12
    assert end_of(flat, monkeypatch, patience=4) == 3 + 4
    assert end_of(flat, monkeypatch, patience=4, min_epochs=9) == 9
    assert end_of(flat, monkeypatch, patience=4, min_epochs=5) == 3 + 4
    assert end_of(flat, monkeypatch, patience=10) == 12
    falling = [2.0 - 0.125 * i for i in range(12)]
    assert end_of(falling, monkeypatch, patience=1) == 12
    # An improvement by exactly the least one does not count; the next is measured from the best one still.
    assert end_of(falling, monkeypatch, patience=1, min_improvement=0.125) == 2
    assert end_of(falling, monkeypatch, patience=2, min_improvement=0.125) == 12
    dip = [2.0, 1.0, 9.0, 8.0, 7.0, 6.0, 5.0]
    assert end_of(dip + [0.5] * 9, monkeypatch, patience=3) == 2 + 3


def test_a_training_that_diverges_is_refused():
    with pytest.raises(ValueError, match=r"diverged: its loss is (inf|nan)"):
        list(pretraining(small(), ROWS * 1e19, Pretraining(3, 256, 1e-3), generator_from(0)))
    broken = [(torch.full((2, 2), math.nan), torch.zeros(2))]
    with pytest.raises(ValueError, match="diverged"):
        arrays_of(broken)


def test_chunks_change_nothing(monkeypatch):
    network = small()
    whole = encoded(network.encoder, ROWS)
    monkeypatch.setattr(module, "CHUNK", 7)
    assert torch.allclose(encoded(network.encoder, ROWS), whole, atol=1e-6)


def test_the_network_as_arrays_answers_the_same():
    network = small()
    layers = arrays_of(network.encoder)
    assert [weight.shape for weight, _ in layers] == [(16, 4), (8, 16), (3, 8)]
    assert torch.equal(codes_of(layers, X, "cpu"), encoded(network.encoder, ROWS))


def test_it_learns():
    network, losses = pretrained(ROWS, (64, 64, 3), Pretraining(150, 50, 1e-3), generator_from(0), bar=None)
    assert float(reconstruction_error(network, ROWS).detach()) < X.var() / 20
    assert losses[-1] < losses[0] / 20


def test_only_deterministic_operations_are_used():
    torch.use_deterministic_algorithms(True)
    try:
        pretrained(ROWS, (8, 3), Pretraining(2, 64, 1e-3), generator_from(0), bar=None)
    finally:
        torch.use_deterministic_algorithms(False)


def test_devices(monkeypatch):
    assert device_called("cpu").type == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert device_called("auto").type == "cpu"
    with pytest.raises(ValueError, match="PyTorch finds no GPU here"):
        device_called("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert device_called("auto").type == device_called("cuda").type == "cuda"
    assert device_called("cpu").type == "cpu"


def test_seeds():
    assert seed_from(3) == seed_from(np.int64(3)) == 3
    assert seed_from(np.random.RandomState(0)) == seed_from(np.random.RandomState(0))
    assert seed_from(np.random.RandomState(0)) != seed_from(np.random.RandomState(1))


def test_values_too_large_for_single_precision():
    with pytest.raises(ValueError, match="magnitude 1e\\+19, but a network can only compute up to 1e\\+18"):
        to_tensor(np.array([[1.0, -1e19]]), CPU)
    assert to_tensor(np.array([[1.0, -1e17]]), CPU).dtype == torch.float32
