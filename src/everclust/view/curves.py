"""`everclust.HistoryDisplay`: curves of a model along the stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators.incremental import IncrementalClusterer
from ..feed import learn
from ..history import History
from .palette import GREY, colours_of
from .plots import pyplot

POINTS = 300  # along the stream, by default


class HistoryDisplay:
    """Interval, vigilance, nodes and clusters of a model along the stream.

    Parameters
    ----------
    history : History
        The records to draw.

    Attributes
    ----------
    axes_ : ndarray of four matplotlib Axes
        From top to bottom: interval, vigilance, nodes, clusters.
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        In the same order; the nodes have two, all and active.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust import EverClust, HistoryDisplay
    >>> display = HistoryDisplay.from_stream(EverClust(), load_iris().data)
    >>> [ax.get_ylabel() for ax in display.axes_]
    ['interval', 'vigilance', 'nodes', 'clusters']
    """

    axes_: Any
    figure_: Any
    lines_: list[Any]

    def __init__(self, history: History) -> None:
        self.history = history

    @classmethod
    def from_stream(cls, model: IncrementalClusterer, X: Any, *, every: int | None = None) -> HistoryDisplay:
        """Let a model learn X and draw its history.

        Parameters
        ----------
        model : EverClust or IDAT
            Learns X.
        X : array-like of shape (n_samples, n_features)
            The stream.
        every : int, optional
            Samples between two points; by default chosen for a few hundred points.

        Returns
        -------
        display : HistoryDisplay
        """
        X = X if hasattr(X, "shape") else np.asarray(X)
        history = History(max(1, len(X) // POINTS) if every is None else every)
        learn(model, X, history=history)
        return cls(history).plot()

    def plot(self, axes: Any = None) -> HistoryDisplay:
        """Draw the curves.

        Parameters
        ----------
        axes : sequence of four matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        self
        """
        if axes is None:
            _, axes = pyplot().subplots(4, sharex=True, figsize=(6.4, 5.6), layout="constrained")
        self.axes_ = np.asarray(axes, dtype=object)
        self.figure_ = self.axes_[0].figure
        self.lines_ = [
            self._line("interval", 0),
            self._line("vigilance", 1),
            self._line("n_nodes", 2, color=GREY, label="all"),
            self._line("n_active_nodes", 2, label="active"),
            self._line("n_clusters", 3),
        ]
        self._draw_frame()
        return self

    def _line(self, column: str, k: int, **style: Any) -> Any:
        style = {"color": colours_of(np.zeros(1))[0], "linewidth": 1.4, **style}
        (line,) = self.axes_[k].plot(self.history.n_samples_seen, getattr(self.history, column), **style)
        return line

    def _draw_frame(self) -> None:
        from matplotlib.ticker import MaxNLocator

        for ax, name in zip(self.axes_, ("interval", "vigilance", "nodes", "clusters"), strict=True):
            ax.set_ylabel(name)
            ax.set_ylim(bottom=0)
            ax.margins(x=0.01)
            ax.xaxis.set_major_formatter("{x:,.0f}")
            ax.grid(axis="y", color="0.92", linewidth=0.8)
            ax.spines[["top", "right"]].set_visible(False)
        for ax in self.axes_[2:]:
            ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
        self.axes_[2].legend(frameon=False, loc="upper left", ncols=2)
        self.axes_[3].set_xlabel("samples seen")
        self.figure_.align_ylabels(list(self.axes_))
