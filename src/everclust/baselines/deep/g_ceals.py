"""G-CEALS as a scikit-learn estimator: validation, training stages, fitted attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from ...validation import validated_rows_to_predict
from .autoencoder import Pretraining, arrays_of, in_chunks, optimiser, tensors_of
from .estimator import AT_LEAST_1, NOT_NEGATIVE, SHARED_CONSTRAINTS, DeepMixin
from .g_ceals_training import Tuning, balanced_batches, fine_tuning, memberships, new_mixture
from .pytorch import device_called, generator_from, seed_from, to_array, to_tensor

if TYPE_CHECKING:
    import torch


class GCEALS(DeepMixin, ClusterMixin, BaseEstimator):
    """Deep clustering of tables by weighted Gaussian clusters in the code of an autoencoder.

    Gaussian Cluster Embedding in Autoencoder Latent Space: G-CEALS trains an autoencoder and finds centroids
    among its codes by k-means; then it trains network, centroids and variances together with a small softmax
    head that has to match the weighted memberships of the codes. Training stops early when a cluster is about
    to vanish, which is common on small data sets. Needs PyTorch: ``pip install "everclust[deep]"``.

    The publication describes a Gaussian mixture; here, as in the authors' code, a membership is the softmax
    of negative Mahalanobis distances, without densities or determinants.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    standardize : bool, default=True
        Scale each feature to mean 0 and standard deviation 1 first, as the authors' code does.
    hidden_layers : sequence of int, default=(500, 500, 2000)
        Sizes of the encoder's hidden layers; the decoder has the same in reverse.
    n_latent : int, default=10
        Size of the code.
    pretraining_epochs : int, default=1000
        Epochs of the pretraining, before there are clusters.
    batch_size : int, default=256
        Rows per step of the pretraining; in the joint training, the largest size of a batch with equally many
        rows from each k-means cluster.
    training_epochs : int, default=1000
        Largest number of steps of the joint training, each on one batch.
    update_interval : int, default=1
        Number of steps between two updates of the cluster weights.
    gamma : float, default=0.1
        Weight of the clustering loss against the reconstruction error.
    stop_factor : float, default=0.1
        Training stops when a cluster's weight is at most this fraction of 1 / n_clusters.
    learning_rate : float, default=0.001
        Learning rate of both trainings.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to compute; "auto" uses a GPU if there is one.
    progress : bool, default=False
        Show a progress bar for each stage on stderr (needs ``pip install "everclust[progress]"``).
    random_state : int, RandomState instance or None, default=None
        Draws the initial weights, the batches and the initial centroids. An integer makes results
        reproducible on the same machine with the same number of threads.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training sample.
    n_clusters_ : int
        Number of clusters that have samples.
    n_nodes_ : int
        Number of centroids. Those that win no training sample come last.
    centroids_, variances_ : ndarray of shape (n_nodes_, n_latent)
        Centroids of the clusters in the latent space, and their variances.
    weights_ : ndarray of shape (n_nodes_,)
        Mean membership of the training samples in each cluster.
    scaler_ : StandardScaler or None
        Scaler of the features.
    encoder_ : list of (ndarray, ndarray)
        Weight and bias of each layer that leads to the code.
    pretraining_losses_ : ndarray of shape (pretraining_epochs,)
        Reconstruction error in each epoch of the pretraining.
    reconstruction_losses_, clustering_losses_ : ndarray of shape (stop_epoch_,)
        Both parts of the loss of each batch of the joint training, before the step.
    stop_epoch_ : int
        Number of steps of the joint training.
    stop_reason_ : {"epochs", "vanishing cluster", "diverged"}
        Why the joint training ended.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when they were given as strings.

    References
    ----------
    S. B. Rabbani, I. V. Medri, M. D. Samad: Deep clustering of tabular data by weighted Gaussian
    distribution learning. Neurocomputing 623, 129359, 2025. arXiv:2301.00802.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust.baselines import GCEALS
    >>> X = load_iris().data
    >>> model = GCEALS(n_clusters=3, hidden_layers=(64, 64), pretraining_epochs=100, random_state=1)
    >>> labels = model.fit_predict(X)  # doctest: +SKIP
    >>> model.centroids_.shape  # doctest: +SKIP
    (3, 10)
    >>> model.predict_proba(X[:5]).shape  # doctest: +SKIP
    (5, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        "standardize": ["boolean"],
        "update_interval": [AT_LEAST_1],
        "gamma": [NOT_NEGATIVE],
        "stop_factor": [NOT_NEGATIVE],
    }

    _of_centres = ("centroids_", "variances_", "weights_")
    centroids_: np.ndarray
    variances_: np.ndarray
    weights_: np.ndarray

    def __init__(
        self,
        *,
        n_clusters: int = 8,
        standardize: bool = True,
        hidden_layers: Any = (500, 500, 2000),
        n_latent: int = 10,
        pretraining_epochs: int = 1000,
        batch_size: int = 256,
        training_epochs: int = 1000,
        update_interval: int = 1,
        gamma: float = 0.1,
        stop_factor: float = 0.1,
        learning_rate: float = 1e-3,
        device: str = "auto",
        progress: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.standardize = standardize
        self.hidden_layers = hidden_layers
        self.n_latent = n_latent
        self.pretraining_epochs = pretraining_epochs
        self.batch_size = batch_size
        self.training_epochs = training_epochs
        self.update_interval = update_interval
        self.gamma = gamma
        self.stop_factor = stop_factor
        self.learning_rate = learning_rate
        self.device = device
        self.progress = progress
        self.random_state = random_state

    def predict_proba(self, X: Any) -> np.ndarray:
        """Membership of each row in each cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        memberships : ndarray of shape (n_samples, n_nodes_)
        """
        return to_array(self._closeness(validated_rows_to_predict(self, X)))

    def _train(self, X: np.ndarray) -> None:
        """Run all training stages."""
        self.scaler_ = StandardScaler().fit(X) if self.standardize else None
        rows = to_tensor(self._scaled(X), device_called(self.device))
        seed = seed_from(self.random_state)
        generator = generator_from(seed)
        plan = Pretraining(self.pretraining_epochs, self.batch_size, self.learning_rate)
        autoencoder, codes = self._pretrained(rows, plan, generator)
        kmeans = KMeans(self.n_clusters, n_init=1, random_state=seed).fit(codes)
        mixture = new_mixture(kmeans.cluster_centers_, generator, rows.device)
        batches = balanced_batches(kmeans.labels_, self.batch_size, generator)
        tensors = [*tensors_of(*autoencoder, mixture.head), mixture.centroids, mixture.spreads]
        adam = optimiser(tensors, self.learning_rate)
        tuning = Tuning(self.training_epochs, self.update_interval, self.gamma, self.stop_factor)
        self._train_jointly(fine_tuning(autoencoder, mixture, rows, batches, adam, tuning))
        self.stop_epoch_, self.stop_reason_ = len(self.clustering_losses_), mixture.stopped
        self.encoder_ = arrays_of(autoencoder.encoder)
        self.centroids_, self.variances_ = to_array(mixture.centroids), to_array(mixture.variances())
        self.weights_ = to_array(mixture.weights)

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return X if self.scaler_ is None else self.scaler_.transform(X)

    def _closeness(self, X: np.ndarray) -> torch.Tensor:
        """Memberships."""
        codes = self._codes(X)
        centroids, variances = (to_tensor(a, codes.device) for a in (self.centroids_, self.variances_))
        return in_chunks(lambda part: memberships(part, centroids, variances), codes)
