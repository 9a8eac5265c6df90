"""Resonance: inside the circle of its nearest node a sample moves the node, outside it founds one."""

import matplotlib.pyplot as plt
import numpy as np
from drawing import BLUE, ORANGE, map_axes, scatter_rows, three_groups
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from everclust import IDAT


def draw() -> Figure:
    """The nodes after 120 samples, how far each of them resonates, and the next 60 samples."""
    X = three_groups(180)
    model = IDAT().fit(X[:120])
    radius = model.scales_ * (1 / model.vigilance_ - 1)  # where 1 / (1 + d/σ) = V
    figure, ax = plt.subplots(figsize=(6.4, 4.6))
    scatter_rows(ax, X[:120])
    for place, r in zip(model.prototypes_, radius, strict=True):
        ax.add_patch(Circle(place, r, facecolor=BLUE, alpha=0.10, edgecolor="none"))
    ax.scatter(
        *model.prototypes_.T, s=14, color=BLUE, label="nodes, each with the circle in which it resonates"
    )
    novel = model.predict_novel(X[120:])
    nearest = np.linalg.norm(X[120:, None] - model.prototypes_, axis=2).argmin(axis=1)
    for x, k in zip(X[120:][~novel], nearest[~novel], strict=True):
        ax.plot(*zip(x, model.prototypes_[k], strict=True), color="black", lw=0.6)
    ax.scatter(*X[120:][~novel].T, s=9, color="black", label="next samples: they move the nearest node")
    ax.scatter(
        *X[120:][novel].T, s=42, color=ORANGE, marker="*", label="next samples: they found nodes", zorder=3
    )
    map_axes(ax, f"V = {model.vigilance_:.2f}, {model.n_nodes_} nodes")
    ax.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.02), frameon=False)
    return figure
