"""The metric, its bandwidth, and a search that is as good as a plain one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from everclust.baselines.cim import cim as c
from everclust.baselines.cim import search as search
from everclust.baselines.cim.diversity import add_row
from everclust.baselines.graph.graph import new_graph
from everclust.core.nearest import insert
from everclust.jit.compile import kernel
from oracles.baselines import cim as oracle
from support.jit_mode import PLAIN

pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered")  # as it should be; only if PLAIN
WEIGHTS = np.array([[0.1, 0.5], [0.9, 0.6], [1.0, 0.9]])


def nodes_at(weights):
    """Nodes that stand there."""
    room = -(-len(weights) // 64) * 64
    nodes = c.new_nodes(weights.shape[1], room)
    place_all(nodes, new_graph(nodes=room), np.ascontiguousarray(weights, dtype=float))
    return nodes


@kernel
def place_all(nodes, graph, weights):
    for k in range(weights.shape[0]):
        c.add(nodes, graph, weights[k], 1.0)


@kernel
def both_ways(nodes, n, x, scale):
    """The two nearest by the search and by a plain one."""
    plain = (search.NONE, search.NONE, np.inf, np.inf)
    for k in range(n):
        plain = insert(plain, k, c.cim(x, nodes.weight[k], scale))
    return search.nearest_two(nodes, n, x, scale, search.new_scratch(nodes)), plain


@kernel
def rough_and_exact(nodes, n, x, scale, rough, exact):
    scratch = search.new_scratch(nodes)
    search.coarse_similarities_to_all(nodes, n, x, scale, scratch)
    for k in range(n):
        rough[k] = scratch.similarity[k]
        exact[k] = (1.0 - c.cim(x, nodes.weight[k], scale) ** 2) * x.shape[0]


@kernel
def gap(nodes, n, scale):
    return search.mean_gap(nodes, n, scale, search.new_scratch(nodes))


@kernel
def log_determinants(nodes, n, scale, out):
    factor, similarity, total = np.zeros((n, (n + 15) // 16 * 16)), np.empty(n), 0.0
    for k in range(n):
        total += add_row(nodes, k, scale, factor, similarity)
        out[k] = total


def width(points, compiled):
    d = points.shape[1]
    return compiled(c.bandwidth)(points, np.arange(len(points)), np.empty(d), np.empty(d))


def test_cim(compiled):
    x = np.zeros(2)
    assert compiled(c.cim)(x, WEIGHTS[0], 1.0) == pytest.approx(0.2474779, abs=5e-8)
    assert compiled(c.cim)(x, WEIGHTS[1], 1.0) == pytest.approx(0.49887522, abs=5e-9)
    assert compiled(c.cim)(x, x, 1.0) == 0.0
    assert compiled(c.cim)(x, np.array([1e140, -1e140]), 1e-300) == 1.0


def test_bandwidth(compiled):
    assert width(WEIGHTS[:2], compiled) == pytest.approx(0.2834822362263465, rel=1e-14)
    assert width(WEIGHTS, compiled) == pytest.approx(0.2920448418024727, rel=1e-14)


def test_bandwidth_of_features_that_do_not_vary(compiled):
    # d = 2: Silverman's factor is 1·n^(−1/6). Spreads are 1e-6 and √2: the median is between them.
    points = np.array([[3.0, 0.0], [3.0, 2.0]])
    assert width(points, compiled) == pytest.approx(2 ** (-1 / 6) * (1e-6 + math.sqrt(2)) / 2, rel=1e-14)
    assert width(points[:1], compiled) == 1e-6


def test_bandwidth_across_features(compiled):
    # d = 3: (4/5)^(1/7) times the standard deviation 2 of 1, 3, 5.
    across = compiled(c.bandwidth_across)
    assert across(np.array([1.0, 3.0, 5.0])) == pytest.approx(0.8 ** (1 / 7) * 2, rel=1e-14)
    assert across(np.array([7.0, 7.0])) == 1e-6
    assert across(np.array([7.0])) == pytest.approx((4 / 3) ** 0.2 * 1e-6, rel=1e-14)


def test_bandwidth_is_never_zero(compiled):
    assert width(np.array([[0.0], [5e-324]]), compiled) > 0.0


@given(seed=st.integers(0, 2**32), n=st.integers(1, 30), d=st.integers(1, 7))
def test_bandwidth_equals_the_specification(seed, n, d, compiled):
    points = np.random.default_rng(seed).normal(size=(n, d)).round(1)
    assert width(points, compiled) == pytest.approx(oracle.bandwidth(points.tolist()), rel=1e-14)


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e6])
def test_a_rough_look_is_as_good_as_it_says(scale):
    far = np.concatenate([np.linspace(0, 8, 1000 if PLAIN else 100_000), np.geomspace(1e-20, 1e130, 300)])
    nodes = nodes_at(scale * far[:, None])
    rough, exact = np.empty(len(far)), np.empty(len(far))
    rough_and_exact(nodes, len(far), np.zeros(1), scale, rough, exact)
    assert np.abs(rough - exact).max() < search.TERM


def test_a_rough_look_is_as_good_as_it_says_of_sums():
    X = np.random.default_rng(0).normal(size=(100, 60 if PLAIN else 900))
    nodes, d = nodes_at(X), X.shape[1]
    rough, exact = np.empty(len(X)), np.empty(len(X))
    for scale in (1e-3, 0.1, 1.0, 10.0, 1e3):
        rough_and_exact(nodes, len(X), X[7], scale, rough, exact)
        assert np.abs(rough - exact).max() < d * (search.TERM + d * search.ROUNDING)
        assert exact[7] == d


@given(
    seed=st.integers(0, 2**32),
    n=st.integers(1, 150),
    d=st.integers(1, 9),
    decimals=st.sampled_from([0, 1, 4, 12]),
    scale=st.sampled_from([1e-6, 0.1, 1.0, 30.0, 1e5]),
)
def test_the_search_equals_a_plain_one(seed, n, d, decimals, scale):
    rng = np.random.default_rng(seed)
    weights = (rng.normal(size=(n, d)) * rng.choice([1.0, 1e-4, 1e3])).round(decimals)
    nodes = nodes_at(weights)
    for x in (weights[rng.integers(n)], rng.normal(size=d).round(decimals)):
        found, plain = both_ways(nodes, n, x, scale)
        assert found == plain


def test_ties_go_to_the_lowest_index():
    nodes = nodes_at(np.array([[5.0], [1.0], [-1.0], [1.0]]))
    assert both_ways(nodes, 4, np.zeros(1), 1.0)[0][:2] == (1, 2)
    # Everything is at CIM 1 when the bandwidth is this small.
    assert both_ways(nodes, 4, np.zeros(1), 1e-6)[0] == (0, 1, 1.0, 1.0)


def test_a_single_node_has_no_second():
    first, second, to_first, to_second = both_ways(nodes_at(WEIGHTS[:1]), 1, np.zeros(2), 1.0)[0]
    assert (first, second, to_second) == (0, search.NONE, math.inf)
    assert 0 < to_first < 1


def test_mean_gap():
    # Minima .37338886, .15650885, .15650885.
    assert gap(nodes_at(WEIGHTS), 3, 1.0) == pytest.approx(0.22880218578964573, rel=1e-14)
    # A node on top of the first: both are at 0 from one another, and the minima of the others stay.
    again = gap(nodes_at(WEIGHTS[[0, 1, 2, 0]]), 4, 1.0)
    assert again == pytest.approx(2 * 0.15650885 / 4, rel=1e-7)
    assert math.isnan(gap(nodes_at(WEIGHTS), 1, 1.0))


def test_determinant():
    found = np.empty(3)
    log_determinants(nodes_at(WEIGHTS), 3, 1.0, found)
    assert_allclose(np.exp(found), [math.e, 3.887448149681685, 2.7952584450210796], rtol=1e-13)


def test_determinant_equals_one_from_scratch():
    X = np.random.default_rng(0).normal(size=(60, 3))
    nodes, found = nodes_at(X), np.empty(60)
    log_determinants(nodes, 60, 0.7, found)
    away = [[oracle.cim(a, b, 0.7) for b in X] for a in X]
    matrix = np.exp(1 - np.array(away))
    expected = [np.linalg.slogdet(matrix[:k, :k]).logabsdet for k in range(1, 61)]
    assert_allclose(found, expected, rtol=1e-10)


def test_nodes_that_coincide_have_no_determinant():
    X = np.random.default_rng(0).normal(size=(40, 3)) * 100
    X[30] = X[3]
    found = np.empty(31)
    log_determinants(nodes_at(X), 31, 1.0, found)
    assert found[29] > 10
    assert found[30] == -np.inf
