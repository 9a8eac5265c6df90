"""Joint training of G-CEALS: weighted Gaussian clusters that a softmax head has to match."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .autoencoder import Autoencoder, encoded, in_chunks, new_network, passed_through
from .pytorch import import_torch, to_tensor

if TYPE_CHECKING:
    import torch

    from .autoencoder import Network

CLOSE = 1e-12  # added under the root, whose gradient at 0 is infinite
UNIT = math.log(math.e - 1)  # softplus(UNIT) = 1


@dataclass
class Mixture:
    """The clusters and the softmax head."""

    centroids: torch.Tensor
    spreads: torch.Tensor  # softplus makes them variances
    head: Network
    weights: torch.Tensor  # constants of the loss
    stopped: str = "epochs"  # why the training ended: "epochs", "vanishing cluster" or "diverged"

    def variances(self) -> torch.Tensor:
        """Variance of each cluster in each direction."""
        return import_torch().nn.functional.softplus(self.spreads)


class Tuning(NamedTuple):
    """Parameters of the joint training."""

    epochs: int
    update_interval: int
    gamma: float
    stop_factor: float


def new_mixture(centroids: np.ndarray, generator: torch.Generator, device: torch.device) -> Mixture:
    """Clusters of unit variance and equal weights around the centroids."""
    torch = import_torch()
    n_clusters, n_latent = centroids.shape
    return Mixture(
        to_tensor(centroids, device).requires_grad_(),
        torch.full((n_clusters, n_latent), UNIT, device=device).requires_grad_(),
        new_network([n_latent, n_latent, n_clusters], generator, device),
        torch.full((n_clusters,), 1 / n_clusters, device=device),
    )


def memberships(codes: torch.Tensor, centroids: torch.Tensor, variances: torch.Tensor) -> torch.Tensor:
    """p_ij = softmax_j(-δ_ij), with δ_ij = √ Σ_f (z_if - μ_jf)² / v_jf: no density and no weight."""
    squared = ((codes[:, None] - centroids).square() / variances).sum(2)
    return (-(squared + CLOSE).sqrt()).softmax(1)


def is_vanishing(weights: torch.Tensor, stop_factor: float) -> bool:
    """True if a cluster is about to lose all its weight."""
    return float(weights.min()) <= stop_factor / len(weights)


def shares(sizes: list[int], batch_size: int) -> list[int]:
    """Rows per group in a batch: equal numbers, and the rest for the last and largest group."""
    total = min(batch_size, len(sizes) * sizes[0])
    equal = total // len(sizes)
    return [*[equal] * (len(sizes) - 1), total - equal * (len(sizes) - 1)]


def balanced_batches(
    groups: np.ndarray, batch_size: int, generator: torch.Generator
) -> Iterator[torch.Tensor]:
    """Indices of rows for one batch after another, drawn from each group without replacement."""
    torch = import_torch()
    members = [torch.from_numpy(np.flatnonzero(groups == group)) for group in np.unique(groups)]
    members.sort(key=len)
    given = shares([len(rows) for rows in members], batch_size)
    while True:
        drawn = [torch.randperm(len(rows), generator=generator) for rows in members]
        yield torch.cat([rows[d[:n]] for rows, d, n in zip(members, drawn, given, strict=True)])


def loss_parts(
    autoencoder: Autoencoder, mixture: Mixture, rows: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Reconstruction error, and cross entropy of the head against T_ij = w_j p_ij.

    The gradient flows through the target too: only this trains the centroids and variances.
    """
    functional = import_torch().nn.functional
    codes = passed_through(autoencoder.encoder, rows)
    target = mixture.weights * memberships(codes, mixture.centroids, mixture.variances())
    log_head = functional.log_softmax(passed_through(mixture.head, codes), 1)
    error = functional.mse_loss(passed_through(autoencoder.decoder, codes), rows)
    return error, -(target * log_head).sum() / len(rows)


def fine_tuning(
    autoencoder: Autoencoder,
    mixture: Mixture,
    X: torch.Tensor,
    batches: Iterator[torch.Tensor],
    adam: Any,
    plan: Tuning,
) -> Iterator[tuple[float, float]]:
    """One step per epoch on one balanced batch; yields both parts of the loss before the step."""
    for epoch in range(plan.epochs):
        if epoch > 0 and epoch % plan.update_interval == 0:
            mixture.weights = mean_memberships(autoencoder, mixture, X)
            if is_vanishing(mixture.weights, plan.stop_factor):
                mixture.stopped = "vanishing cluster"
                return
        error, clustering = loss_parts(autoencoder, mixture, X[next(batches).to(X.device)])
        loss = error + plan.gamma * clustering
        if not math.isfinite(float(loss.detach())):
            mixture.stopped = "diverged"
            return
        adam.zero_grad()
        loss.backward()
        adam.step()
        yield float(error.detach()), float(clustering.detach())
    if plan.epochs > 0:
        mixture.weights = mean_memberships(autoencoder, mixture, X)


def mean_memberships(autoencoder: Autoencoder, mixture: Mixture, X: torch.Tensor) -> torch.Tensor:
    """w_j = mean over all rows of p_ij, without gradient."""
    variances = mixture.variances().detach()
    member = partial(memberships, centroids=mixture.centroids, variances=variances)
    return in_chunks(member, encoded(autoencoder.encoder, X)).mean(0)
