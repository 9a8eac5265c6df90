"""IDAT, the published algorithm, as a scikit-learn estimator."""

from pathlib import Path
from typing import ClassVar

from ..core.variants import PUBLISHED
from .incremental import IncrementalClusterer


class IDAT(IncrementalClusterer):
    """Clustering of data that keeps arriving, without a parameter to tune.

    IDAT learns one sample at a time and needs it only once. It moves prototypes ("nodes"), connects nodes
    that are often nearest to the same samples with edges, and calls each connected component a cluster.
    It finds the number of clusters by itself and forgets nothing when new classes appear. Features are
    used as they are: scale them first if their units are not comparable.

    There is nothing to tune. `clusters` and `metric` choose between the algorithm as published, which is
    the default, and two additions to it, which often find better clusters; `max_nodes` bounds memory.

    Parameters
    ----------
    clusters : {"components", "handover"}, default="components"
        What a cluster is: a connected component of the edges between active nodes, as published; or a
        community of nodes that hand samples over to each other more often than expected by chance, among
        all nodes that won more than once. Learning is the same in both cases, so a model can be read out
        either way: ``model.set_params(clusters="handover")``.
    metric : {"euclidean", "capped"}, default="euclidean"
        How distances are measured: as published; or with features of large spread scaled down, so that
        none contributes more than the median feature. No feature is scaled up.
    max_nodes : int or None, default=None
        Largest number of nodes. The published algorithm never removes a node that won twice, so that
        nodes and costs grow without bound when the data keep drifting. With a bound, the nodes that have
        not won for the longest time are evicted first, inactive before active ones.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training sample, after `fit` only.
    n_clusters_ : int
        Number of clusters.
    n_nodes_, n_active_nodes_ : int
        Number of nodes, and of active nodes, which predictions are made from. While no node is active,
        predictions use all of them. (With hand-over clusters, all nodes that won more than once.)
    prototypes_ : ndarray of shape (n_nodes_, n_features_in_)
        Positions of the nodes, in order of creation.
    feature_weights_ : ndarray of shape (n_features_in_,)
        Weight of each feature in squared distances: 1, or less in the capped metric.
    scales_, usage_, active_ : ndarray of shape (n_nodes_,)
        Distance scale of each node, how often it was moved, whether it is active.
    edges_ : ndarray of shape (m, 2)
        Pairs of nodes joined by an edge.
    node_labels_ : ndarray of shape (n_nodes_,)
        Cluster of each node, -1 for those that are in none.
    interval_, vigilance_ : int, float
        The recalculation interval and the vigilance threshold, which IDAT derives by itself.
    n_samples_seen_, n_features_in_ : int
        Number of samples learnt, number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when they were given as strings.

    References
    ----------
    N. Masuyama, Y. Toda, Y. Nojima, H. Ishibuchi: An Adaptive Resonance Theory-based Topological
    Clustering Algorithm with a Self-Adjusting Vigilance Parameter. arXiv:2511.17983.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust import IDAT
    >>> X = load_iris().data
    >>> model = IDAT().fit(X)
    >>> model.n_clusters_
    5
    >>> model.partial_fit(X[:10]).n_samples_seen_
    160
    """

    _choices: ClassVar = {"clusters": ("components", "handover"), "metric": ("euclidean", "capped")}
    _variant = PUBLISHED  # the ablation variants of the benchmark have others

    def __init__(
        self, *, clusters: str = "components", metric: str = "euclidean", max_nodes: int | None = None
    ) -> None:
        self.clusters = clusters
        self.metric = metric
        self.max_nodes = max_nodes


def load(path: str | Path) -> IDAT:
    """Read a model that `save` has written. It goes on learning as if it had never been interrupted.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    model : IDAT

    Raises
    ------
    ValueError
        If the file is not a model, is damaged, or was written by a newer everclust; says which.
    """
    return IDAT._load(path)
