"""`everclust.StreamDisplay`: samples along the stream in the colours of their clusters, and the events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..estimators.incremental import IncrementalClusterer
from ..model.events import Event
from .palette import colours_of
from .plots import feature_names, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BATCHES = 100  # of the stream, by default
MAX_NAMED = 30  # events; more words would cover each other


class StreamDisplay:
    """One feature of a stream over time: colours are permanent ids of clusters, lines are events.

    Use `from_stream` to make one.

    Parameters
    ----------
    values, labels : ndarray of shape (n_samples,)
        The feature and the cluster of each sample, in the order of the stream.
    events : sequence of Event
        Events of the model. If there are more than 30, their lines have no words.
    first : int, default=1
        Number of the first sample, as events count samples.
    name : str
        Label of the axis.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Of the plot.
    samples_ : matplotlib PathCollection
        The samples.
    lines_ : list of matplotlib Line2D
        One for each event.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from everclust import EverClust, StreamDisplay
    >>> display = StreamDisplay.from_stream(EverClust(), load_iris(as_frame=True).data, feature=2)
    >>> display.ax_.get_ylabel()
    'petal length (cm)'
    """

    ax_: Any
    figure_: Any
    samples_: Any
    lines_: list[Any]

    def __init__(
        self,
        values: np.ndarray,
        labels: np.ndarray,
        events: Sequence[Event] = (),
        *,
        first: int = 1,
        name: str = "",
    ) -> None:
        self.values, self.labels, self.events = values, labels, events
        self.first, self.name = first, name

    @classmethod
    def from_stream(
        cls,
        model: IncrementalClusterer,
        X: Any,
        *,
        feature: int = 0,
        every: int | None = None,
        ax: Axes | None = None,
    ) -> StreamDisplay:
        """Let a model learn X and draw a feature, each sample in the colour of its cluster at that time.

        Parameters
        ----------
        model : EverClust or IDAT
            Learns X.
        X : array-like of shape (n_samples, n_features)
            The stream.
        feature : int, default=0
            Number of the column that is drawn.
        every : int, optional
            Clusters of samples are read out after so many of them; by default a hundred times.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        display : StreamDisplay
        """
        X = X if hasattr(X, "shape") else np.asarray(X)
        step = max(1, len(X) // BATCHES) if every is None else every
        first = getattr(model, "n_samples_seen_", 0) + 1
        labels = [model.partial_fit(X[start : start + step]).labels_ for start in range(0, len(X), step)]
        events, names = model.events(since=first - 1), feature_names(model)
        values = np.asarray(X, dtype=np.float64)[:, feature]
        return cls(values, np.concatenate(labels), events, first=first, name=names[feature]).plot(ax)

    def plot(self, ax: Axes | None = None) -> StreamDisplay:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        self
        """
        self.ax_ = pyplot().subplots(figsize=(9, 4.5), layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        numbers = self.first + np.arange(len(self.values))
        area = np.clip(20_000 / len(numbers), 0.5, 10.0)
        self.samples_ = self.ax_.scatter(
            numbers, self.values, s=area, c=colours_of(self.labels), linewidths=0, rasterized=True
        )
        self.lines_ = [self.ax_.axvline(event.sample, color="0.35", lw=0.7) for event in self.events]
        self._draw_words()
        self.ax_.set(xlabel="samples seen", ylabel=self.name)
        self.ax_.xaxis.set_major_formatter("{x:,.0f}")
        self.ax_.margins(x=0.01)
        self.ax_.spines[["top", "right"]].set_visible(False)
        return self

    def _draw_words(self) -> None:
        """Name the kinds of events above the plot, together for those that are close to each other."""
        if len(self.events) > MAX_NAMED:
            return
        close, place = 0.02 * len(self.values), self.ax_.get_xaxis_transform()
        words: dict[int, list[str]] = {}  # by the sample of the first of the events
        for event in self.events:
            if not words or event.sample - max(words) > close:
                words[event.sample] = []
            if event.kind not in words[max(words)]:
                words[max(words)].append(event.kind)
        for sample, kinds in words.items():
            self.ax_.text(sample, 1.01, ", ".join(kinds), transform=place, rotation=40, fontsize=9)
