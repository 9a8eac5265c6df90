import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.core.communities import communities
from everclust.core.communities.communities import by_modularity, links_of
from oracles import handover as slow

# The graphs of test_handover_oracle.py, where the answers are worked out.
TRIANGLES = {(0, 1): 5, (0, 2): 5, (1, 2): 5, (2, 3): 1, (3, 4): 5, (3, 5): 5, (4, 5): 5}
FOUR_PAIRS = {(0, 1): 4, (2, 3): 4, (4, 5): 4, (6, 7): 4}
FRAGMENT = {(0, 1): 5, (0, 2): 5, (1, 2): 5, (2, 3): 1, (3, 4): 6, (3, 5): 6, (4, 5): 6, (6, 7): 1}


def rows(w):
    return np.array([(i, j, n) for (i, j), n in w.items()], np.int64).reshape(-1, 3)


@pytest.fixture
def graph(compiled):
    return lambda w, n: compiled(communities.new_graph)(rows(w), n)


@pytest.fixture
def louvain(compiled, graph):
    """Groups from 0 in the order of their labels."""

    def find(w, n):
        group = compiled(communities.louvain)(graph(w, n))
        return slow.numbered(group.tolist())

    return find


@pytest.fixture
def labels(model):
    """What `by_modularity` makes of nodes on a line, or anywhere."""

    def find(y, w, usage=None, weight=None):
        y = np.array(y, float).reshape(len(y), -1)
        handover = [(i, j, n) for (i, j), n in sorted(w.items())]
        state = model(
            y, handover=handover, usage=usage or [2] * len(y), weight=weight, n_seen=10**6, interval=2
        )
        base = communities.base_nodes(state)
        return by_modularity(state, base, links_of(state, base)).tolist()

    return find


@st.composite
def graphs(draw):
    n = draw(st.integers(3, 12))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda ij: ij[0] < ij[1])
    w = draw(st.dictionaries(pairs, st.integers(1, 6), min_size=2, max_size=25))
    return w, n


# ---- 1. Who takes part ----


def test_the_base_is_of_nodes_used_more_than_once(model):
    assert communities.base_nodes(model([[0], [1], [2], [3]], usage=[1, 2, 1, 5])).tolist() == [1, 3]
    assert communities.base_nodes(model([[0], [1], [2]])).tolist() == [0, 1, 2]


def test_links_to_others_do_not_count(model):
    state = model(
        [[0], [1], [2], [3]], usage=[2, 1, 2, 2], handover=[(0, 1, 5), (0, 2, 3), (2, 3, 1)], n_seen=30
    )
    assert communities.links_of(state, np.array([0, 2, 3])).tolist() == [[0, 1, 3], [1, 2, 1]]


def test_fewer_than_three_linked_nodes_are_one_cluster(labels):
    assert labels([0, 1, 50, 60], {(0, 1): 9}) == [0, 0, 0, 0]
    assert labels([0, 1, 50], {}) == [0, 0, 0]


def test_counts_are_halved_until_their_products_fit():
    count = np.array([2**31, 3, 1])
    halved = communities._bounded(count)
    assert 2 * halved.sum() <= communities.LARGEST_TOTAL
    assert halved.min() >= 1
    assert halved[0] in (2**29, 2**30 // 2)
    assert communities._bounded(np.array([5, 6])).tolist() == [5, 6]


def test_named_by_their_lowest_node():
    group = communities.named_by_lowest(np.array([1, 3, 4, 6]), np.array([0, 1, 0, 1]), 8)
    assert group.tolist() == [0, 1, 2, 3, 1, 5, 3, 7]


# ---- 2. The finest answer ----


def test_graph(graph):
    found = graph({(0, 2): 3, (1, 2): 4}, 4)
    assert found.strength.tolist() == [3, 4, 7, 0]
    assert found.start.tolist() == [0, 1, 2, 4, 4]
    assert sorted(zip(found.other[2:4].tolist(), found.amount[2:4].tolist(), strict=True)) == [(0, 3), (1, 4)]


def test_two_triangles_with_a_bridge(louvain):
    assert louvain(TRIANGLES, 6) == [0, 0, 0, 1, 1, 1]


def test_pairs_that_know_of_each_other_only(louvain):
    assert louvain(FOUR_PAIRS, 8) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_ties_go_to_the_lowest_label(louvain):
    # A chain of three with equal links: node 0 joins 1, node 1 stays where it is, node 2 joins them or not.
    assert louvain({(0, 1): 1, (1, 2): 1}, 3) == slow.louvain({(0, 1): 1, (1, 2): 1}, 3)


@given(drawn=graphs())
def test_louvain_on_any_graph(louvain, drawn):
    w, n = drawn
    assert louvain(w, n) == slow.louvain(w, n)


@given(drawn=graphs(), data=st.data())
def test_aggregating_adds_up(compiled, graph, drawn, data):
    w, n = drawn
    number = slow.numbered(data.draw(st.permutations([i % 4 for i in range(n)])))
    found = compiled(communities.aggregate)(graph(w, n), np.array(number), max(number) + 1)
    outer, sums = slow.aggregate(w, slow.strengths(w, n), number)
    assert found.strength.tolist() == sums
    seen = {}
    for a in range(len(sums)):
        for e in range(found.start[a], found.start[a + 1]):
            seen[a, int(found.other[e])] = int(found.amount[e])
    assert seen == {**outer, **{(b, a): count for (a, b), count in outer.items()}}


def test_groups_are_closed_up(compiled):
    group = np.array([7, 2, 7, 5])
    assert compiled(communities.close_up)(group, np.arange(4)) == 3
    assert group.tolist() == [2, 0, 2, 1]
    group = np.array([7, 2, 7, 5])
    assert compiled(communities.close_up)(group, np.array([0, 2, 3])) == 2  # node 1 is not asked
    assert group.tolist() == [1, 2, 1, 0]


# ---- 3. Coarser answers ----


@pytest.fixture
def path(compiled, graph):
    """All levels down to two groups, each numbered from 0."""

    def walk(w, finest):
        n_groups = max(finest) + 1
        found = compiled(communities.new_path)(graph(w, len(finest)), np.array(finest), n_groups)
        level, levels, gains = list(finest), [list(finest)], []
        for _ in range(n_groups - 2):
            a, b = compiled(communities.best_pair)(found)
            gains.append(int(found.gain[a, b]))
            compiled(communities.merge)(found, a, b)
            level = [a if c == b else c for c in level]
            levels.append(slow.numbered(level))
        return levels, gains

    return walk


def test_the_first_pair_by_hand(path):
    # See test_a_far_fragment_without_links_is_absorbed_first: the pair goes to the first triangle for 62.
    levels, gains = path(FRAGMENT, [0, 0, 0, 1, 1, 1, 2, 2])
    assert levels[-1] == [0, 0, 0, 1, 1, 1, 0, 0]
    assert gains == [-62]


def test_merge_ties_go_to_the_lowest_pair(path):
    # Four equal pairs: {0, 1} first; then (2, 3), because the merged group weighs twice as much.
    levels, _ = path(FOUR_PAIRS, [0, 0, 1, 1, 2, 2, 3, 3])
    assert levels[1:] == [[0, 0, 0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1, 1, 1]]


def test_a_union_may_become_the_best_partner(compiled):
    # Group 0 gains 3 with group 3, and 2 with either of 1 and 2. Those merge first, for 9: then it is 4.
    gain = np.array([[0, 2, 2, 3], [2, 0, 9, 1], [2, 9, 0, 1], [3, 1, 1, 0]])
    path = communities.Path(gain, np.ones(4, bool), np.array([3, 2, 3, -1]))
    assert compiled(communities.best_pair)(path) == (1, 2)
    compiled(communities.merge)(path, 1, 2)
    assert compiled(communities.best_pair)(path) == (0, 1)
    assert path.gain[0, 1] == 4


@given(drawn=graphs(), data=st.data())
def test_the_path_on_any_graph(path, drawn, data):
    w, n = drawn
    finest = slow.numbered(data.draw(st.permutations([i % 6 for i in range(n)])))
    levels, gains = path(w, finest)
    level = finest
    for found, gain in zip(levels[1:], gains, strict=True):
        expected = slow.merge_gains(w, level)
        best = slow.best_merge(w, level)
        assert gain == expected[best]
        level = slow.merged(level, best)
        assert found == level


# ---- 4. The level ----


@pytest.fixture
def score(compiled):
    """The silhouette of a level."""

    def measure(y, g, level, weight):
        y, n = np.array(y, float).reshape(len(y), -1) * np.sqrt(weight), max(level) + 1
        seating = compiled(communities.new_seating)(np.array(g), np.array(level), n, y)
        return compiled(communities.silhouette)(seating, np.ones(n, bool))

    return measure


def test_silhouette(score):
    # As in test_handover_oracle.py: (3 · 0.95 + 0.8125 + 4) / 8.
    assert score([0, 2, 10], [3, 1, 4], [0, 0, 1], [1.0]) == pytest.approx(7.6625 / 8, rel=1e-15)
    assert score([0, 2, 10, 4], [1] * 4, [0, 0, 1, 2], [1.0]) == (0.75 + 0.5 + 1 + 1) / 4
    assert score([5, 5, 5], [1, 2, 3], [0, 0, 1], [1.0]) == 0
    assert score([0.1, 0.7, 0.8], [3] * 3, [0, 1, 2], [1.0]) == 1
    in_metric = score([[0, 0], [0, 4], [1.5, 0]], [1] * 3, [0, 0, 1], [1.0, 0.25])
    assert in_metric == pytest.approx((1 / 3 + 0.6 + 1) / 3, rel=1e-15)


@given(seed=st.integers(0, 2**32), n=st.integers(3, 15), n_groups=st.integers(2, 5))
def test_seating_together_is_being_seated_anew(compiled, seed, n, n_groups):
    """Also after a few mergers the silhouette is that of the slow rules."""
    rng = np.random.default_rng(seed)
    n_groups = min(n_groups, n)
    level = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, n - n_groups)])
    y, g, weight = rng.normal(size=(n, 2)), rng.integers(1, 9, n), rng.random(2)
    seating = compiled(communities.new_seating)(g, level, n_groups, y * np.sqrt(weight))
    alive = np.ones(n_groups, bool)
    while True:
        now = slow.numbered(seating.group.tolist())
        expected = slow.silhouette(y, g.tolist(), now, weight)
        assert compiled(communities.silhouette)(seating, alive) == pytest.approx(
            expected, rel=1e-9, abs=1e-12
        )
        if alive.sum() == 2:
            return
        a, b = np.sort(rng.choice(np.flatnonzero(alive), 2, replace=False))
        compiled(communities.seat_together)(seating, a, b)
        alive[b] = False


def test_the_level_where_nodes_sit_best(labels):
    assert labels([0, 1, 2, 3, 100, 101, 102, 103], FOUR_PAIRS) == [0, 0, 0, 0, 1, 1, 1, 1]
    assert labels([0, 1, 20, 21, 40, 41, 60, 61], FOUR_PAIRS) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_of_equal_levels_the_finer_is_chosen(labels):
    assert labels([3] * 8, FOUR_PAIRS) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_merges_that_still_gain_are_not_scored(compiled, graph):
    # Six nodes alone, two triangles: nothing is scored before two groups are left. See the slow rules.
    group = np.arange(6)
    y = np.array([[0.0], [50], [1], [90], [7], [8]])  # six groups of one would score 1
    compiled(communities.choose_level)(graph(TRIANGLES, 6), group, 6, np.arange(6), y, np.ones(1))
    assert slow.numbered(group.tolist()) == [0, 0, 0, 1, 1, 1]


# ---- 5. Nodes without links ----


def test_nodes_without_links_join_the_nearest_in_the_metric(labels):
    y = [[0, 0], [0, 2], [6, 8], [6, 10], [4, 3], [4, 4]]
    usage, w = [2, 2, 2, 2, 2, 1], {(0, 1): 5, (2, 3): 5, (4, 5): 9, (0, 5): 9}
    assert labels(y, w, usage, [1.0, 1.0]) == [0, 0, 1, 1, 0]
    assert labels(y, w, usage, [1.0, 0.25]) == [0, 0, 1, 1, 1]


def test_of_equally_near_linked_nodes_the_lowest_decides(labels):
    for y in ([0, 1, 10, 9, 5], [10, 9, 0, 1, 5]):
        assert labels(y, {(0, 1): 5, (2, 3): 5}) == [0, 0, 1, 1, 0]


def test_only_linked_nodes_hand_out_their_label(labels):
    assert labels([6, 4.5, 0, 1, 10, 11], {(2, 3): 5, (4, 5): 5}) == [1, 0, 0, 0, 1, 1]


def test_nodes_without_links_need_no_place_among_the_groups(labels):
    """They come after all groups and once were looked up beyond the end of a list of these."""
    labels_found = labels([0, 1, 2, 10, 11, 12, 30, 40, 50], TRIANGLES)
    assert labels_found == [0, 0, 0, 1, 1, 1, 1, 1, 1]


# ---- All of it ----


@given(drawn=graphs(), seed=st.integers(0, 2**32), d=st.integers(1, 3))
def test_the_read_out_of_any_graph(labels, drawn, seed, d):
    """Far apart places, so that silhouettes are not equal by chance."""
    w, n = drawn
    rng = np.random.default_rng(seed)
    y, weight = rng.normal(size=(n, d)) * 10, rng.uniform(0.1, 1.0, d).tolist()
    usage = rng.integers(1, 4, n).tolist()
    expected = slow.read_out(y, usage, w, weight)
    base = slow.candidates(usage)
    found = labels(y, w, usage, weight)
    assert slow.numbered([found.index(c) for c in found]) == slow.numbered(
        [[expected[k] for k in base].index(expected[k]) for k in base]
    )
