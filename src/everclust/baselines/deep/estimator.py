"""Mixin of TableDC and G-CEALS: parameter checks, training stages, prediction."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from ...validation import all_or_nothing, validated_rows, validated_rows_to_predict
from ..scaling import refuse_vanishing
from .autoencoder import Autoencoder, Pretraining, codes_of, encoded, pretrained
from .pytorch import to_array, watched

if TYPE_CHECKING:
    import torch

AT_LEAST_0 = Interval(Integral, 0, None, closed="left")
AT_LEAST_1 = Interval(Integral, 1, None, closed="left")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")

SHARED_CONSTRAINTS: dict[str, list[Any]] = {
    "n_clusters": [AT_LEAST_1],
    "hidden_layers": [tuple, list],
    "n_latent": [AT_LEAST_1],
    "pretraining_epochs": [AT_LEAST_0],
    "batch_size": [AT_LEAST_1],
    "training_epochs": [AT_LEAST_0],
    "learning_rate": [POSITIVE],
    "device": [StrOptions({"auto", "cpu", "cuda"})],
    "progress": ["boolean"],
    "random_state": ["random_state"],
}


def inner_sizes(estimator: Any) -> tuple[int, ...]:
    """Sizes of the encoder's layers after the input."""
    sizes = (*estimator.hidden_layers, estimator.n_latent)
    if not all(AT_LEAST_1.is_satisfied_by(size) for size in sizes):
        raise ValueError(f"hidden_layers must be positive integers, but are {estimator.hidden_layers!r}.")
    return tuple(map(int, sizes))


def refuse_few_rows(X: np.ndarray, n_clusters: int) -> None:
    """Raise an error if there are fewer rows than clusters."""
    if len(X) < n_clusters:
        raise ValueError(f"n_samples={len(X)} should be >= n_clusters={n_clusters}; ask for fewer clusters.")


def used_first(labels: np.ndarray, n_centres: int) -> np.ndarray:
    """Indices of the centres: first those that win rows, then the others, each in their old order."""
    return np.argsort(np.bincount(labels, minlength=n_centres) == 0, kind="stable")


class DeepMixin:
    """Estimators that encode the rows and assign each code to the closest centre.

    A subclass has `_train(X)`, which sets an encoder and the arrays named in `_of_centres`, with a row for
    each centre; and `_closeness(X)`, the closeness of each row to each centre.
    """

    _of_centres: ClassVar[tuple[str, ...]]
    _train: Any
    _closeness: Any
    encoder_: list[tuple[np.ndarray, np.ndarray]]
    n_clusters: int
    training_epochs: int
    device: str
    progress: bool

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Train the autoencoder, find centres among the codes, then train both jointly.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        with all_or_nothing(self):
            X = validated_rows(self, X, reset=True)
            refuse_vanishing(X)
            refuse_few_rows(X, self.n_clusters)
            self._train(X)
            closeness = self._closeness(X)
            winners = to_array(closeness.argmax(1))
            order = used_first(winners, closeness.shape[1])
            for name in self._of_centres:
                setattr(self, name, getattr(self, name)[order])
            self.labels_ = np.argsort(order)[winners]
            self.n_nodes_, self.n_clusters_ = len(order), len(np.unique(winners))
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each row: the centre closest to its code. Does not change the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return to_array(self._closeness(validated_rows_to_predict(self, X)).argmax(1))

    def encode(self, X: Any) -> np.ndarray:
        """Code of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        codes : ndarray of shape (n_samples, n_latent)
        """
        return to_array(self._codes(validated_rows_to_predict(self, X)))

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        """The rows as the network receives them."""
        return X

    def _codes(self, X: np.ndarray) -> torch.Tensor:
        return codes_of(self.encoder_, self._scaled(X), self.device)

    def _pretrained(
        self, X: torch.Tensor, plan: Pretraining, generator: torch.Generator
    ) -> tuple[Autoencoder, np.ndarray]:
        """An autoencoder trained on the rows, and their codes."""
        autoencoder, self.pretraining_losses_ = pretrained(
            X, inner_sizes(self), plan, generator, bar="pretraining" if self.progress else None
        )
        return autoencoder, to_array(encoded(autoencoder.encoder, X)).astype(float)

    def _train_jointly(self, epochs: Iterator[tuple[float, float]]) -> None:
        """Run the joint training and record both parts of the loss."""
        self.reconstruction_losses_, self.clustering_losses_ = watched(
            epochs,
            self.training_epochs,
            ("reconstruction", "clustering"),
            bar="training" if self.progress else None,
        )
