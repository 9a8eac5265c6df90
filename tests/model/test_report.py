"""Tables of clusters, worked out by hand."""

import sys

import numpy as np
import pandas
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from everclust import IDAT, EverClust
from everclust.model.clusters import read_components
from everclust.model.report import cluster_profile, cluster_report
from everclust.model.snapshot import take_snapshot

FRAME = load_iris(as_frame=True).data


def snapshot_of(state):
    return take_snapshot(state, read_components(state))


@pytest.fixture
def snapshot(model):
    """Two clusters and a node in none. 4 used twice at (0, 0), once at (3, 4), and once far away."""
    state = model(
        [[0, 0], [3, 4], [10, 8], [99, 99]],
        usage=[4, 2, 3, 1],
        active=[1, 1, 1, 0],
        cluster=[5, 5, 2, -1],
        since=[10, 10, 4, 0],
        last_won=[17, 20, 12, 19],
        evidence=[(0, 1, 2)],
        edge=[(0, 1)],
        next_cluster=6,
        n_seen=21,
    )
    state.mean[:] = [2, 2]
    state.square_sum[:] = [80, 0]  # variances of 4 and 0
    return snapshot_of(state)


def test_report(snapshot):
    report = cluster_report(snapshot)
    assert report.index.name == "cluster"
    assert report.index.tolist() == [2, 5]
    assert report["size"].tolist() == [3, 6]
    assert report["nodes"].tolist() == [1, 2]
    assert report["age"].tolist() == [17, 11]
    assert report["last_seen"].tolist() == [12, 20]
    assert report["centre"][2].tolist() == [10, 8]
    # (4 · (0, 0) + 2 · (3, 4)) / 6.
    assert report["centre"][5] == pytest.approx([1, 4 / 3])
    # From there to (0, 0) it is 25/9 squared and to (3, 4) 4 · 25/9: (4 · 25/9 + 2 · 100/9) / 6 = 50/9.
    assert report["spread"][2] == 0
    assert report["spread"][5] == pytest.approx(np.sqrt(50 / 9))
    assert report["differs_by"].tolist() == ["x0 +4.0, x1 +0.0", "x0 -0.5, x1 +0.0"]


def test_profile(snapshot):
    # (10 − 2) / 2 and (1 − 2) / 2; the second feature does not vary.
    profile = cluster_profile(snapshot, ["length", "width"])
    assert profile.columns.tolist() == ["length", "width"]
    assert profile.index.tolist() == [2, 5]
    assert profile.to_numpy() == pytest.approx(np.array([[4, 0], [-0.5, 0]]))


def test_spread_is_measured_in_the_metric(model):
    state = model([[0, 0], [0, 8], [9, 9]], usage=[2, 2, 1], weight=[1, 0.25], n_seen=9)
    report = cluster_report(snapshot_of(state)._replace(wins=np.array([2, 2, 0])))
    # Around (0, 4): 16 · ¼ for both; the third weighs nothing.
    assert report["spread"].tolist() == pytest.approx([2])


def test_only_the_farthest_features_are_named(model):
    state = model([[1, -5, 3, 0], [1, -5, 3, 0], [1, -5, 3, 0]], n_seen=5)
    state.square_sum[:] = 4
    assert cluster_report(snapshot_of(state))["differs_by"].tolist() == ["x1 -5.0, x2 +3.0, x0 +1.0"]


def test_while_no_node_is_active_there_is_one_row():
    model = IDAT().partial_fit(FRAME[:4])
    report = model.cluster_report()
    assert report.index.tolist() == [-1]
    assert report["age"].tolist() == [4]


@pytest.mark.parametrize("algorithm", [IDAT, EverClust])
def test_reports_of_a_model(algorithm):
    model = algorithm().fit(FRAME)
    wins = model.snapshot().wins
    report, profile = model.cluster_report(), model.cluster_profile()
    assert isinstance(report, pandas.DataFrame)
    assert report.index.tolist() == profile.index.tolist() == list(range(model.n_clusters_))
    assert profile.columns.tolist() == list(FRAME.columns)
    takes_part = model.node_labels_ >= 0
    assert report["size"].sum() == wins[takes_part].sum() <= 150
    assert report["nodes"].sum() == takes_part.sum()
    assert (report["age"] >= 0).all()
    assert (report["last_seen"] <= 150).all()
    for c in report.index:
        members = model.node_labels_ == c
        centre = np.average(model.prototypes_[members], axis=0, weights=wins[members])
        assert report["centre"][c] == pytest.approx(centre)
        expected = (centre - FRAME.to_numpy().mean(axis=0)) / FRAME.to_numpy().std(axis=0, ddof=1)
        assert profile.loc[c].to_numpy() == pytest.approx(expected)


def test_a_report_needs_a_fitted_model():
    for method in (IDAT().cluster_report, IDAT().cluster_profile):
        with pytest.raises(NotFittedError):
            method()


def test_pandas_may_be_missing(monkeypatch):
    model = IDAT().fit(FRAME.to_numpy())
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "everclust\[report\]"'):
        model.cluster_report()
