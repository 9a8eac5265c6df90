"""TableDC as a scikit-learn estimator: validation, training stages, fitted attributes."""

from __future__ import annotations

from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils._param_validation import StrOptions

from ...validation import validated_rows_to_predict
from .autoencoder import Pretraining, arrays_of, in_chunks, optimiser, tensors_of
from .birch_centres import adaptive_birch, birch
from .estimator import AT_LEAST_0, AT_LEAST_1, NOT_NEGATIVE, POSITIVE, SHARED_CONSTRAINTS, DeepMixin
from .pytorch import device_called, generator_from, seed_from, to_array, to_tensor
from .tabledc_training import Objective, joint_training, similarities

if TYPE_CHECKING:
    import torch

AUTHORS = MappingProxyType(
    {"hidden_layers": (1000,), "n_latent": 100, "pretraining_epochs": 30, "patience": None, "init": "birch"}
)
"""Parameters of the authors' own code where they differ from the defaults: ``TableDC(**AUTHORS)``."""

_FIRST_CENTRES = {"adaptive_birch": adaptive_birch, "birch": birch}


class TableDC(DeepMixin, ClusterMixin, BaseEstimator):
    """Deep clustering of tables by heavy-tailed similarities in the code of an autoencoder.

    TableDC trains an autoencoder and finds centres among its codes by BIRCH; then it trains network and
    centres together to reconstruct the rows and to sharpen the assignments. Each row belongs to the centre
    nearest to its code. The defaults are those of the IDAT paper; `everclust.baselines.deep.tabledc.AUTHORS`
    holds the parameters of the authors' own code. Features are used as they are: scale them first if their
    units are not comparable. Needs PyTorch: ``pip install "everclust[deep]"``.

    The publication describes a Mahalanobis distance; here, as in the authors' code, its covariance is a
    constant times the identity, which makes it a scaled Euclidean distance.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters to find, k.
    init : {"adaptive_birch", "birch"}, default="adaptive_birch"
        The initial centres. "adaptive_birch" uses all subclusters of BIRCH at a threshold that gives at
        least k and fewer than 2k of them, so it may find more than k clusters. "birch" uses the threshold
        0.5 and merges the subclusters to k; it raises an error if there are fewer.
    hidden_layers : sequence of int, default=(500, 500, 2000)
        Sizes of the encoder's hidden layers; the decoder has the same in reverse.
    n_latent : int, default=10
        Size of the code.
    pretraining_epochs : int, default=500
        Largest number of epochs of the pretraining, before there are centres.
    patience : int or None, default=20
        Epochs without improvement after which the pretraining stops; None to never stop early.
    min_improvement : float, default=1e-5
        Smallest decrease of the loss that counts as an improvement.
    min_epochs : int, default=0
        Smallest number of epochs of the pretraining. With few rows the loss dips, overshoots and recovers
        late; 50 helps then.
    batch_size : int, default=256
        Rows per step of the pretraining.
    training_epochs : int, default=200
        Steps of the joint training, each on all rows.
    learning_rate : float, default=0.001
        Learning rate of both trainings.
    kl_weight : float, default=0.9
        Weight of the clustering loss against the reconstruction error.
    covariance_scale : float, default=0.01
        Covariance of the codes around a centre, in every direction.
    gamma : float, default=0.5
        Width of the similarity's kernel.
    device : {"auto", "cpu", "cuda"}, default="auto"
        Where to compute; "auto" uses a GPU if there is one.
    progress : bool, default=False
        Show a progress bar for each stage on stderr (needs ``pip install "everclust[progress]"``).
    random_state : int, RandomState instance or None, default=None
        Draws the initial weights and the batches. An integer makes results reproducible on the same machine
        with the same number of threads.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training sample.
    n_clusters_ : int
        Number of clusters that have samples.
    n_nodes_ : int
        Number of centres. Those that win no training sample come last.
    centres_ : ndarray of shape (n_nodes_, n_latent)
        Centres in the latent space.
    encoder_ : list of (ndarray, ndarray)
        Weight and bias of each layer that leads to the code.
    pretraining_losses_ : ndarray of shape (n_epochs,)
        Reconstruction error in each epoch of the pretraining.
    reconstruction_losses_, clustering_losses_ : ndarray of shape (training_epochs,)
        Both parts of the loss before each step of the joint training.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when they were given as strings.

    References
    ----------
    H. T. Rauf, A. Freitas, N. W. Paton: TableDC: Deep Clustering for Tabular Data. Proceedings of the ACM
    on Management of Data (SIGMOD), 2025. arXiv:2405.17723.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust.baselines import TableDC
    >>> X = load_iris().data
    >>> model = TableDC(n_clusters=3, hidden_layers=(64, 64), random_state=1)
    >>> labels = model.fit_predict(X)  # doctest: +SKIP
    >>> 3 <= model.n_nodes_ < 6  # doctest: +SKIP
    True
    >>> model.encode(X[:5]).shape  # doctest: +SKIP
    (5, 10)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        "init": [StrOptions(set(_FIRST_CENTRES))],
        "patience": [AT_LEAST_1, None],
        "min_improvement": [NOT_NEGATIVE],
        "min_epochs": [AT_LEAST_0],
        "kl_weight": [NOT_NEGATIVE],
        "covariance_scale": [POSITIVE],
        "gamma": [POSITIVE],
    }

    _of_centres = ("centres_",)
    centres_: np.ndarray

    def __init__(
        self,
        *,
        n_clusters: int = 8,
        init: str = "adaptive_birch",
        hidden_layers: Any = (500, 500, 2000),
        n_latent: int = 10,
        pretraining_epochs: int = 500,
        patience: int | None = 20,
        min_improvement: float = 1e-5,
        min_epochs: int = 0,
        batch_size: int = 256,
        training_epochs: int = 200,
        learning_rate: float = 1e-3,
        kl_weight: float = 0.9,
        covariance_scale: float = 0.01,
        gamma: float = 0.5,
        device: str = "auto",
        progress: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.hidden_layers = hidden_layers
        self.n_latent = n_latent
        self.pretraining_epochs = pretraining_epochs
        self.patience = patience
        self.min_improvement = min_improvement
        self.min_epochs = min_epochs
        self.batch_size = batch_size
        self.training_epochs = training_epochs
        self.learning_rate = learning_rate
        self.kl_weight = kl_weight
        self.covariance_scale = covariance_scale
        self.gamma = gamma
        self.device = device
        self.progress = progress
        self.random_state = random_state

    def predict_proba(self, X: Any) -> np.ndarray:
        """Soft assignment of each row to each centre.

        It is nearly uniform by definition, a softmax of similarities between 0 and 1: only the order and the
        differences are informative.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        assignments : ndarray of shape (n_samples, n_nodes_)
        """
        return to_array(self._closeness(validated_rows_to_predict(self, X)).softmax(1))

    def _train(self, X: np.ndarray) -> None:
        """Run all training stages."""
        rows = to_tensor(X, device_called(self.device))
        generator = generator_from(seed_from(self.random_state))
        autoencoder, codes = self._pretrained(rows, self._plan(), generator)
        centres = to_tensor(_FIRST_CENTRES[self.init](codes, self.n_clusters), rows.device).requires_grad_()
        adam = optimiser([*tensors_of(*autoencoder), centres], self.learning_rate)
        steps = joint_training(autoencoder, centres, rows, self._goal(), adam)
        self._train_jointly(islice(steps, self.training_epochs))
        self.encoder_, self.centres_ = arrays_of(autoencoder.encoder), to_array(centres)

    def _plan(self) -> Pretraining:
        return Pretraining(
            self.pretraining_epochs,
            self.batch_size,
            self.learning_rate,
            self.patience,
            self.min_improvement,
            self.min_epochs,
        )

    def _goal(self) -> Objective:
        return Objective(self.covariance_scale, self.gamma, self.kl_weight)

    def _closeness(self, X: np.ndarray) -> torch.Tensor:
        """Similarities."""
        codes = self._codes(X)
        centres = to_tensor(self.centres_, codes.device)
        return in_chunks(lambda part: similarities(part, centres, self._goal()), codes)
