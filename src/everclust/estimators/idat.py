"""IDAT, the published algorithm, as a scikit-learn estimator."""

from .incremental import IncrementalClusterer
from .without_sklearn import ComponentClusterer


class IDAT(ComponentClusterer, IncrementalClusterer):
    """The clustering algorithm IDAT as published: one sample at a time, without a parameter to tune.

    IDAT moves prototypes ("nodes"), connects nodes that are often nearest to the same samples with edges,
    and calls each connected component a cluster. It finds the number of clusters by itself and forgets
    nothing when new classes appear. Features are used as they are: scale them first if their units are not
    comparable.

    Its results never change from release to release. `EverClust` finds better clusters and steadier events
    with the same kind of nodes.

    Parameters
    ----------
    max_nodes : int or None, default=None
        Largest number of nodes. The published algorithm never removes a node that won twice, so that
        nodes and costs grow without bound when the data keep drifting. With a bound, the nodes that have
        not won for the longest time are evicted first, inactive before active ones.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample of the latest `fit` or `partial_fit`, predicted when first asked for.
    n_clusters_ : int
        Number of clusters.
    cluster_ids_ : ndarray of shape (n_clusters_,)
        Ids of the clusters, in rising order.
    cluster_centers_ : ndarray of shape (n_clusters_, n_features_in_)
        Mean of each cluster, in the order of `cluster_ids_`.
    n_nodes_, n_active_nodes_ : int
        Number of nodes, and of active nodes, which predictions are made from. While no node is active,
        predictions use all of them.
    prototypes_ : ndarray of shape (n_nodes_, n_features_in_)
        Positions of the nodes, in order of creation.
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
