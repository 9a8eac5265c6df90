"""The nearest nodes vote on the cluster of a sample."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.core.communities import voting
from everclust.core.readout import ReadOut, read_out
from everclust.jit.blocks import pack
from oracles import valleys as valley_oracle

A, B, C = 7, 3, 5  # ids


@pytest.fixture
def label(model):
    """The cluster of a point among nodes."""

    def find(nodes, clusters, x, weights=None, share=None):
        nodes = [list(map(float, np.atleast_1d(node))) for node in nodes]
        state = model(nodes, n_seen=10, weight=weights)
        candidates = read_out(state, np.arange(len(nodes)), by_scale=False)
        share = np.ones(len(nodes)) if share is None else np.array(share)
        return voting.predict_by_vote(
            candidates, np.array(clusters), share, np.array([np.atleast_1d(x)], float)
        )[0]

    return find


def test_how_many_are_asked():
    n_nodes = [1, 2, 3, 4, 5, 8, 9, 1000, 1024, 1025]
    assert [voting.n_neighbours(n) for n in n_nodes] == [1, 2, 3, 3, 4, 4, 5, 11, 11, 12]


def test_two_near_ones_outvote_the_nearest(label):
    """Of five nodes, four are asked. From .95 they are .95, 1.05, 1.25 and 4.05 away."""
    nodes, clusters = [0, 2, 2.2, 5, 9], [A, B, B, C, C]
    # A has 4.05/.95 − 1 = 3.26 votes, B has 2.86 + 2.24, and C, the farthest one asked, has none.
    assert label(nodes, clusters, 0.95) == B
    # From .5 they are .5, 1.5, 1.7 and 4.5 away: 8 against 2 + 1.65.
    assert label(nodes, clusters, 0.5) == A


def test_a_node_speaks_with_the_share_that_stays_in_its_cluster(label):
    nodes, clusters = [0, 2, 2.2, 5, 9], [A, B, B, C, C]
    assert label(nodes, clusters, 0.95, share=[1, 0.6, 0.6, 1, 1]) == A  # 3.26 against 1.71 + 1.34
    assert label(nodes, clusters, 0.95, share=[0.6, 0.6, 0.6, 1, 1]) == B
    assert label(nodes, clusters, 0.95, share=[0, 0, 0, 0, 0]) == A  # no node has a weight: the nearest


def test_vote_weights():
    """Node 0 hands over 6 to its own cluster and 2 to another; node 3 to others alone; node 4 to none."""
    links = np.array([(0, 1, 6), (0, 2, 2), (2, 3, 5)])
    cluster = np.array([A, A, B, C, A])
    assert voting.vote_weights(links, cluster).tolist() == [0.75, 1, 0, 0, 1]
    assert voting.vote_weights(links[:0], cluster).tolist() == [1] * 5


def test_who_is_met_is_followed(label):
    assert label([0, 0.1, 0.2, 0.3, 9], [A, B, B, B, B], 0) == A


def test_one_or_two_nodes(label):
    assert label([4], [A], 100) == A
    assert label([0, 10], [A, B], 6) == B
    assert label([0, 10], [A, B], 5) == A  # no node has a weight: the nearest, the lowest on ties


def test_ties_go_to_the_nearer(label):
    """From 0 they are 1, 2, 2 and 4 away; 4/1 − 1 = 3 against 1 + 1, but 1 + 1 + 1 against 3."""
    nodes = [1, -2, 2, -4, 40, 50, 60, 70]
    assert label(nodes, [A, B, B, C, C, C, C, C], 0) == A
    nodes = [1, -2, 2, -2, 4, 50, 60, 70, 80]
    assert label(nodes, [A, B, B, B, C, C, C, C, C], 0) == A


def test_distances_are_those_of_the_metric(label):
    nodes, clusters = [[0, 3], [2, 0]], [A, B]
    assert label(nodes, clusters, [0, 0]) == B
    assert label(nodes, clusters, [0, 0], weights=[1, 0.25]) == A


@given(st.integers(0, 2**32), st.integers(1, 300), st.integers(1, 4), st.integers(1, 5))
def test_against_the_slow_rule(seed, n, d, n_clusters):
    """On a grid, where distances are exact and often equal."""
    rng = np.random.default_rng(seed)
    nodes, clusters = rng.integers(-9, 10, (n, d)).astype(float), rng.integers(n_clusters, size=n)
    X = rng.integers(-9, 10, (20, d)).astype(float)
    candidates = ReadOut(pack(nodes), np.ones(len(nodes)), np.arange(n), np.empty(0))
    share = rng.integers(0, 5, n) / 4
    expected = [valley_oracle.vote(nodes.tolist(), clusters.tolist(), share, x) for x in X.tolist()]
    assert voting.predict_by_vote(candidates, clusters, share, X).tolist() == expected
