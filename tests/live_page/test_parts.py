"""Planes, traces, digests and tables, each on its own."""

import base64

import numpy as np
import pytest

from everclust import IDAT
from everclust.live_page import frames
from everclust.live_page.capture import capture_model
from everclust.live_page.digest import digest
from everclust.live_page.frames import bounds, cluster_table, drawing, palette
from everclust.live_page.plane import Plane, align, follow
from everclust.live_page.trace import Trace
from everclust.model.events import Event
from everclust.view.projection import principal_axes


@pytest.fixture(scope="module")
def fitted():
    return IDAT().partial_fit(np.random.default_rng(2).normal(size=(3000, 4)) * [9, 3, 1, 1])


def test_axes_turn_as_little_as_possible():
    old = np.eye(2, 5)
    for new in (old[::-1], -old, np.array([[0.6, 0.8, 0, 0, 0], [-0.8, 0.6, 0, 0, 0]])):
        np.testing.assert_allclose(align(old, new), old, atol=1e-12)


def test_the_principal_plane_follows_the_nodes():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(400, 6)) @ rng.normal(size=(6, 6))
    weight = rng.random(400)
    weight /= weight.sum()
    points -= weight @ points
    axes = np.eye(2, 6)
    for _ in range(30):
        axes, share = follow(axes, points, weight)
    _, principal, shares = principal_axes(points, weight)
    np.testing.assert_allclose(axes.T @ axes, principal.T @ principal, atol=1e-6)
    np.testing.assert_allclose(axes @ axes.T, np.eye(2), atol=1e-12)
    assert share == pytest.approx(shares.sum())


def test_points_in_one_place_have_a_plane_too():
    axes, share = follow(np.eye(2, 4), np.zeros((5, 4)), np.full(5, 0.2))
    assert np.isfinite(axes).all()
    assert share == 0


def test_the_latest_samples_are_those_learnt_last():
    X = np.random.default_rng(0).normal(size=(700, 2))
    model = IDAT().partial_fit(X)
    samples = capture_model(model, 0).samples
    assert 2 < len(samples) <= 2 * model.interval_
    np.testing.assert_array_equal(samples, X[-len(samples) :])


def test_a_plane_of_features_that_are_not_there_is_the_principal_one(fitted):
    capture = capture_model(fitted, 0)
    view = Plane(0, 9).view(capture, list("abcd"))
    assert view.is_principal
    direct = Plane(3, 1).view(capture, list("abcd"))
    assert direct.names == ("d", "b")
    np.testing.assert_array_equal(direct.nodes, capture.snapshot.prototypes[:, [3, 1]])


def test_the_principal_plane_stays_for_a_while(fitted):
    plane, capture = Plane(), capture_model(fitted, 0)
    before = plane.view(capture, list("abcd")).nodes
    moved = capture._replace(snapshot=capture.snapshot._replace(usage=capture.snapshot.usage[::-1]))
    np.testing.assert_array_equal(plane.view(moved, list("abcd")).nodes, before)


def test_bounds_of_a_single_place_have_some_room():
    low, high = bounds(np.array([[1.0, 2.0], [1.0, 4.0]]))
    assert (low < [1, 2]).all()
    assert (high > [1, 4]).all()


def test_of_too_many_nodes_the_most_used_are_drawn(fitted, monkeypatch):
    monkeypatch.setattr(frames, "MAX_NODES", 5)
    capture = capture_model(fitted, 0)
    view = Plane().view(capture, list("abcd"))
    packed = drawing(capture, view, *bounds(view.nodes))
    births = np.frombuffer(base64.b64decode(packed["birth"]), np.uint32)
    usage = capture.snapshot.usage
    assert sorted(usage[np.isin(capture.birth, births)]) == sorted(usage)[-5:]
    edges = np.frombuffer(base64.b64decode(packed["edges"]), np.uint16)
    assert (edges < 5).all()


def test_the_table_agrees_with_the_report(fitted):
    report = fitted.cluster_report()
    n_seen = fitted.n_samples_seen_
    for cluster, size, nodes, since, last in cluster_table(fitted.snapshot()):
        row = report.loc[cluster]
        assert [size, nodes, n_seen - since, last] == [
            row["size"],
            row["nodes"],
            row["age"],
            row["last_seen"],
        ]


def test_colours_are_different():
    assert len(set(palette())) == len(palette())


def test_a_trace_retains_its_ends_and_thins_old_points():
    trace = Trace(max_points=100)
    for k in range(10_000):
        trace.add([k])
    last, points = trace.since(0)
    values = [k for (k,) in points]
    assert last == 10_000
    assert len(values) <= 100
    assert values[0] == 0
    assert values[-30:] == list(range(9970, 10_000))
    assert trace.since(9_999) == (10_000, [[9_999]])
    assert trace.since(10_000) == (10_000, [])


def test_a_trace_retains_old_points_by_a_rule():
    log = Trace(lambda k, values: values[0] % 10 == 0, 20)
    for k in range(60):
        log.add([k])
    values = [k for (k,) in log.since(0)[1]]
    assert values[0] in (0, 10)
    assert {20, 30} <= set(values)
    assert values[-8:] == list(range(52, 60))
    for _ in range(100):
        log.add([0])
    assert len(log.since(0)[1]) <= 20


def test_a_digest_prefers_mergers_and_large_clusters():
    def event(sample, kind, *sizes):
        return Event(sample, kind, (1,), (1,), sizes, (0.0,))

    events = [event(1, "born", 5), event(2, "gone", 900), event(3, "merged", 50, 2), event(4, "born", 7)]
    assert [e.sample for e in digest(events, 2)] == [2, 3]
    assert digest(events, 4) == events
