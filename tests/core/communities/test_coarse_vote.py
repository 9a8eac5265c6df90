"""The vote by coarse bounds has the answers of the exact one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.core.coarse import coarse_copy
from everclust.core.communities.coarse_vote import predict_by_coarse_vote
from everclust.core.communities.voting import Voters, predict_by_vote
from everclust.core.readout import ReadOut
from everclust.jit.blocks import LANES, pack
from support.candidates import candidates_and_rows

#: Where nothing is compiled, NumPy warns of rows that are too far for float32 and of empty lanes.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid|divide):RuntimeWarning")


def assert_same(read_out, cluster, weight, X):
    expected = predict_by_vote(read_out, cluster, weight, X)
    found = predict_by_coarse_vote(read_out, coarse_copy(read_out), Voters(cluster, weight), X)
    assert found.tolist() == expected.tolist()


@given(candidates_and_rows(), st.integers(0, 2**32), st.integers(1, 6))
def test_labels_are_those_of_the_exact_vote(drawn, seed, n_clusters):
    read_out, X = drawn
    rng, n = np.random.default_rng(seed), len(read_out.node)
    cluster = 7 * rng.integers(n_clusters, size=n)  # ids have gaps
    assert_same(read_out, cluster, rng.integers(0, 5, n) / 4, X)
    in_halves = np.where(np.arange(n) < n // 2, 3, 9)
    assert_same(read_out, in_halves, np.ones(n), X)


def test_the_bounds_decide_where_they_can():
    """The exact copy is spoilt: rows that are measured would get another answer."""
    nodes = np.array([[float(x), 0.0] for x in range(20)])
    read_out = ReadOut(pack(nodes), np.ones(LANES), np.arange(20), np.empty(0))
    spoilt = read_out._replace(blocks=pack(-nodes - 40.0 * np.arange(20)[::-1, None]))
    voters = Voters(np.repeat([4, 2], 10), np.ones(20))
    X = np.array([[1.3, 0.1], [7.8, 0.1], [9.0, 1e-5], [11.2, 0.1], [18.0, 0.1]])  # in, near and across
    assert predict_by_coarse_vote(spoilt, coarse_copy(read_out), voters, X).tolist() == [4, 4, 4, 2, 2]


@pytest.mark.parametrize("n_nodes", [33, 40, 100])
def test_more_candidates_within_the_limit_than_voters(n_nodes):
    """All nodes are equally far from the origin, and half of them are of either cluster."""
    angle = np.linspace(0, 2 * np.pi, n_nodes, endpoint=False)
    nodes = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    blocks, X = pack(nodes), np.array([[0.0, 0], [1e-9, 0], [0.5, 0.1]])
    read_out = ReadOut(blocks, np.ones(len(blocks) * LANES), np.arange(n_nodes), np.empty(0))
    assert_same(read_out, np.arange(n_nodes) % 2, np.ones(n_nodes), X)
