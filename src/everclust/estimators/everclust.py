"""EverClust, the estimator to begin with: hand-over clusters of IDAT's nodes."""

from .incremental import IncrementalClusterer
from .without_sklearn import HandoverClusterer


class EverClust(HandoverClusterer, IncrementalClusterer):
    """Clustering of data that keeps arriving, without a parameter to tune.

    EverClust learns one sample at a time and needs it only once. It moves prototypes ("nodes") as IDAT does,
    counts which two nodes are nearest to each sample (a *hand-over* between the two), and calls a group of
    nodes a cluster when hand-overs inside of it are frequent and hand-overs to the others are rare. It finds
    the number of clusters by itself, forgets nothing when new classes appear, gives every cluster a permanent
    id, and reports events: clusters that are born, merge, split or are gone.

    Results may improve from release to release; the changelog says so under *Changed results*. `IDAT` is the
    published algorithm, whose results never change.

    Parameters
    ----------
    metric : {"capped", "euclidean"}, default="capped"
        How distances are measured: with features of large spread scaled down, so that none contributes more
        than the median feature, or than four of it where features are uncorrelated and tell of the same
        clusters, as principal components do; or with all features as they are, which suits other embeddings
        and features that were scaled before.
    max_nodes : int or None, default=None
        Largest number of nodes. Nodes that won twice are never removed otherwise, so that nodes and costs
        grow without bound when the data keep drifting. With a bound, the nodes that have not won for the
        longest time are evicted first.
    n_jobs : int or None, default=None
        Number of threads on which `fit`, and `partial_fit` of a large batch, learn shares of the rows side by
        side; -1 for all cores. None and 1 learn every row in order. Other numbers find about as good
        clusters, the same ones every time, but not the same as in order. Batches with fewer than 10,000 rows
        a thread are learnt in order. It is not saved with the model.

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
        Number of nodes, and of active nodes, which IDAT would predict from.
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
        The recalculation interval and the vigilance threshold, which are derived from the newest samples.
    n_samples_seen_, n_features_in_ : int
        Number of samples learnt, number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when they were given as strings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust import EverClust
    >>> X = load_iris().data
    >>> model = EverClust().fit(X)
    >>> model.n_clusters_
    5
    >>> model.partial_fit(X[:10]).n_samples_seen_
    160
    """
