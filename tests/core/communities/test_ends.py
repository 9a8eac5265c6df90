"""Hand-overs beyond the end of clusters, and clusters of one node: by hand, and against the slow rules."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from everclust import EverClust
from everclust.core.communities.ends import fewest_of_cluster
from everclust.core.communities.linked_nodes import base_of
from everclust.core.state import scalars_of
from everclust.model.ids.read_communities import read_communities
from oracles import valleys as slow
from support.jit_mode import PLAIN

N_SEEN, N_CLUSTERS = 8000, 10.0  # a node that won 100 samples may be a cluster


@pytest.fixture
def state_of(model):
    """Nodes that won so many samples, with hand-overs, and clusters that end at a distance."""

    def make(position, wins, handover, end, **fields):
        position = np.array(position, float).reshape(len(wins), -1)
        fields["usage"] = np.full(len(wins), 2)
        state = model(position, wins=wins, handover=handover, n_seen=N_SEEN, **fields)
        scalars_of(state).cluster_end = end
        scalars_of(state).n_clusters = N_CLUSTERS if end else 0.0
        return state

    return make


def links(state):
    return base_of(state).links.tolist()


def groups(state):
    return read_communities(state).group.tolist()


CHAIN = [(0, 1, 5), (1, 2, 5), (2, 3, 5)]


def test_without_an_end_all_hand_overs_count(state_of):
    state = state_of([0, 9, 18, 27], [500, 500, 500, 500], CHAIN, 0.0)
    assert fewest_of_cluster(state) == np.inf
    assert len(links(state)) == 3


def test_no_hand_over_leads_from_one_cluster_to_another(state_of):
    state = state_of([0, 2, 9, 11], [500, 500, 500, 500], CHAIN, 5.0)
    assert fewest_of_cluster(state) == 100
    assert links(state) == [[0, 1, 5], [2, 3, 5]]


def test_the_end_itself_is_within(state_of):
    assert len(links(state_of([0, 5, 10, 15], [500, 500, 500, 500], CHAIN, 5.0))) == 3


def test_distances_are_weighted(state_of):
    state = state_of([0, 9, 18, 27], [500] * 4, CHAIN, 5.0, weight=[0.25])
    assert len(links(state)) == 3


def test_light_nodes_may_be_of_a_wide_cluster(state_of):
    """Hand-overs are left out where one of the nodes alone could be a cluster."""
    assert links(state_of([0, 9, 18, 27], [99, 99, 100, 99], CHAIN, 5.0)) == [[0, 1, 5]]


def test_a_node_may_be_a_cluster(state_of):
    state = state_of(
        [0, 1, 2, 50, 90], [100] * 5, [(0, 1, 5), (0, 2, 5), (1, 2, 5), (2, 3, 9), (3, 4, 7)], 5.0
    )
    assert groups(state) == [0, 0, 0, 1, 2]


def test_light_ones_go_with_the_nearest_labelled_node(state_of):
    handover = [(0, 1, 5), (0, 2, 5), (1, 2, 5), (2, 3, 9)]
    state = state_of([0, 1, 2, 50, 40, 20], [100, 100, 100, 100, 99, 99], handover, 5.0)
    assert groups(state) == [0, 0, 0, 1, 1, 0]


def test_all_nodes_may_be_clusters(state_of):
    assert groups(state_of([0, 9, 18, 27], [100, 100, 100, 99], CHAIN, 5.0)) == [0, 1, 2, 2]


def test_two_linked_nodes_and_one_alone_are_two_clusters(state_of):
    assert groups(state_of([0, 2, 18], [100, 100, 100], [(0, 1, 5), (1, 2, 5)], 5.0)) == [0, 0, 1]


@given(seed=st.integers(0, 2**32), end=st.sampled_from([1.0, 4.0, 12.0]))
def test_against_the_slow_rules(seed, end, state_of):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(3, 30), rng.integers(1, 4)
    position = 12.0 * rng.integers(0, 3, size=(n, d)) + rng.normal(size=(n, d))
    wins, weight = rng.integers(50, 200, n), rng.uniform(0.3, 1.0, d)
    away = np.linalg.norm(position[:, None] - position, axis=2)
    near = np.argsort(away, axis=1)[:, 1:5]
    pairs = {tuple(sorted((i, int(j)))) for i in range(n) for j in near[i] if rng.random() < 0.7}
    handover = [(i, j, int(rng.integers(1, 40))) for i, j in sorted(pairs)]
    state = state_of(position, wins, handover, end, weight=weight)
    w = {(i, j): count for i, j, count in handover}
    ends = slow.Ends(end, N_CLUSTERS, wins.tolist(), N_SEEN)
    expected = slow.read_out(position.tolist(), [2] * n, w, weight.tolist(), ends=ends)
    ours = np.unique(groups(state), return_inverse=True)[1]
    assert (np.equal.outer(ours, ours) == np.equal.outer(expected, expected)).all()


@pytest.mark.skipif(PLAIN, reason="takes minutes without the compiler")
@pytest.mark.parametrize(("n_features", "n_clusters"), [(50, 30), (20, 100)])
def test_many_clusters_in_many_dimensions_are_found(n_features, n_clusters):
    """Most have a node or two, which hand over to other clusters."""
    X, y = make_blobs(5000, n_features, centers=n_clusters, random_state=0)
    assert adjusted_rand_score(y, EverClust().fit(X).labels_) > 0.9
