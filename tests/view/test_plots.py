"""What the plots show, read back from the drawn objects."""

import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

import everclust
from everclust import IDAT, EverClust, History, HistoryDisplay, TopologyDisplay, learn
from everclust.view.palette import GREY, N_COLOURS, colours_of, paler
from everclust.view.projection import principal_axes


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def X() -> np.ndarray:  # noqa: N802
    """Four groups of points in the plane, one after the other."""
    random = np.random.default_rng(1)
    return np.concatenate(
        [random.normal(centre, 0.3, (500, 2)) for centre in ((0, 0), (4, 0), (0, 3), (4, 3))]
    )


@pytest.fixture(scope="module")
def model(X) -> IDAT:
    return IDAT().partial_fit(X)


def inside(model: IDAT) -> np.ndarray:
    """Nodes in clusters in the order in which they are drawn, the most used first."""
    nodes = np.flatnonzero(model.active_)
    return nodes[np.argsort(-model.usage_[nodes], kind="stable")]


def test_nodes(model):
    display = TopologyDisplay.from_estimator(model)
    nodes = inside(model)
    assert 1 < len(nodes) < model.n_nodes_
    np.testing.assert_array_equal(display.nodes_.get_offsets(), model.prototypes_[nodes])
    np.testing.assert_array_equal(display.inactive_.get_offsets(), model.prototypes_[~model.active_])
    np.testing.assert_allclose(
        display.nodes_.get_facecolors()[:, :3], colours_of(model.node_labels_[nodes]), rtol=1e-12
    )
    assert len(display.inactive_.get_facecolors()) == 0  # hollow
    np.testing.assert_allclose(display.inactive_.get_edgecolors()[0, :3], GREY)
    assert display.inactive_.get_sizes().max() < 10


def test_a_node_used_more_is_larger(model):
    display = TopologyDisplay.from_estimator(model)
    area, usage = display.nodes_.get_sizes(), model.usage_[inside(model)]
    assert len(np.unique(usage)) > 3
    np.testing.assert_array_equal(np.sign(np.diff(area)), np.sign(np.diff(usage)))
    slope = np.diff(area)[np.diff(usage) != 0] / np.diff(usage)[np.diff(usage) != 0]
    np.testing.assert_allclose(slope, slope[0])  # the area is linear in the usage


def test_edges(model):
    display = TopologyDisplay.from_estimator(model)
    assert len(model.edges_) > 1
    np.testing.assert_array_equal(display.edges_.get_segments(), model.prototypes_[model.edges_])
    colours = colours_of(model.node_labels_[model.edges_[:, 1]])
    np.testing.assert_allclose(display.edges_.get_colors()[:, :3], colours)


def test_samples(model, X):
    display = TopologyDisplay.from_estimator(model, X)
    drawn = np.asarray(display.samples_.get_offsets())
    np.testing.assert_array_equal(np.unique(drawn, axis=0), np.unique(X, axis=0))
    expected = paler(colours_of(model.predict(drawn)), 0.65)
    np.testing.assert_allclose(display.samples_.get_facecolors()[:, :3], expected)
    assert display.samples_.get_zorder() < display.edges_.get_zorder() < display.nodes_.get_zorder()
    assert len(TopologyDisplay.from_estimator(model, X, max_samples=70).samples_.get_offsets()) == 70
    assert len(TopologyDisplay.from_estimator(model, X[:9].tolist()).samples_.get_offsets()) == 9
    assert TopologyDisplay.from_estimator(model).samples_ is None


def test_where_it_is_drawn(model, X):
    figure, ax = plt.subplots()
    display = TopologyDisplay.from_estimator(model, X, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    again = display.plot()
    assert again is display
    assert display.ax_ is not ax
    display.figure_.canvas.draw()


def test_plots_may_share_both_axes(model):
    _, axes = plt.subplots(2, sharex=True, sharey=True)
    for ax in axes:
        TopologyDisplay.from_estimator(model, ax=ax)
    axes[0].figure.canvas.draw()
    assert axes[0].get_aspect() == 1.0
    assert axes[0].get_xlim() == axes[1].get_xlim()


def test_axis_names(model, X):
    ax = TopologyDisplay.from_estimator(model).ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature 0", "feature 1")
    table = pd.DataFrame(X, columns=["width", "height"])
    ax = TopologyDisplay.from_estimator(IDAT().fit(table), table).ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")


def test_legend_for_few_clusters_only(model):
    legend = TopologyDisplay.from_estimator(model).legend_
    names = [text.get_text() for text in legend.get_texts()]
    ids = np.unique(model.node_labels_[model.active_])
    assert names == [*(f"cluster {k}" for k in ids), "in no cluster"]
    dots = legend.legend_handles[: model.n_clusters_]
    assert [to_rgb(dot.get_facecolor()[0]) for dot in dots] == [tuple(c) for c in colours_of(ids)]
    many = IDAT().partial_fit(load_digits().data[:300])
    assert many.n_clusters_ > 8
    assert TopologyDisplay.from_estimator(many).legend_ is None


def test_nodes_of_everclust_in_no_cluster_are_hollow_and_in_the_legend(X):
    model = EverClust().fit(X)
    outside = model.node_labels_ < 0
    assert outside.any()
    display = TopologyDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.inactive_.get_offsets(), model.prototypes_[outside])
    assert display.legend_.get_texts()[-1].get_text() == "in no cluster"


def test_axes_have_equal_scales_if_their_ranges_are_similar(model, X):
    assert TopologyDisplay.from_estimator(model, X).ax_.get_aspect() == 1.0
    X = X * [1.0, 1e4]
    assert TopologyDisplay.from_estimator(IDAT().fit(X), X).ax_.get_aspect() == "auto"


def test_more_features_are_projected():
    X = load_digits().data
    model = IDAT().partial_fit(X)
    display = TopologyDisplay.from_estimator(model, X)
    repeated = np.repeat(model.prototypes_, model.usage_, axis=0)
    pca = PCA(2, svd_solver="full").fit(repeated)
    expected = pca.transform(model.prototypes_)
    np.testing.assert_allclose(np.abs(display.nodes), np.abs(expected), atol=1e-8)
    np.testing.assert_array_equal(display.nodes_.get_offsets(), display.nodes[inside(model)])
    assert display.samples_.get_offsets().shape == (len(X), 2)
    one, two = pca.explained_variance_ratio_
    assert display.ax_.get_xlabel() == f"component 1 ({one:.0%} of variance)"
    assert display.ax_.get_ylabel() == f"component 2 ({two:.0%} of variance)"


def test_one_large_feature_does_not_fill_the_picture():
    """Axes are those of the metric in which the model has learnt."""
    X = load_digits().data[:, 20:24] * [1e4, 1, 1, 1]
    shares = [
        float(TopologyDisplay.from_estimator(new().fit(X)).axis_names[0].split("(")[1].split("%")[0])
        for new in (IDAT, EverClust)
    ]
    assert shares[0] == 100
    assert shares[1] < 80


def test_axes_do_not_depend_on_the_sign_of_the_decomposition():
    random = np.random.default_rng(0)
    X, usage = random.normal(size=(30, 5)) * [5, 3, 1, 1, 1], random.integers(1, 9, 30)
    centre, axes, share = principal_axes(X, usage)
    np.testing.assert_allclose(centre, np.average(X, axis=0, weights=usage))
    np.testing.assert_allclose(axes @ axes.T, np.eye(2), atol=1e-12)
    assert (axes.sum(axis=1) > 0).all()
    assert share[0] > share[1] > 0


def test_one_feature_is_drawn_against_the_usage(X):
    line = X[:, :1] + 0.5 * X[:, 1:]
    model = IDAT().partial_fit(line)
    display = TopologyDisplay.from_estimator(model, line)
    np.testing.assert_array_equal(display.nodes, np.column_stack([model.prototypes_[:, 0], model.usage_]))
    drawn = display.samples_.get_offsets()
    np.testing.assert_array_equal(np.sort(drawn[:, 0]), np.sort(line[:, 0]))
    assert drawn[:, 1].max() < 0
    assert min(display.ax_.get_yticks()) >= 0
    assert display.ax_.get_ylim()[0] < drawn[:, 1].min()
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("feature 0", "usage")


@pytest.mark.parametrize("n_features", [1, 2, 3, 64])
@pytest.mark.parametrize("n_samples", [1, 2])
def test_one_or_two_nodes(n_features, n_samples):
    X = load_digits().data[:n_samples, -n_features:]
    model = IDAT().partial_fit(X)
    display = TopologyDisplay.from_estimator(model, X)
    assert len(display.nodes_.get_offsets()) == model.n_nodes_
    assert np.isfinite(display.nodes).all()
    assert len(display.edges_.get_segments()) == 0
    display.figure_.canvas.draw()


def test_while_no_node_is_active_all_are_in_clusters():
    model = IDAT().partial_fit(load_digits().data[:40])
    assert model.n_active_nodes_ == 0
    display = TopologyDisplay.from_estimator(model)
    assert len(display.nodes_.get_offsets()) == model.n_nodes_
    assert len(display.inactive_.get_offsets()) == 0


def test_errors_draw_nothing(model, X):
    with pytest.raises(NotFittedError):
        TopologyDisplay.from_estimator(IDAT(), X)
    with pytest.raises(ValueError, match="3 features"):
        TopologyDisplay.from_estimator(model, np.zeros((5, 3)))
    assert plt.get_fignums() == []


def test_missing_matplotlib_says_how_to_get_it(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw in (lambda: TopologyDisplay.from_estimator(model), HistoryDisplay(History()).plot):
        with pytest.raises(ImportError, match=r'pip install "everclust\[plot\]"'):
            draw()


def test_public_names():
    assert set(everclust.__all__) <= set(dir(everclust))
    assert all(hasattr(everclust, name) for name in everclust.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        everclust.nonsense  # noqa: B018


def test_history(X):
    history = History(50)
    learn(IDAT(), X, history=history)
    display = HistoryDisplay(history)
    assert display.plot() is display
    columns = ["interval", "vigilance", "n_nodes", "n_active_nodes", "n_clusters"]
    for line, name in zip(display.lines_, columns, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), history.n_samples_seen)
        np.testing.assert_array_equal(line.get_ydata(), getattr(history, name))
    assert [line.axes for line in display.lines_] == [display.axes_[k] for k in (0, 1, 2, 2, 3)]
    assert [ax.get_ylabel() for ax in display.axes_] == ["interval", "vigilance", "nodes", "clusters"]
    assert display.axes_[0].get_shared_x_axes().joined(display.axes_[0], display.axes_[3])
    display.figure_.canvas.draw()


def test_history_from_a_stream(X):
    model = IDAT()
    display = HistoryDisplay.from_stream(model, X, every=300)
    assert display.history.n_samples_seen.tolist() == list(range(300, 1_801, 300))
    assert model.n_samples_seen_ == len(X)
    assert len(HistoryDisplay.from_stream(IDAT(), load_iris().data.tolist()).history) == 150
    assert 250 < len(HistoryDisplay.from_stream(IDAT(), X).history) < 600


def test_nodes_and_clusters_of_a_history_are_counted_in_whole_numbers(X):
    display = HistoryDisplay.from_stream(EverClust(), X, every=300)
    for ax in display.axes_[2:]:
        ticks = ax.get_yticks()
        np.testing.assert_array_equal(ticks, ticks.round())
    display.figure_.canvas.draw()
    assert "1,000" in [label.get_text() for label in display.axes_[3].get_xticklabels()]


def test_history_on_given_axes(X):
    figure, axes = plt.subplots(2, 2)
    display = HistoryDisplay.from_stream(IDAT(), X, every=100).plot(axes.ravel())
    assert display.figure_ is figure
    assert list(display.axes_) == list(axes.flat)


def test_colours_are_permanent_and_distinct():
    few, many = colours_of(np.arange(5)), colours_of(np.arange(N_COLOURS))
    np.testing.assert_array_equal(few, many[:5])
    np.testing.assert_array_equal(colours_of(np.array([3, N_COLOURS + 3])), many[[3, 3]])
    apart = np.linalg.norm(many[:, None] - many[None], axis=2) + np.eye(N_COLOURS)
    assert apart.min() > 0.05
    assert apart[:30, :30].min() > 0.15
    assert ((many >= 0) & (many <= 1)).all()
