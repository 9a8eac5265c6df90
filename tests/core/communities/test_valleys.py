import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from everclust.core.communities import valleys
from everclust.core.communities.boundaries import measure_boundaries
from everclust.core.communities.finest_groups import finest
from everclust.core.communities.linked_nodes import base_nodes, compact, links_of
from everclust.core.communities.louvain import new_graph
from everclust.core.communities.path import merge_down
from everclust.core.layout import NO_CLUSTER
from everclust.core.learn import learn
from everclust.core.state import new_state
from oracles import valleys as slow
from support.graphs import near_ones
from support.jit_mode import PLAIN
from support.slow import others_slow

EXAMPLES = 20 if PLAIN else 100
TRIANGLES = [(0, 1, 5), (0, 2, 5), (1, 2, 5), (2, 3, 1), (3, 4, 5), (3, 5, 5), (4, 5, 5)]


@pytest.fixture
def labels(model):
    def find(position, handover, **fields):
        position = np.array(position, float).reshape(len(position), -1)
        usage = fields.pop("usage", [2] * len(position))
        state = model(position, handover=handover, usage=usage, n_seen=10**6, **fields)
        base = base_nodes(state)
        return valleys.base_labels(state, base, links_of(state, base)).tolist()

    return find


def blobs(rng, n, centres, d=2):
    centre = np.array(centres, float)
    return centre[rng.integers(0, len(centre), n)] + rng.normal(size=(n, d))


def read_out(X):
    state = learn(new_state(X.shape[1]), X)
    base = base_nodes(state)
    return state, base, valleys.base_labels(state, base, links_of(state, base))


def test_two_triangles_far_apart(labels):
    assert labels([0, 1, 2, 50, 51, 52], TRIANGLES) == [0, 0, 0, 1, 1, 1]


def test_fewer_than_three_linked_nodes_are_one_cluster(labels):
    assert labels([0, 1, 50, 60], [(0, 1, 9)]) == [0, 0, 0, 0]


def test_one_group_is_one_cluster(labels):
    assert labels([0, 1, 2], [(0, 1, 5), (0, 2, 5), (1, 2, 5)]) == [0, 0, 0]


def test_nodes_without_links_join_the_nearest(labels):
    assert labels([0, 1, 2, 50, 51, 52, 40, 7], TRIANGLES) == [0, 0, 0, 1, 1, 1, 1, 0]


def test_clusters_are_numbered_by_their_lowest_linked_nodes(labels):
    turned = [(5 - j, 5 - i, n) for i, j, n in TRIANGLES]
    assert labels([52, 51, 50, 2, 1, 0], sorted(turned)) == [0, 0, 0, 1, 1, 1]


def test_the_metric_counts(labels):
    """A feature without weight separates nothing: the answer is that of the other feature alone."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=(6, 1)) + np.repeat([0, 30], 3)[:, None]
    noisy = np.hstack([y, 1e3 * rng.normal(size=(6, 1))])
    assert labels(noisy, TRIANGLES, weight=[1, 1e-12]) == labels(y, TRIANGLES)


@pytest.mark.parametrize("seed", others_slow(range(4), now=[0]))
def test_clusters_that_are_far_apart_are_found(seed):
    rng = np.random.default_rng(seed)
    centres = np.array([[0, 0], [40, 0], [0, 40], [40, 40]])
    X = blobs(rng, 800, centres)
    state, base, label = read_out(X)
    truth = np.linalg.norm(state.prototype[base][:, None] - centres, axis=2).argmin(axis=1)
    assert len(set(label.tolist())) == 4
    # A node from the beginning may lie between them.
    n_right = sum(np.bincount(truth[label == c]).max() for c in range(4))
    assert n_right >= 0.9 * len(base)


def test_numberings(compiled):
    # Fractions of multiples of the golden ratio: 0, .618, .236, .854, .472, .090.
    numbering = compiled(valleys.numbering)
    assert numbering(6, 0).tolist() == [0, 1, 2, 3, 4, 5]
    assert numbering(6, 1).tolist() == [0, 4, 2, 5, 3, 1]
    turns = {tuple(numbering(100, turn).tolist()) for turn in range(valleys.MOST_NUMBERINGS)}
    assert len(turns) == valleys.MOST_NUMBERINGS
    assert all(sorted(turn) == list(range(100)) for turn in turns)


def modular_groups(position, links, compiled, turn=0):
    """Louvain's groups in one of the orders."""
    n = len(position)
    graph = compiled(new_graph)(links, n)
    return compiled(valleys.modular_groups)(graph, compiled(valleys.numbering)(n, turn))


def test_the_best_of_several_numberings_is_taken(compiled):
    """One cloud, in which Louvain finds other groups in another order."""
    rng, n = np.random.default_rng(0), 100
    position = rng.normal(size=(n, 3))
    links, before = near_ones(rng, position, 6), np.full(n, NO_CLUSTER)
    g, answers = np.bincount(links[:, :2].ravel(), np.repeat(links[:, 2], 2), n), {}
    nodes = valleys.Nodes(position, links, g, before)
    for turn in range(valleys.MOST_NUMBERINGS):
        group = modular_groups(position, links, compiled, turn)
        group, n_groups = compiled(finest)(position, links, group)
        cut = compiled(measure_boundaries)(position, links, g, group, n_groups)
        levels = compiled(merge_down)(nodes, cut, group)
        answers[levels.score.max()] = levels.group[levels.score.argmax()].tolist()
    assert list(answers).index(max(answers)) > 0  # the first numbering is not the best
    label = valleys.find_clusters(position, np.ones(3), links, before, 1.0, *without_ends(position))
    assert label.tolist() == renamed(answers[max(answers)])


def test_groups_that_were_tried_are_known_by_any_name(compiled):
    tried = np.empty((3, 4), int)
    assert not compiled(valleys.is_repeated)(tried, 0, np.array([0, 0, 1, 2]))
    assert not compiled(valleys.is_repeated)(tried, 1, np.array([0, 0, 1, 1]))
    assert compiled(valleys.is_repeated)(tried, 2, np.array([5, 5, 3, 0]))


@given(seed=st.integers(0, 2**32), n=st.integers(20, 120), scale=st.sampled_from([2.0**-9, 2.0, 2.0**20]))
def test_units_do_not_matter(seed, n, scale):
    """And labels run from 0 in the order of the lowest linked nodes."""
    X = np.random.default_rng(seed).normal(size=(n, 2)) * 100
    _, _, label = read_out(X)
    assert np.array_equal(read_out(X * scale)[2], label)
    assert sorted(set(label.tolist())) == list(range(label.max() + 1))


# ---- Against the slow rules ----


def as_pairs(links):
    return {(i, j): count for i, j, count in links.tolist()}


def renamed(labels):
    """Numbered in the order in which they come."""
    number = {c: n for n, c in enumerate(dict.fromkeys(labels))}
    return [number[c] for c in labels]


def without_ends(position):
    """Wins, and how many make a node without hand-overs a cluster: ends.py has its own tests."""
    return np.ones(len(position), np.int64), np.inf


def check(position, usage, links, weight, before, known):
    """The compiled answer is that of the slow rules."""
    label = valleys.find_clusters(position, weight, links, before, known, *without_ends(position))
    pairs = as_pairs(links)
    expected = slow.read_out(position.tolist(), usage, pairs, weight.tolist(), before.tolist(), known)
    assert renamed(label.tolist()) == renamed(expected)


@st.composite
def graphs(draw):
    """Nodes in clumps, linked with near ones, some not at all; and what they were called before."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d, n_clumps = draw(st.integers(3, 40)), draw(st.integers(1, 4)), draw(st.integers(1, 6))
    centre = rng.normal(size=(n_clumps, d)) * draw(st.sampled_from([1, 4, 20]))
    position = centre[rng.integers(n_clumps, size=n)] + rng.normal(size=(n, d))
    away = np.linalg.norm(position[:, None] - position, axis=2)
    near = np.argsort(away, axis=1)[:, 1 : 1 + draw(st.integers(1, 4))]
    pairs = sorted({tuple(sorted((i, int(j)))) for i in range(n) for j in near[i] if rng.random() < 0.9})
    links = np.array([(i, j, rng.integers(1, 40)) for i, j in pairs], np.int64).reshape(-1, 3)
    n_before = draw(st.integers(0, 4))
    before = rng.integers(-1, n_before, size=n) if n_before else np.full(n, -1)
    known = draw(st.sampled_from([0.0, 0.5, 1.0]))
    return position, links, rng.uniform(0.2, 1, d), compact(before), known


@settings(max_examples=EXAMPLES)
@given(graphs())
def test_graphs_against_the_slow_rules(graph):
    position, links, weight, before, known = graph
    check(position, [2] * len(position), links, weight, before, known)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_noise_with_few_hand_overs_against_the_slow_rules(seed):
    """About nine for each of 600 nodes: levels follow from the previous answer, too."""
    rng, n = np.random.default_rng(seed), 600
    position = rng.normal(size=(n, 8))
    links = near_ones(rng, position, 3)
    links[:, 2] = 1 + rng.poisson(5500 / len(links) - 1, len(links))
    assert 5000 < links[:, 2].sum() < 6000
    before = (position[:, 0] > 0) + 2 * (position[:, 1] > 0)
    before[n - 60 :] = NO_CLUSTER
    check(position, [2] * n, links, np.ones(8), compact(before), 1.0)


@pytest.mark.parametrize("order", ["shuffled", "class by class"])
def test_digits_against_the_slow_rules(order):
    X, y = load_digits(return_X_y=True)
    if order == "class by class":
        X = X[np.argsort(y, kind="stable")]
    n = 150 if PLAIN else len(X)
    state = learn(new_state(64), np.ascontiguousarray(X[:n]))
    base = base_nodes(state)
    before = np.full(len(base), -1)
    for _ in range(2):  # without an answer before, and with one that is nearly the same
        links = links_of(state, base)
        check(state.prototype[base], [2] * len(base), links, state.weight, before, 0.5)
        before = valleys.base_labels(state, base, links) // 2
