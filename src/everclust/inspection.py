"""What a fitted model shows: snapshots, events, reports and fitted attributes. Nothing here changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .model.events import Event
from .model.learner import Learner
from .model.report import cluster_centres, cluster_profile, cluster_report, members
from .model.snapshot import Snapshot
from .model.summary import summary
from .optional import require

if TYPE_CHECKING:
    import networkx
    import pandas


class InspectionMixin:
    """Inspection of a model with a learner."""

    _learner: Learner
    _title: ClassVar[str]  # the algorithm's name for people

    def _check_is_fitted(self) -> None:
        """Raise scikit-learn's error if nothing has been learnt."""
        if not self.__sklearn_is_fitted__():
            from sklearn.exceptions import NotFittedError  # takes seconds

            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate "
                "arguments before using this estimator."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return "_learner" in self.__dict__ and self._learner.has_learnt()

    def snapshot(self) -> Snapshot:
        """A frozen copy of the model, all of it at one moment.

        Returns
        -------
        snapshot : Snapshot
        """
        self._check_is_fitted()
        return self._learner.snapshot()

    def events(self, since: int = 0) -> list[Event]:
        """Clusters that were born, merged, split or are gone.

        Parameters
        ----------
        since : int, default=0
            Only events after this sample: pass the `sample` of the latest event you know.

        Returns
        -------
        events : list of Event
            In the order in which they happened. At least the latest ten thousand are kept.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from everclust import IDAT
        >>> model = IDAT().partial_fit(load_iris().data)
        >>> print(model.events()[0])
        sample 46: 0 is born (6 samples)
        """
        self._check_is_fitted()
        return self._learner.events(since)

    def cluster_report(self) -> pandas.DataFrame:
        """A table of the clusters: one row for each, with its id as index.

        Returns
        -------
        report : pandas.DataFrame
            With the columns `size` (in samples), `nodes`, `spread` (root mean square distance of its
            nodes from its centre), `age` and `last_seen` (in samples), `centre`, and `differs_by`: the
            features in which it is farthest from the mean of the stream, in standard deviations. If the
            stream had times (`everclust fit --time`), `born_at` and `last_seen_at` are in ISO 8601, UTC.
        """
        return cluster_report(self.snapshot(), self._names(), getattr(self, "_times", None))

    def cluster_profile(self) -> pandas.DataFrame:
        """How each cluster differs from the stream: its mean of every feature against the mean of the stream.

        Returns
        -------
        profile : pandas.DataFrame
            A row per cluster, a column per feature: difference from the mean of the stream, in standard
            deviations of the stream.
        """
        return cluster_profile(self.snapshot(), self._names())

    def summary(self) -> str:
        """What the model has learnt, in words: its clusters with size, share, when last seen, what differs.

        The size is the number of samples that its nodes won, the share is of all samples that clusters count.

        Returns
        -------
        text : str

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from everclust import EverClust
        >>> print(EverClust().fit(load_iris().data).summary().splitlines()[0])
        EverClust: 5 clusters in 150 samples of 4 features (39 nodes)
        """
        return summary(self._title, self.snapshot(), self._names())

    def _names(self) -> list[str] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def to_networkx(self) -> networkx.Graph:
        """The nodes and edges as a graph, with the attributes of each node.

        Returns
        -------
        graph : networkx.Graph
        """
        networkx = require("networkx", extra="graph", purpose="to_networkx")
        now = self.snapshot()
        graph = networkx.Graph()
        for k, prototype in enumerate(now.prototypes):
            graph.add_node(
                k,
                prototype=prototype,
                usage=int(now.usage[k]),
                scale=float(now.scales[k]),
                active=bool(now.active[k]),
                label=int(now.node_labels[k]),
            )
        graph.add_edges_from(now.edges.tolist())
        return graph

    # Fitted attributes: scalars straight from the state, arrays from the latest snapshot

    def _scalar(self, name: str) -> Any:
        self._check_is_fitted()
        return self._learner.scalar(name)

    @property
    def n_nodes_(self) -> int:
        """Number of nodes."""
        return self._scalar("n_nodes")

    @property
    def n_active_nodes_(self) -> int:
        """Number of active nodes, 0 when none is."""
        return self._scalar("n_active")

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples learnt."""
        return self._scalar("n_seen")

    @property
    def interval_(self) -> int:
        """Recalculation interval, in samples."""
        return self._scalar("interval")

    @property
    def vigilance_(self) -> float:
        """Vigilance threshold."""
        return self._scalar("vigilance")

    @property
    def n_clusters_(self) -> int:
        """Number of clusters."""
        return self.snapshot().n_clusters

    @property
    def cluster_ids_(self) -> np.ndarray:
        """Ids of the clusters, in rising order."""
        return np.array([cluster for cluster, _ in members(self.snapshot())])

    @property
    def cluster_centers_(self) -> np.ndarray:
        """Mean of each cluster, in the order of `cluster_ids_`."""
        return cluster_centres(self.snapshot())

    @property
    def prototypes_(self) -> np.ndarray:
        """Positions of the nodes, in order of creation."""
        return self.snapshot().prototypes

    @property
    def feature_weights_(self) -> np.ndarray:
        """Weight of each feature in squared distances."""
        return self.snapshot().feature_weights

    @property
    def scales_(self) -> np.ndarray:
        """Distance scale of each node."""
        return self.snapshot().scales

    @property
    def usage_(self) -> np.ndarray:
        """How often each node was moved."""
        return self.snapshot().usage

    @property
    def active_(self) -> np.ndarray:
        """Whether each node is active."""
        return self.snapshot().active

    @property
    def edges_(self) -> np.ndarray:
        """Pairs of nodes joined by an edge."""
        return self.snapshot().edges

    @property
    def node_labels_(self) -> np.ndarray:
        """Cluster of each node, -1 for nodes in none."""
        return self.snapshot().node_labels
