"""Around the training of the deep baselines: PyTorch, device, seed, progress bar."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from ...optional import require

if TYPE_CHECKING:
    import torch

LARGEST = 1e18  # input of a network: squares of larger values overflow float32


def import_torch() -> Any:
    """Import PyTorch, or raise an error that says how to install it."""
    return require("torch", extra="deep", purpose="TableDC and GCEALS")


def device_called(name: str) -> torch.device:
    """The device "cpu" or "cuda"; "auto" is the GPU if there is one."""
    torch = import_torch()
    has_gpu = torch.cuda.is_available()
    if name == "cuda" and not has_gpu:
        raise ValueError(
            "device='cuda', but PyTorch finds no GPU here; use device='auto' or 'cpu', or install a PyTorch "
            "built for CUDA."
        )
    return torch.device("cuda" if has_gpu and name != "cpu" else "cpu")


def seed_from(random_state: Any) -> int:
    """The seed of a run: an integer itself, otherwise one drawn from the random state."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def generator_from(seed: int) -> torch.Generator:
    """A separate random generator, on the CPU so that its numbers are the same for every device."""
    return import_torch().Generator().manual_seed(seed)


def to_tensor(X: np.ndarray, device: torch.device) -> torch.Tensor:
    """A copy of the rows in single precision on the device."""
    largest = float(np.abs(X).max())
    if largest > LARGEST:
        raise ValueError(
            f"X holds a value of magnitude {largest:.3g}, but a network can only compute up to {LARGEST:g}; "
            "rescale the feature it is in."
        )
    return import_torch().from_numpy(X.astype(np.float32)).to(device)


def to_array(tensor: torch.Tensor) -> np.ndarray:
    """Copy a tensor to a NumPy array."""
    return np.array(tensor.detach().cpu().numpy())


def watched(
    epochs: Iterator[tuple[float, ...]], n_epochs: int, names: tuple[str, ...], *, bar: str | None
) -> np.ndarray:
    """Run a training stage; returns its losses, a row per name and a column per epoch.

    Shows a progress bar if it has a name.
    """
    history = list(epochs if bar is None else _with_bar(epochs, n_epochs, names, bar))
    return np.array(history).reshape(-1, len(names)).T


def _with_bar(
    epochs: Iterator[tuple[float, ...]], n_epochs: int, names: tuple[str, ...], title: str
) -> Iterator[tuple[float, ...]]:
    tqdm = require("tqdm", extra="progress", purpose="progress=True").tqdm
    with tqdm(total=n_epochs, desc=title, unit=" epochs") as bar:
        for losses in epochs:
            shown = {name: f"{loss:.4g}" for name, loss in zip(names, losses, strict=True)}
            bar.set_postfix(shown, refresh=False)
            bar.update()
            yield losses
