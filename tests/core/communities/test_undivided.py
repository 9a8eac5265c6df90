import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everclust.core.communities import undivided, valleys
from everclust.core.communities.boundaries import new_cut, sort_by_group
from everclust.core.communities.linked_nodes import base_nodes, links_of
from everclust.core.layout import NO_CLUSTER
from everclust.core.learn import learn
from everclust.core.state import new_state
from oracles import valleys as slow
from support.jit_mode import PLAIN
from support.slow import others_slow


def nodes_of(position, links, before=None):
    position, links = np.array(position, float).reshape(len(position), -1), np.array(links)
    g = np.bincount(links[:, :2].ravel(), np.repeat(links[:, 2], 2), len(position))
    return valleys.Nodes(
        position, links, g, np.full(len(position), NO_CLUSTER) if before is None else np.array(before)
    )


@pytest.fixture(scope="module")
def united(compiled):
    """The compiled answer, which is that of the slow rules."""

    def find(nodes, group, known=1.0):
        found = compiled(undivided.unite_open)(nodes, np.array(group), known).tolist()
        pairs = {(i, j): count for i, j, count in nodes.links.tolist()}
        expected = slow.unite_open(nodes.position.tolist(), pairs, group, nodes.before.tolist(), known)
        assert [found.index(c) for c in found] == [expected.index(c) for c in expected]
        return found

    return find


def chain(counts):
    """Nodes on a line, one apart, that hand over to their neighbours."""
    return np.arange(len(counts) + 1.0), [(i, i + 1, count) for i, count in enumerate(counts)]


THIRDS = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]


def test_parts_without_a_valley_are_called_like_the_lowest(compiled):
    name = np.arange(5)
    for a, b, expected in ((0, 4, [0, 1, 2, 3, 0]), (2, 4, [0, 1, 0, 3, 0]), (1, 3, [0, 1, 0, 1, 0])):
        compiled(undivided.unite_names)(name, a, b)
        assert name.tolist() == expected


def test_an_even_line_is_one_cluster(united):
    """E of a third: 3 · 40 / (√12 · s), s² = 5/4 or a little less as its ends hand over less, + 1/12."""
    position, links = chain([40] * 11)
    assert len(set(united(nodes_of(position, links), THIRDS))) == 1


def test_a_valley_keeps_all_groups(united):
    """The third group is closed to the second one, so the level stands."""
    position, links = chain([40] * 7 + [10] + [40] * 3)
    assert united(nodes_of(position, links), THIRDS) == THIRDS


def test_a_long_piece_may_hand_over_little_by_chance(united):
    """E is 30.6. There is no clear valley, 25 + 25 > E; 40 + 25 against 40 + 40 is no dip by such counts."""
    position, links = chain([40] * 7 + [25] + [40] * 3)
    assert len(set(united(nodes_of(position, links), THIRDS))) == 1


def test_a_wide_piece_may_not(united):
    """Three groups of four columns and four rows; E is 61.7 and 48 cross, with an error of 24."""
    position, links = grid(12, 4, lambda x: 20 if x != 7 else 12)
    level = [k // 16 for k in range(48)]
    assert united(nodes_of([(x, 2 * y) for x, y in position], links), level) == level
    assert len(set(united(nodes_of([(2 * x, y) for x, y in position], links), level))) == 1


def test_pieces_of_two_lines_are_two_clusters(united):
    """Two lines far apart that never hand over to each other, each cut in two."""
    position, links = chain([40] * 7)
    apart = np.r_[position, position + 100]
    links = [*links, *((i + 8, j + 8, n) for i, j, n in links)]
    group = [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4
    assert united(nodes_of(apart, links), group) == [0] * 8 + [2] * 8


HALVES = [0] * 20 + [1] * 20


def test_what_was_one_stays_one_within_a_standard_error(united):
    """Two halves of a grid: W = 100, with an error of 50, and E is 66.5. Open is W > 1.67 E, 110.8: the
    error times 0.25 suffices, and times 0.1 does not."""
    position, links = grid(10, 4, lambda x: 20 if x != 4 else 25)
    assert united(nodes_of(position, links, [0] * 40), HALVES) == [0] * 40
    assert united(nodes_of(position, links, [0] * 40), HALVES, known=0.25) == [0] * 40
    assert united(nodes_of(position, links, [0] * 40), HALVES, known=0.1) == HALVES
    assert united(nodes_of(position, links, HALVES), HALVES) == HALVES
    assert united(nodes_of(position, links), HALVES) == HALVES


def test_what_was_nearly_as_many_clusters_does_not_become_one(united):
    """Six pieces of a line with a dip at every border: they were five clusters, and one before that."""
    position, links = chain([40 if i % 4 != 3 else 26 for i in range(23)])
    wide = [(2 * x, y) for x in position for y in range(4)]
    links = [(4 * i + y, 4 * j + y, n) for i, j, n in links for y in range(4)]
    links += [(4 * i + y, 4 * i + y + 1, 40) for i in range(24) for y in range(3)]
    pieces = [k // 16 for k in range(96)]
    assert united(nodes_of(wide, links), pieces) == pieces
    assert united(nodes_of(wide, links, np.maximum(np.array(pieces) - 1, 0)), pieces) == pieces
    assert united(nodes_of(wide, links, [0] * 96), pieces) == [0] * 96


def test_few_hand_overs_prove_nothing(united):
    """Ten for each of twelve nodes and one feature are 130."""
    position, links = chain([11] * 11)
    assert united(nodes_of(position, links), THIRDS) == THIRDS
    position, links = chain([12] * 11)
    assert len(set(united(nodes_of(position, links), THIRDS))) == 1


def grid(n_columns, n_rows, count):
    """A grid whose nodes hand over to their neighbours, `count(column)` times from one column to the next."""
    position = [(x, y) for x in range(n_columns) for y in range(n_rows)]
    place = {xy: k for k, xy in enumerate(position)}
    across = [(place[x, y], place[x + 1, y], count(x)) for x, y in position if x + 1 < n_columns]
    return position, across + [(place[x, y], place[x, y + 1], 20) for x, y in position if y + 1 < n_rows]


def test_two_groups_must_be_as_open_as_a_normal_distribution_cut_in_the_middle(united):
    """An even grid cut in two has W = E, which could be two classes that overlap; a ridge is one cloud."""
    halves = [0] * 20 + [1] * 20
    position, links = grid(10, 4, lambda x: 20)
    assert united(nodes_of(position, links), halves) == halves
    position, links = grid(10, 4, lambda x: 5 * (5 - abs(x - 4)) ** 2)
    assert united(nodes_of(position, links), halves) == [0] * 40


def test_a_single_link_does_not_open_a_boundary_of_two_groups(united):
    """Two hubs that hand over to each other, as in many dimensions, with nothing beside them."""
    position, links = grid(10, 4, lambda x: 20 if x != 4 else 0)
    links = [link for link in links if link[2] > 0]
    halves = [0] * 20 + [1] * 20
    nodes = nodes_of(position, [*links, (16, 20, 2000)])
    assert united(nodes, halves) == halves


def test_a_small_piece_does_not_connect_two_groups(united, compiled):
    """Two halves with a valley between them, and one small piece that is open to both."""
    position, links = grid(10, 4, lambda x: 20 if x != 4 else 1)
    links += [(16, 40, 3), (17, 40, 3), (20, 40, 3), (21, 40, 3), (40, 41, 1)]
    level = [0] * 20 + [1] * 20 + [2] * 2
    nodes = nodes_of([*position, (4.5, 0.5), (4.6, 0.5)], links)
    assert united(nodes, level) == level


def test_groups_are_counted_by_what_they_hold(compiled):
    # (Σ m)² / Σ m²: 2, 3, 14400/5401 = 2.7 and 12100/5101 = 2.4.
    few = compiled(undivided.are_few)
    assert few(np.array([50.0, 50]))
    assert not few(np.array([50.0, 50, 50]))
    assert not few(np.array([50.0, 50, 20]))
    assert few(np.array([50.0, 51, 10]))


def test_partners(compiled):
    excess = np.array([[0.0, 2, 3], [2, 0, 2], [3, 2, 0]])

    def find(excess, mass, few):
        return [compiled(undivided.find_partner)(excess, np.array(mass), few, a) for a in range(3)]

    assert find(excess, [1.0, 2, 3], False) == [2, 0, 0]
    assert find(excess, [3.0, 1, 1], True) == [0, 0, 0]
    assert find(excess, [1.0, 1, 1], True) == [0, 0, 0]
    assert find(excess * 0, [1.0, 2, 3], True) == [1, 2, 2]


@pytest.fixture
def dip(compiled):
    def measure(position, links, group):
        nodes = nodes_of(position, links)
        inside = compiled(sort_by_group)(nodes.links, np.array(group), 2)
        x = nodes.position[:, 0].copy()
        return compiled(undivided.dip)(nodes.g, np.array(group), inside, 0, 1, x)

    return measure


def test_dip(dip):
    # g = 4 8 5 | 5 10 6: the planes through the centres, 18/17 and 4 + 1/21, cross {1, 2} and {4, 5}.
    position, links = chain([4, 4, 1, 4, 6])
    between, through, of_between, of_through = dip(position, links, [0, 0, 0, 1, 1, 1])
    assert (between, of_between) == (1, 1)
    assert (through, of_through) == (4, 16)


def test_the_plane_between_two_groups(compiled):
    between = compiled(undivided.between_planes)
    assert between(1.0, 1.0, 4.0, 2.0) == 2
    assert between(0.1, 0.0, 0.7, 2.0) == 0.1
    assert between(0.1, 2.0, 0.7, 0.0) == 0.7
    assert between(1.0, 0.0, 4.0, 0.0) == 2.5


def test_the_plane_through_a_single_node_touches_its_links(dip):
    position, links = chain([4, 4, 3])
    between, through, *_ = dip(position, links, [0, 0, 0, 1])
    assert (between, through) == (3, 3)
    assert dip([0, 1], [(0, 1, 7)], [0, 1])[:2] == (7, 7)


@pytest.fixture
def has_dip(compiled):
    """For three groups of four columns and six rows, 30 hand-overs everywhere but between the groups."""

    def measure(first, second, partner, strictly=False, leeway=0.0):
        between = {3: first, 7: second}
        nodes = nodes_of(*grid(12, 6, lambda x: between.get(x, 30)))
        group = np.arange(72) // 24
        cut = compiled(new_cut)(nodes.position, nodes.links, nodes.g, group, 3)
        inside = compiled(sort_by_group)(nodes.links, group, 3)
        return compiled(undivided.has_dip)(nodes, group, cut, inside, np.array(partner), strictly, leeway)

    return measure


def test_a_dip_is_deeper_than_its_standard_error(has_dip):
    # Twice 6 · 14 against twice 6 · 30, with an error of √(12 · (14² + 30²)), 115: 168 + 115 < 360.
    assert has_dip(14, 14, [1, 0, 1])
    # Twice 6 · 22: 264 + √(12 · (22² + 30²)), 129, is more.
    assert not has_dip(22, 22, [1, 0, 1])


def test_strictly_a_dip_is_deeper_than_two_standard_deviations_of_its_counts(has_dip):
    # 264 + 2 · √(264 + 360), 50, is less than 360; 12 · 26 = 312 and 52 are more.
    assert has_dip(22, 22, [1, 0, 1], strictly=True)
    assert not has_dip(26, 26, [1, 0, 1], strictly=True)


def test_leeway_asks_for_more_standard_errors(has_dip):
    # 168 + 115 < 360, but 168 + 2 · 115 is more; strictly, 264 + 50 < 360, but 264 + 50 + 129 is more.
    assert not has_dip(14, 14, [1, 0, 1], leeway=1.0)
    assert not has_dip(22, 22, [1, 0, 1], strictly=True, leeway=1.0)
    assert has_dip(14, 14, [1, 0, 1], leeway=0.5)


def test_a_boundary_counts_once_for_dips(has_dip):
    # 180 + 60 + √(6 · (30² + 10² + 2 · 30²)), 130, is more than 360; with the second one twice, 451 < 540.
    assert not has_dip(30, 10, [1, 2, 1])
    assert has_dip(30, 10, [2, 2, 1])  # between the outer groups there is a dip, too


@st.composite
def levels(draw):
    """A cloud of nodes, denser or thinner between some groups, cut by the nearest of a few points."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d, n_groups = draw(st.integers(12, 60)), draw(st.integers(1, 3)), draw(st.integers(2, 6))
    position = rng.normal(size=(n, d))
    centre = position[rng.permutation(n)[:n_groups]]
    group = np.linalg.norm(position[:, None] - centre, axis=2).argmin(axis=1)
    near = np.argsort(np.linalg.norm(position[:, None] - position, axis=2), axis=1)[:, 1:5].tolist()
    pairs = sorted({tuple(sorted((i, j))) for i in range(n) for j in near[i]})
    thin = draw(st.sampled_from([0.5, 0.7, 1, 2]))
    links = [(i, j, int(rng.integers(10, 60) * (1 if group[i] == group[j] else thin)) + 1) for i, j in pairs]
    n_before = draw(st.integers(1, 4))
    before = np.where(rng.random(n) < draw(st.sampled_from([0, 0.2, 1])), NO_CLUSTER, group % n_before)
    return nodes_of(position, links, before), group.tolist(), draw(st.sampled_from([0.0, 0.5, 1.0]))


@settings(max_examples=60 if PLAIN else 400)
@given(levels())
def test_levels_against_the_slow_rules(united, level):
    united(*level)


SEEDS = range(1 if PLAIN else 3)


def read_out(X):
    state = learn(new_state(X.shape[1]), X)
    base = base_nodes(state)
    return valleys.base_labels(state, base, links_of(state, base))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", others_slow(["normal", "uniform"], now=["normal"]))
def test_one_cloud_is_one_cluster(make, seed):
    X = getattr(np.random.default_rng(seed), make)(size=(3000, 2))
    assert read_out(X).max() == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_two_clouds_are_two_clusters(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, 2))
    X[:, 0] += 5 * rng.integers(0, 2, 3000)
    assert read_out(X).max() == 1


def test_normal_is_what_crosses_the_middle_of_a_normal_distribution():
    """W is the density φ(0); half of the mass has a standard deviation of √(1 − 2/π)."""
    expected = 0.5 / math.sqrt(12 * (1 - 2 / math.pi))
    assert pytest.approx(1 / math.sqrt(2 * math.pi) / expected) == undivided.NORMAL


def test_the_heaviest_link(compiled):
    nodes = nodes_of(range(4), [(0, 1, 5), (0, 2, 3), (1, 3, 7), (2, 3, 9)])
    cut = compiled(new_cut)(nodes.position, nodes.links, nodes.g, np.array([0, 0, 1, 1]), 2)
    assert cut.heaviest.tolist() == [[0, 7], [7, 0]]
