"""Joint training of TableDC: the objective and the loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from .autoencoder import CHUNK, Autoencoder, encoded, in_chunks, passed_through, refuse_divergence
from .pytorch import import_torch

if TYPE_CHECKING:
    import torch

CLOSE = 1e-12  # added under the root, whose gradient at 0 is infinite


class Objective(NamedTuple):
    """Constants of the objective: those of the similarity, and the weight of the divergence."""

    covariance_scale: float
    gamma: float
    kl_weight: float


def similarities(codes: torch.Tensor, centres: torch.Tensor, goal: Objective) -> torch.Tensor:
    """q_ij = 1 / (1 + D_ij / γ²), with D_ij = ‖z_i - c_j‖ / √(covariance scale), not squared."""
    squared = (codes[:, None] - centres).square().sum(2)
    distance = ((squared + CLOSE) / goal.covariance_scale).sqrt()
    return 1 / (1 + distance / goal.gamma**2)


def targets(q: torch.Tensor, totals: torch.Tensor) -> torch.Tensor:
    """t_ij = (q_ij² / Σ_i q_ij) / Σ_l (q_il² / Σ_i q_il), a constant; `totals` holds Σ_i over all rows."""
    sharp = q.detach().square() / totals
    return sharp / sharp.sum(1, keepdim=True)


def divergence(q: torch.Tensor, totals: torch.Tensor) -> torch.Tensor:
    """Σ_i KL(t_i ‖ s_i), where s_i = softmax_j q_ij."""
    functional = import_torch().nn.functional
    return functional.kl_div(functional.log_softmax(q, 1), targets(q, totals), reduction="sum")


def joint_training(
    autoencoder: Autoencoder, centres: torch.Tensor, X: torch.Tensor, goal: Objective, adam: Any
) -> Iterator[tuple[float, float]]:
    """One step per epoch on all rows, endlessly; yields both parts of the loss."""
    while True:
        adam.zero_grad()
        losses = _backward(autoencoder, centres, X, goal)
        refuse_divergence(sum(losses))
        adam.step()
        yield losses


def _backward(
    autoencoder: Autoencoder, centres: torch.Tensor, X: torch.Tensor, goal: Objective
) -> tuple[float, float]:
    """Accumulate the gradients of the loss chunk by chunk, to save memory."""
    torch = import_torch()
    totals = None if len(X) <= CHUNK else _totals(autoencoder, centres, X, goal)
    parts = torch.zeros(2, device=X.device)
    for rows in X.split(CHUNK):
        codes = passed_through(autoencoder.encoder, rows)
        q = similarities(codes, centres, goal)
        clustering = divergence(q, q.detach().sum(0) if totals is None else totals) / len(X)
        error = (passed_through(autoencoder.decoder, codes) - rows).square().sum() / X.numel()
        (goal.kl_weight * clustering + error).backward()
        parts += torch.stack([error.detach(), clustering.detach()])
    return tuple(parts.tolist())


def _totals(
    autoencoder: Autoencoder, centres: torch.Tensor, X: torch.Tensor, goal: Objective
) -> torch.Tensor:
    """Σ_i q_ij over all rows, without gradient."""
    codes = encoded(autoencoder.encoder, X)
    return in_chunks(lambda part: similarities(part, centres, goal).sum(0, keepdim=True), codes).sum(0)
