"""Vigilance: a quantile of how similar the newest samples are to each other."""

import matplotlib.pyplot as plt
import numpy as np
from drawing import BLUE, GREY, ORANGE, plain_axes, three_groups
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from everclust import IDAT
from everclust.core.window import window_rows

N = 4000


def draw() -> Figure:
    """Where V lies among the similarities of the newest samples; V and the nodes along the stream."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.4))
    X = three_groups(N)
    model, values, nodes = IDAT(), [], []
    for x in X:
        model.learn_one(x)
        values.append(model.vigilance_)
        nodes.append(model.n_nodes_)
    draw_quantile(left, model)
    right.plot(values, color=BLUE, lw=0.8)
    plain_axes(right, "V (blue) and the number of nodes (orange)", xlabel="sample", ylabel="V")
    twin = right.twinx()
    twin.plot(nodes, color=ORANGE, lw=1.2)
    twin.spines[["top"]].set_visible(False)
    figure.tight_layout()
    return figure


def draw_quantile(ax: Axes, model: IDAT) -> None:
    """u_i of the Λ newest samples in order, and the level 1 − ρ at which V is taken."""
    state = model._learner.state
    X = window_rows(state)[-model.interval_ :]
    S = 1 / (1 + np.linalg.norm(X[:, None] - X, axis=2) / model.scales_.max())
    np.fill_diagonal(S, 0)
    closest = np.sort(S.max(axis=1))
    level = 1 - state.scalars["cluster_ratio"][0]
    ax.plot((np.arange(len(closest)) + 0.5) / len(closest), closest, "o", ms=4, color=GREY)
    ax.axvline(level, color=ORANGE, lw=1, label=f"1 − ρ = {level:.2f}")
    ax.axhline(np.quantile(closest, level, method="hazen"), color=BLUE, lw=1, label="V' if taken now")
    ax.legend(fontsize=8, frameon=False)
    plain_axes(
        ax,
        f"The Λ = {model.interval_} newest samples",
        xlabel="share of the samples",
        ylabel="similarity to the most similar other",
    )
