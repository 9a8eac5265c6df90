"""`everclust.TopologyDisplay`: a plot of a model, made like scikit-learn's displays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import resample

from ..estimators.clusterer import Clusterer
from ..estimators.incremental import IncrementalClusterer
from ..optional import require
from .palette import GREY, colours_of, paler
from .projection import USAGE, project

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_LEGEND = 8  # clusters; a longer legend is hard to read
TOTAL_AREA = 9_000.0  # points² that all nodes in clusters would cover if their usage were equal
HOLLOW: dict[str, Any] = {"facecolors": "none", "edgecolors": [GREY]}


def pyplot() -> Any:
    """Import matplotlib.pyplot; the error of a missing one says how to install it."""
    return require("matplotlib.pyplot", extra="plot", purpose="plots")


def feature_names(model: Clusterer) -> Sequence[str]:
    """Names of the features, or their numbers where they have none."""
    return getattr(model, "feature_names_in_", [f"feature {k}" for k in range(model.n_features_in_)])


class TopologyDisplay:
    """Nodes and edges of a model, drawn over samples. Use `from_estimator` to make one.

    The area of a node shows its usage, its colour the cluster; a cluster id has the same colour in all plots.
    Nodes in no cluster are small and hollow.

    Parameters
    ----------
    nodes : ndarray of shape (n_nodes, 2)
        Positions of the nodes.
    usage, node_labels : ndarray of shape (n_nodes,)
        Usage and cluster id of each node; -1 for nodes in no cluster, and for all while none is active.
    n_clusters : int
        Number of clusters.
    edges : ndarray of shape (m, 2)
        Pairs of nodes joined by an edge.
    samples, labels : ndarray of shape (n_samples, 2) and (n_samples,), optional
        Positions of the samples, and their clusters.
    axis_names : tuple of two str
        Labels of the axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Of the plot.
    nodes_, inactive_, samples_ : matplotlib PathCollection
        Nodes in clusters (in order of falling usage), other nodes, samples (None if none were given).
    edges_ : matplotlib LineCollection
        The edges.
    legend_ : matplotlib Legend or None
        None if there are more than 8 clusters.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust import EverClust, TopologyDisplay
    >>> X = load_iris().data
    >>> display = TopologyDisplay.from_estimator(EverClust().fit(X), X)
    >>> display.ax_.get_xlabel()
    'component 1 (88% of variance)'
    """

    ax_: Any
    figure_: Any
    nodes_: Any
    inactive_: Any
    samples_: Any
    edges_: Any
    legend_: Any

    def __init__(
        self,
        *,
        nodes: np.ndarray,
        usage: np.ndarray,
        node_labels: np.ndarray,
        n_clusters: int,
        edges: np.ndarray,
        samples: np.ndarray | None = None,
        labels: np.ndarray | None = None,
        axis_names: tuple[str, str] = ("", ""),
    ) -> None:
        self.nodes, self.usage, self.node_labels = nodes, usage, node_labels
        self.n_clusters, self.edges = n_clusters, edges
        self.samples, self.labels = samples, labels
        self.axis_names = axis_names

    @classmethod
    def from_estimator(
        cls, model: IncrementalClusterer, X: Any = None, *, ax: Axes | None = None, max_samples: int = 5_000
    ) -> TopologyDisplay:
        """Draw a model. More than two features are projected on the principal components of the prototypes.

        The projection uses the metric of the model, which may weigh large features down.

        Parameters
        ----------
        model : EverClust or IDAT
        X : array-like of shape (n_samples, n_features), optional
            Samples to draw underneath.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        max_samples : int, default=5000
            Of more samples, a random subset of this size is drawn.

        Returns
        -------
        display : TopologyDisplay
        """
        samples, labels = None, None
        if X is not None:
            samples = resample(X, replace=False, n_samples=min(max_samples, len(X)), random_state=0)
            labels = model.predict(samples)
            samples = np.asarray(samples, dtype=np.float64)
        return cls._of(model, samples, labels).plot(ax)

    @classmethod
    def _of(cls, model: Clusterer, samples: np.ndarray | None, labels: np.ndarray | None) -> TopologyDisplay:
        """A display of a model and of samples whose clusters are known; nothing is drawn yet."""
        now = model.snapshot()
        plane = project(now, samples, feature_names(model))
        return cls(
            nodes=plane.nodes,
            usage=now.usage,
            node_labels=now.node_labels,
            n_clusters=now.n_clusters,
            edges=now.edges,
            samples=plane.samples,
            labels=labels,
            axis_names=plane.axis_names,
        )

    def plot(self, ax: Axes | None = None) -> TopologyDisplay:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        self
        """
        self.ax_ = self._new_axes() if ax is None else ax
        self.figure_ = self.ax_.figure
        self._draw_samples()
        self._draw_nodes()
        self._draw_frame()
        self._draw_legend()
        return self

    def _new_axes(self) -> Axes:
        """Make a figure whose height suits the data."""
        height = np.clip(0.6 + 5.0 * self._height_to_width(), 3.0, 5.4) if self._is_map() else 4.0
        return pyplot().subplots(figsize=(6.4, height), layout="constrained")[1]

    def _height_to_width(self) -> float:
        points = self.nodes if self.samples is None else np.concatenate([self.nodes, self.samples])
        width, height = np.ptp(points, axis=0)
        return height / width if width > 0 else 1.0

    def _is_map(self) -> bool:
        """True if both axes can have the same scale, so that distances look as they are."""
        return self.axis_names[1] != USAGE and 0.2 < self._height_to_width() < 5.0

    def _draw_samples(self) -> None:
        self.samples_ = None
        if self.samples is not None and self.labels is not None:
            colours = paler(colours_of(self.labels), 0.65)
            area = np.clip(8_000 / max(len(self.samples), 1), 2.0, 10.0)
            self.samples_ = self.ax_.scatter(
                *self.samples.T, s=area, c=colours, linewidths=0, zorder=1, rasterized=True
            )

    def _draw_nodes(self) -> None:
        """Draw nodes in no cluster, then edges, then the other nodes, the largest first."""
        inside = self._inside()
        order = np.flatnonzero(inside)[np.argsort(-self.usage[inside], kind="stable")]
        largest = np.clip(TOTAL_AREA / len(order), 30.0, 240.0)
        self.inactive_ = self._dots(np.flatnonzero(~inside), s=7.0, linewidths=0.6, zorder=2, **HOLLOW)
        self._draw_edges(0.09 * np.sqrt(largest))
        self.nodes_ = self._dots(
            order,
            s=6.0 + largest * self.usage[order] / self.usage[order].max(),
            c=colours_of(self.node_labels[order]),
            edgecolors="white",
            linewidths=0.7,
            zorder=4,
        )

    def _inside(self) -> np.ndarray:
        """Mask of nodes in a cluster. While no node is active, all are in the provisional one."""
        inside = self.node_labels >= 0
        return inside if inside.any() else ~inside

    def _dots(self, nodes: np.ndarray, **style: Any) -> Any:
        return self.ax_.scatter(*self.nodes[nodes].T, **style)

    def _draw_edges(self, width: float) -> None:
        from matplotlib.collections import LineCollection

        colours = colours_of(self.node_labels[self.edges[:, 0]])
        self.edges_ = LineCollection(
            list(self.nodes[self.edges]), colors=list(colours), linewidths=width, zorder=3
        )
        self.ax_.add_collection(self.edges_)

    def _draw_frame(self) -> None:
        self.ax_.set(xlabel=self.axis_names[0], ylabel=self.axis_names[1])
        self.ax_.spines[["top", "right"]].set_visible(False)
        if self._is_map():
            self.ax_.set_aspect("equal", adjustable="box" if self._shares_axes() else "datalim")
        if self.axis_names[1] == USAGE:  # no ticks below zero, where the samples are
            self.ax_.set_ylim(self.ax_.get_ylim())
            self.ax_.set_yticks([tick for tick in self.ax_.get_yticks()[:-1] if tick >= 0])

    def _shares_axes(self) -> bool:
        """True if the limits are also those of other plots, so that matplotlib refuses to change them."""
        shared = self.ax_.get_shared_x_axes(), self.ax_.get_shared_y_axes()
        return all(len(group.get_siblings(self.ax_)) > 1 for group in shared)

    def _draw_legend(self) -> None:
        self.legend_ = None
        if self.n_clusters > MAX_LEGEND:
            return
        for k in np.unique(self.node_labels[self._inside()]):
            self.ax_.scatter([], [], s=50, color=colours_of(np.array([k])), label=f"cluster {k}")
        if not self._inside().all():
            self.ax_.scatter([], [], s=14, label="in no cluster", **HOLLOW)
        self.legend_ = self.ax_.legend(
            frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), handletextpad=0.2
        )
