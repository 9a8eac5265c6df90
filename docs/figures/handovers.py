"""Hand-overs and valleys: how many samples lie between two nodes, and where few do."""

import matplotlib.pyplot as plt
import numpy as np
from drawing import BLUE, GREY, lines, map_axes, plain_axes, scatter_rows
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from everclust import EverClust
from everclust.core.handovers import handovers
from everclust.view.palette import colours_of

N = 6000


def draw() -> Figure:
    """Two groups and one cloud: nodes, their hand-overs, and how many cross each vertical line."""
    rng = np.random.default_rng(0)
    two = rng.normal(0, 1, (N, 2)) + np.outer(rng.integers(0, 2, N), (4, 0))
    one = rng.normal(0, 1, (N, 2)) * (2, 1)
    figure, axes = plt.subplots(2, 2, figsize=(9.6, 5.0), sharex="col", height_ratios=(3, 2))
    for column, (X, name) in enumerate(
        ((two, "Two groups, 4 standard deviations apart"), (one, "One cloud"))
    ):
        model = EverClust(metric="euclidean").fit(X)
        draw_links(axes[0, column], model, X)
        axes[0, column].set_title(
            f"{name}: {model.n_clusters_} cluster{'s' * (model.n_clusters_ > 1)}", fontsize=10
        )
        draw_profile(axes[1, column], model)
    figure.tight_layout()
    return figure


def draw_links(ax: Axes, model: EverClust, X: np.ndarray) -> None:
    """Lines as wide as there are hand-overs; nodes in the colours of their clusters."""
    pairs = handovers(model._learner.state)
    scatter_rows(ax, X)
    lines(
        ax,
        model.prototypes_,
        pairs[:, :2],
        4 * pairs[:, 2] / pairs[:, 2].max(),
        colors="black",
        alpha=0.7,
        zorder=2,
    )
    seen = model.node_labels_ >= 0
    ax.scatter(*model.prototypes_[~seen].T, s=8, color=GREY)
    ax.scatter(*model.prototypes_[seen].T, s=16, color=colours_of(model.node_labels_[seen]), zorder=3)
    map_axes(ax, "")
    ax.set_aspect("auto")


def draw_profile(ax: Axes, model: EverClust) -> None:
    """Hand-overs across each vertical line."""
    pairs = handovers(model._learner.state)
    ends = np.sort(model.prototypes_[pairs[:, :2], 0], axis=1)
    places = np.linspace(ends.min(), ends.max(), 400)
    crossing = (ends[:, :1] <= places) & (places < ends[:, 1:])
    ax.fill_between(places, pairs[:, 2] @ crossing, color=BLUE, alpha=0.35, lw=0)
    plain_axes(ax, "", xlabel="position of the line", ylabel="hand-overs across it")
