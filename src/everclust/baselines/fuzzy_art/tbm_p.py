"""TBM-P: a TopoART of features and a TopoART of samples, linked by Pearson's correlation."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils._param_validation import Interval

from ...validation import all_or_nothing, validated_rows, validated_rows_to_predict
from ..graph.components import components
from ..graph.graph import edges
from ..scaling import observed_bounds, refuse_vanishing, rescale
from .correlation import standardise
from .fuzzy_art import complement_code
from .topo_art import nearest_prototypes, train
from .topo_module import Rules, n_prototypes, prototypes

CUSHION = 1e-16  # added to each range, the divisor
ALWAYS = -1.0  # threshold that every correlation passes


def _rounded(value: float) -> int:
    """Round half away from zero."""
    return math.floor(value + 0.5)


class TBMP(ClusterMixin, BaseEstimator):
    """Topological biclustering ARTMAP with Pearson's correlation: clusters samples by blocks of features.

    One TopoART groups the features. Another one groups the samples, in the order given: a sample matches a
    prototype only if it also correlates with the prototype's samples in at least one group of features.
    Prototypes that win together are joined by an edge; connected components are the clusters. TBM-P needs all
    samples at once and has no `partial_fit`. It scales samples and features itself.

    **The defaults suit no data in particular**: they find one cluster in Yeast, Image Segmentation and Rice,
    and 289 in OptDigits. Tune them; `everclust.baselines.parameters` has values for some data sets.

    Parameters
    ----------
    rho_a, rho_b : float in [0, 1], default=0.7, 0.5
        Vigilance for samples and for features.
    beta_sb_a, beta_sb_b : float in [0, 1], default=0.5, 0.5
        Learning rate of second winners.
    phi_a, phi_b : float >= 0, default=2.0, 1.0
        Prototypes with at most this many wins, rounded, are deleted.
    tau_a, tau_b : float in [0, 1], default=0.2, 0.2
        Interval between deletions, as a fraction of the number of samples and of features; 0 for never.
    eta : float, default=0.3
        Threshold of the correlation.
    reference_quirks : bool, default=False
        Also join a winner with the oldest prototype if other matching prototypes were passed over, as in the
        authors' program.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training sample. `predict` may differ: it does not test correlation.
    n_clusters_, n_nodes_ : int
        Number of clusters and of the samples' prototypes.
    weights_ : ndarray of shape (n_nodes_, 2 * n_features_in_)
        Prototypes: lower corners of boxes, then complements of the upper corners.
    node_labels_, usage_ : ndarray of shape (n_nodes_,)
        Cluster of each prototype, and the number of samples it has won.
    edges_ : ndarray of shape (m, 2)
        Pairs of prototypes that are joined.
    feature_labels_ : ndarray of shape (n_features_in_,)
        Group of each feature.
    bounds_ : (ndarray, ndarray)
        Minima and maxima by which the features are scaled.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when they were given as strings.

    References
    ----------
    R. Yelugam, L. E. Brito da Silva, D. C. Wunsch II: Topological biclustering ARTMAP for identifying within
    bicluster relationships. Neural Networks 160 (2023) 34–49.

    M. Tscherepanow: TopoART: A topology learning hierarchical ART network. ICANN 2010, 157–167.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust.baselines import TBMP
    >>> model = TBMP().fit(load_iris().data)
    >>> model.n_clusters_
    2
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: [Interval(Real, 0, 1, closed="both")] for name in ("rho_a", "rho_b")},
        **{name: [Interval(Real, 0, 1, closed="both")] for name in ("beta_sb_a", "beta_sb_b")},
        **{name: [Interval(Real, 0, None, closed="left")] for name in ("phi_a", "phi_b")},
        **{name: [Interval(Real, 0, 1, closed="both")] for name in ("tau_a", "tau_b")},
        "eta": [Interval(Real, None, None, closed="neither")],
        "reference_quirks": ["boolean"],
    }

    def __init__(
        self,
        *,
        rho_a: float = 0.7,
        beta_sb_a: float = 0.5,
        phi_a: float = 2.0,
        tau_a: float = 0.2,
        rho_b: float = 0.5,
        beta_sb_b: float = 0.5,
        phi_b: float = 1.0,
        tau_b: float = 0.2,
        eta: float = 0.3,
        reference_quirks: bool = False,
    ) -> None:
        self.rho_a = rho_a
        self.beta_sb_a = beta_sb_a
        self.phi_a = phi_a
        self.tau_a = tau_a
        self.rho_b = rho_b
        self.beta_sb_b = beta_sb_b
        self.phi_b = phi_b
        self.tau_b = tau_b
        self.eta = eta
        self.reference_quirks = reference_quirks

    def fit(self, X: Any, y: Any = None) -> Self:
        """Group the features of X, then its rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples, in the order of presentation.
        y : ignored

        Returns
        -------
        self
        """
        self._validate_params()
        with all_or_nothing(self):
            X = validated_rows(self, X, reset=True)
            bounds = observed_bounds(X)
            refuse_vanishing(bounds.maxima - bounds.minima, CUSHION)
        block = self._group_features(X)
        scaled = rescale(X, bounds, CUSHION)
        module, prototype = train(complement_code(scaled), *standardise(scaled, block), self._rules_a(len(X)))
        self.bounds_, self.feature_labels_ = bounds, block
        self.n_nodes_, self.weights_ = n_prototypes(module), prototypes(module)
        self.node_labels_, self.n_clusters_ = components(module.graph)
        self.edges_, _ = edges(module.graph)
        self.usage_ = module.usage[: self.n_nodes_].copy()
        self.labels_ = self.node_labels_[prototype]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of the prototype with the smallest |P| − |P ∧ I|. Does not change the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        X = validated_rows_to_predict(self, X)
        items = complement_code(rescale(X, self.bounds_, CUSHION))
        return self.node_labels_[nearest_prototypes(self.weights_, items)]

    def _group_features(self, X: np.ndarray) -> np.ndarray:
        """Group of each feature, by its values in samples that are each scaled to [0, 1]."""
        turned = X.T
        items = complement_code(rescale(turned, observed_bounds(turned), CUSHION))
        rules = Rules(
            vigilance=float(self.rho_b),
            second_rate=float(self.beta_sb_b),
            phi=_rounded(self.phi_b),
            tau=_rounded(self.tau_b * len(items)),
            threshold=ALWAYS,
            reference_quirks=False,
        )
        return train(items, np.zeros((len(items), 1)), np.array([0, 1]), rules)[1]

    def _rules_a(self, n_samples: int) -> Rules:
        return Rules(
            vigilance=float(self.rho_a),
            second_rate=float(self.beta_sb_a),
            phi=_rounded(self.phi_a),
            tau=_rounded(self.tau_a * n_samples),
            threshold=float(self.eta),
            reference_quirks=bool(self.reference_quirks),
        )
