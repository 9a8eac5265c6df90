"""Why Λ grows and shrinks: it is as long as the newest samples are still distinct."""

import matplotlib.pyplot as plt
import numpy as np
from drawing import BLUE, GREEN, GREY, ORANGE, plain_axes, three_groups
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from everclust import IDAT
from everclust.core.stability import DETERMINANT_FLOOR

N_EACH = 1500


def draw() -> Figure:
    """The determinant as more samples are taken in, for three streams; Λ along a stream that changes."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.4))
    draw_determinants(left)
    draw_intervals(right)
    figure.tight_layout()
    return figure


def draw_determinants(ax: Axes) -> None:
    """Samples that differ keep the determinant up; samples that repeat each other pull it down."""
    rng = np.random.default_rng(0)
    streams = {
        "2 features": (three_groups(200), BLUE),
        "16 features": (rng.normal(size=(200, 16)), GREEN),
        "2 features, a tenth of the spread": (0.1 * three_groups(200), ORANGE),
    }
    scale = three_groups(5000).std(axis=0).max()
    for name, (X, colour) in streams.items():
        alpha = 1 / (X.std(axis=0).max() if X.shape[1] > 2 else scale)
        S = 1 / (1 + alpha * np.linalg.norm(X[:, None] - X, axis=2))
        logs = 2 * np.cumsum(np.log10(np.diag(np.linalg.cholesky(S))))
        ax.plot(np.arange(1, 201), logs, color=colour, label=name)
    ax.axhline(np.log10(DETERMINANT_FLOOR), color=GREY, ls="--", lw=1)
    ax.set(xlim=(1, 60), ylim=(-12, 0.5))
    ax.legend(fontsize=8, frameon=False)
    plain_axes(ax, "How many samples are distinct", xlabel="newest samples L", ylabel="log₁₀ det S_L")


def draw_intervals(ax: Axes) -> None:
    """Λ at every sample of a stream that narrows to a tenth of its spread and widens again."""
    X = np.concatenate([three_groups(N_EACH, 1), 0.1 * three_groups(N_EACH, 2), three_groups(N_EACH, 3)])
    model, intervals = IDAT(), []
    for x in X:
        model.learn_one(x)
        intervals.append(model.interval_)
    ax.plot(intervals, color=BLUE, lw=1)
    ax.axvspan(N_EACH, 2 * N_EACH, color=GREY, alpha=0.15)
    plain_axes(ax, "Λ along a stream; shaded: a tenth of the spread", xlabel="sample", ylabel="Λ")
