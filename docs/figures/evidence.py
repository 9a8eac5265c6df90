"""Evidence and edges: pairs of nodes that win together often are joined."""

import matplotlib.pyplot as plt
import numpy as np
from drawing import BLUE, GREY, ORANGE, lines, map_axes, scatter_rows, three_groups
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from everclust import IDAT

MOMENTS = (150, 600, 3000)


def draw() -> Figure:
    """The graph after some samples, more, and many."""
    X = three_groups(MOMENTS[-1])
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.6))
    model = IDAT()
    for ax, start, end in zip(axes, (0, *MOMENTS), MOMENTS, strict=False):
        model.partial_fit(X[start:end])
        scatter_rows(ax, X[:end])
        draw_graph(ax, model)
        map_axes(ax, f"{end:,} samples: {model.n_active_nodes_} active nodes, {model.n_clusters_} clusters")
        ax.set(xlim=(-2, 5), ylim=(-2, 5))
    figure.tight_layout()
    return figure


def draw_graph(ax: Axes, model: IDAT) -> None:
    """Evidence in orange, as wide as it is strong; edges in blue; nodes that are not active in grey."""
    state = model._learner.state
    pairs = state.pair[: state.scalars["n_pairs"][0]]
    pairs = pairs[(pairs["evidence"] > 0) & ~pairs["is_edge"]]
    slots = np.stack([pairs["a"], pairs["b"]], axis=1)
    ends = state.slot["node"][slots]
    lines(ax, model.prototypes_, ends, np.minimum(0.4 + 0.3 * pairs["evidence"], 5), colors=ORANGE)
    lines(ax, model.prototypes_, model.edges_, 1.6, colors=BLUE)
    ax.scatter(*model.prototypes_[~model.active_].T, s=7, color=GREY)
    ax.scatter(*model.prototypes_[model.active_].T, s=14, color=BLUE, zorder=3)
