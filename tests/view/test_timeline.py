"""The plot of a stream: colours of clusters, lines at events."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from everclust import Event, EverClust, StreamDisplay
from everclust.view.palette import colours_of
from everclust.view.timeline import MAX_NAMED


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def two_groups():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(centre, 0.3, (600, 2)) for centre in (0, 5)])


def test_each_sample_has_the_colour_that_its_cluster_had_then():
    X, model = two_groups(), EverClust()
    display = StreamDisplay.from_stream(model, X, feature=1, every=300)
    then = EverClust()
    ids = [then.partial_fit(X[start : start + 300]).labels_ for start in range(0, 1200, 300)]
    np.testing.assert_array_equal(
        display.samples_.get_offsets(), np.column_stack([np.arange(1, 1201), X[:, 1]])
    )
    np.testing.assert_allclose(display.samples_.get_facecolors()[:, :3], colours_of(np.concatenate(ids)))
    assert model.n_samples_seen_ == 1200
    assert display.ax_.get_ylabel() == "feature 1"


def test_events_are_lines_with_words():
    model = EverClust()
    display = StreamDisplay.from_stream(model, two_groups())
    samples = [event.sample for event in model.events()]
    assert samples
    assert [line.get_xdata()[0] for line in display.lines_] == samples
    words = {word for text in display.ax_.texts for word in text.get_text().split(", ")}
    assert words == {event.kind for event in model.events()}


def test_a_model_that_has_learnt_before_goes_on():
    X, model = two_groups(), EverClust().partial_fit(two_groups()[:600])
    display = StreamDisplay.from_stream(model, X[600:].tolist())
    assert display.samples_.get_offsets()[0, 0] == 601
    assert all(event.sample > 600 for event in display.events)


def test_a_table_names_the_axis_and_an_axes_may_be_given():
    _, ax = plt.subplots()
    display = StreamDisplay.from_stream(
        EverClust(), pd.DataFrame(two_groups(), columns=["heat", "load"]), ax=ax
    )
    assert display.ax_ is ax
    assert ax.get_ylabel() == "heat"


@pytest.mark.parametrize(("n", "words"), [(MAX_NAMED, MAX_NAMED), (MAX_NAMED + 1, 0)])
def test_many_events_have_no_words(n, words):
    events = [Event(30 * k + 1, "born", (), (k,), (5,), (0.0,)) for k in range(n)]
    display = StreamDisplay(np.zeros(1000), np.zeros(1000, int), events).plot()
    assert (len(display.lines_), len(display.ax_.texts)) == (n, words)


def test_close_events_name_each_kind_once():
    kinds = {500: "born", 505: "revised", 506: "revised", 510: "born", 800: "merged"}
    events = [Event(sample, kind, (), (0,), (5,), (0.0,)) for sample, kind in kinds.items()]
    display = StreamDisplay(np.zeros(1000), np.zeros(1000, int), events).plot()
    named = {text.get_position()[0]: text.get_text() for text in display.ax_.texts}
    assert named == {500: "born, revised", 800: "merged"}


def test_samples_are_counted_with_commas():
    display = StreamDisplay(np.zeros(30_000), np.zeros(30_000, int)).plot()
    display.figure_.canvas.draw()
    assert "20,000" in [label.get_text() for label in display.ax_.get_xticklabels()]


def test_close_events_share_a_word():
    events = [Event(k, "born", (), (k,), (5,), (0.0,)) for k in (500, 501, 502)]
    display = StreamDisplay(np.zeros(1000), np.zeros(1000, int), events).plot()
    assert (len(display.lines_), len(display.ax_.texts)) == (3, 1)
