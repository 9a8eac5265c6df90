"""What the figures have in common: three groups of points, nodes and lines."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from everclust.view.palette import GREY

BLUE, ORANGE, GREEN, RED = "#0072b2", "#e69f00", "#009e73", "#d55e00"
CENTRES = ((0.0, 0.0), (3.2, 0.6), (1.4, 3.0))


def three_groups(n: int, seed: int = 0, spread: float = 0.55) -> np.ndarray:
    """Rows of three normal groups in random order."""
    rng = np.random.default_rng(seed)
    return np.array(CENTRES)[rng.integers(0, 3, n)] + rng.normal(0, spread, (n, 2))


def scatter_rows(ax: Axes, X: np.ndarray) -> None:
    """Samples, small and grey."""
    ax.scatter(X[:, 0], X[:, 1], s=3, color=GREY, alpha=0.5, linewidths=0, rasterized=True)


def lines(ax: Axes, points: np.ndarray, pairs: np.ndarray, widths, **style) -> None:
    """Straight lines between pairs of points."""
    ax.add_collection(LineCollection(list(points[pairs]), linewidths=widths, **style))


def map_axes(ax: Axes, title: str) -> None:
    """Axes of a map: equal scales, no ticks."""
    ax.set(aspect="equal", xticks=[], yticks=[])
    ax.set_title(title, fontsize=10, loc="left")


def plain_axes(ax: Axes, title: str, **labels: str) -> None:
    """Axes of a curve."""
    ax.set_title(title, fontsize=10, loc="left")
    ax.set(**labels)
    ax.spines[["top", "right"]].set_visible(False)
