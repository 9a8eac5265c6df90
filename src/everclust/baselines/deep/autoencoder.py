"""The autoencoder of TableDC and G-CEALS, and its training. A network is a list of (weight, bias) pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .pytorch import device_called, import_torch, to_array, to_tensor, watched

if TYPE_CHECKING:
    import torch

    Network = list[tuple[torch.Tensor, torch.Tensor]]

CHUNK = 4096  # rows per forward pass: about 200 MB in training


class Autoencoder(NamedTuple):
    """Encoder and decoder."""

    encoder: Network
    decoder: Network


class Pretraining(NamedTuple):
    """Parameters of the pretraining, before there are clusters."""

    epochs: int
    batch_size: int
    learning_rate: float
    patience: int | None = None
    """Epochs without improvement after which it stops; None to never stop early."""
    min_improvement: float = 0.0
    min_epochs: int = 0


def new_network(sizes: Sequence[int], generator: torch.Generator, device: torch.device) -> Network:
    """Fully connected layers of these sizes, initialised like PyTorch's `Linear`: U(±1/√inputs)."""
    torch = import_torch()
    network = []
    for n_in, n_out in pairwise(sizes):
        weight, bias = torch.empty(n_out, n_in), torch.empty(n_out)
        torch.nn.init.kaiming_uniform_(weight, a=math.sqrt(5), generator=generator)
        torch.nn.init.uniform_(bias, -1 / math.sqrt(n_in), 1 / math.sqrt(n_in), generator=generator)
        network.append((weight.to(device).requires_grad_(), bias.to(device).requires_grad_()))
    return network


def new_autoencoder(
    n_features: int, inner: Sequence[int], generator: torch.Generator, device: torch.device
) -> Autoencoder:
    """An autoencoder with these encoder layers, the last of which is the code; the decoder mirrors them."""
    sizes = [n_features, *inner]
    encoder = new_network(sizes, generator, device)
    return Autoencoder(encoder, new_network(sizes[::-1], generator, device))


def passed_through(network: Network, rows: torch.Tensor) -> torch.Tensor:
    """Forward pass: ReLU after every layer but the last."""
    torch = import_torch()
    *hidden, last = network
    for weight, bias in hidden:
        rows = torch.relu(torch.nn.functional.linear(rows, weight, bias))
    return torch.nn.functional.linear(rows, *last)


def in_chunks(function: Callable[[torch.Tensor], torch.Tensor], rows: torch.Tensor) -> torch.Tensor:
    """Apply a function to the rows in chunks, without gradient."""
    torch = import_torch()
    with torch.no_grad():
        return torch.cat([function(part) for part in rows.split(CHUNK)])


def encoded(encoder: Network, X: torch.Tensor) -> torch.Tensor:
    """Codes of all rows, without gradient."""
    return in_chunks(partial(passed_through, encoder), X)


def optimiser(tensors: Iterable[torch.Tensor], learning_rate: float) -> Any:
    """Adam for these tensors, fused into one kernel: four times faster."""
    return import_torch().optim.Adam(list(tensors), lr=learning_rate, fused=True)


def tensors_of(*networks: Network) -> list[torch.Tensor]:
    """All weights and biases."""
    return [tensor for network in networks for layer in network for tensor in layer]


def pretraining(
    autoencoder: Autoencoder, X: torch.Tensor, plan: Pretraining, generator: torch.Generator
) -> Iterator[tuple[float]]:
    """Train the autoencoder, yielding each epoch's mean squared error."""
    adam = optimiser(tensors_of(*autoencoder), plan.learning_rate)
    best, n_idle = math.inf, 0
    for epoch in range(1, plan.epochs + 1):
        error = _epoch(autoencoder, X, plan.batch_size, adam, generator)
        refuse_divergence(error)
        yield (error,)
        n_idle = 0 if error < best - plan.min_improvement else n_idle + 1
        best = best if n_idle else error
        if plan.patience is not None and n_idle >= plan.patience and epoch >= plan.min_epochs:
            return


def _epoch(
    autoencoder: Autoencoder, X: torch.Tensor, batch_size: int, adam: Any, generator: torch.Generator
) -> float:
    """One step per batch of the shuffled rows; returns the mean squared error over all rows."""
    torch = import_torch()
    total = torch.zeros((), device=X.device)  # read once per epoch: every read synchronises the GPU
    for chosen in torch.randperm(len(X), generator=generator).to(X.device).split(batch_size):
        rows = X[chosen]
        error = reconstruction_error(autoencoder, rows)
        adam.zero_grad()
        error.backward()
        adam.step()
        total += error.detach() * len(rows)
    return float(total) / len(X)


def reconstruction_error(autoencoder: Autoencoder, rows: torch.Tensor) -> torch.Tensor:
    """Mean squared error over all entries."""
    codes = passed_through(autoencoder.encoder, rows)
    return import_torch().nn.functional.mse_loss(passed_through(autoencoder.decoder, codes), rows)


def refuse_divergence(loss: float) -> None:
    """Raise an error if the loss is not finite."""
    if not math.isfinite(loss):
        raise ValueError(
            f"The training diverged: its loss is {loss}; bring the features to moderate ranges or use a "
            "smaller learning_rate."
        )


def pretrained(
    X: torch.Tensor, inner: Sequence[int], plan: Pretraining, generator: torch.Generator, *, bar: str | None
) -> tuple[Autoencoder, np.ndarray]:
    """A new autoencoder trained on the rows, and its mean squared error per epoch."""
    autoencoder = new_autoencoder(X.shape[1], inner, generator, X.device)
    stage = pretraining(autoencoder, X, plan, generator)
    return autoencoder, watched(stage, plan.epochs, ("reconstruction",), bar=bar)[0]


def arrays_of(network: Network) -> list[tuple[np.ndarray, np.ndarray]]:
    """The network as arrays, which can be pickled and loaded on a machine without a GPU."""
    refuse_divergence(sum(float(tensor.detach().sum()) for tensor in tensors_of(network)))
    return [(to_array(weight), to_array(bias)) for weight, bias in network]


def codes_of(layers: list[tuple[np.ndarray, np.ndarray]], X: np.ndarray, device: str) -> torch.Tensor:
    """Codes of rows, by an encoder stored as arrays."""
    place = device_called(device)
    tensor = import_torch().tensor
    encoder = [(tensor(weight, device=place), tensor(bias, device=place)) for weight, bias in layers]
    return encoded(encoder, to_tensor(X, place))
