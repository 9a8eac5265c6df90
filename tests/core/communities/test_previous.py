import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everclust.core.communities import previous, valleys
from everclust.core.communities.levels import Levels
from everclust.core.layout import NO_CLUSTER
from oracles import valleys as slow

KNOWN = [0, 0, 1, 1]
NEW = NO_CLUSTER


def nodes_of(before, links=(), position=None, g=None):
    before, links = np.array(before), np.array(links, np.int64).reshape(-1, 3)
    if g is None:
        g = np.bincount(links[:, :2].ravel(), np.repeat(links[:, 2], 2), len(before)).astype(float)
    position = np.zeros((len(before), 1)) if position is None else position
    return valleys.Nodes(position, links, g, before)


@pytest.fixture
def groups(compiled):
    """Groups of nodes that the previous answer knew and of new ones, by their hand-overs."""

    def find(before, links):
        return compiled(previous.previous_groups)(nodes_of(before, [(0, 1, 9), (2, 3, 9), *links])).tolist()

    return find


def test_known_nodes_stay(groups):
    assert groups([3, 3, 0, 0], []) == [0, 0, 1, 1]
    assert groups(KNOWN, [(0, 2, 50)]) == KNOWN


def test_a_new_node_joins_the_group_that_it_hands_over_most_to(groups):
    assert groups([*KNOWN, NEW], [(1, 4, 3), (2, 4, 2), (3, 4, 2)]) == [*KNOWN, 1]
    assert groups([*KNOWN, NEW], [(1, 4, 4), (2, 4, 2), (3, 4, 2)]) == [*KNOWN, 0]  # the first of equals


def test_new_nodes_that_hand_over_eight_times_as_much_among_themselves_are_a_group(groups):
    """The pair has 8 hand-overs, which both of its nodes count; 2 to others are an eighth of that."""
    assert groups([*KNOWN, NEW, NEW], [(2, 4, 2), (4, 5, 8)]) == [*KNOWN, 2, 2]
    assert groups([*KNOWN, NEW, NEW], [(2, 4, 3), (4, 5, 8)]) == [
        *KNOWN,
        1,
        1,
    ]  # the last one in a second round
    assert groups([NEW, NEW, 5, 5], []) == [0, 0, 1, 1]  # numbered in the order in which they come


def test_new_nodes_may_join_a_group_of_new_ones(groups):
    """Node 6 hands over more to known nodes than to new ones, but most to one group of these."""
    links = [(4, 5, 40), (4, 6, 3), (0, 6, 2), (2, 6, 2)]
    assert groups([*KNOWN, NEW, NEW, NEW], links) == [*KNOWN, 2, 2, 2]


def test_hand_overs_to_new_nodes_elsewhere_lead_out_of_a_group(groups):
    """Nodes 4 and 5 are a group; 6 is bound to known ones, and what 5 hands over to it counts as outside."""
    links = [(4, 5, 8), (5, 6, 2), (2, 6, 9)]
    assert groups([*KNOWN, NEW, NEW, NEW], links) == [*KNOWN, 2, 2, 1]
    assert groups([*KNOWN, NEW, NEW, NEW], [*links, (2, 4, 1)]) == [*KNOWN, 1, 1, 1]


@pytest.mark.parametrize(
    ("n", "total", "score", "before", "expected"),
    [
        (1000, 10_000, 0.2, 0, True),
        (1000, 9_999, 0.2, 0, False),  # less than 5,000 hand-overs, which count for two nodes
        (500, 10_000, 0.2, 0, True),
        (499, 10_000, 0.2, 0, False),  # ten per node and feature
        (1000, 10_000, 0.21, 0, False),
        (1000, 10_000, 0.2, NEW, False),
    ],
)
def test_when_the_previous_answer_may_stay(compiled, n, total, score, before, expected):
    nodes = nodes_of([before] * n, g=np.full(n, total / n))
    assert compiled(previous.may_stay)(nodes, np.array([0.1, score, 0.0])) == expected


@pytest.fixture
def with_previous(compiled):
    """All levels after one with a silhouette of 0.2, on 800 nodes with 15 hand-overs each."""

    def find(before, links=(), position=None):
        levels = Levels(np.array([0.2]), np.zeros((1, 800), np.uint32), np.full((1, 800), 0.2))
        return compiled(previous.with_previous)(nodes_of(before, links, position, np.full(800, 15.0)), levels)

    return find


def test_the_previous_answer_comes_after_other_levels(with_previous):
    """Two groups one wide, their centres 4.5 apart: every node or its mirror image is 4 from the other one,
    and 0.5 from its own."""
    before = np.repeat([0, 1], 400)
    position = (np.tile([0.0, 1.0], 400) + 4.5 * before)[:, None]
    found = with_previous(before, (), position)
    assert found.score.tolist() == pytest.approx([0.2, 7 / 8])
    assert found.group.tolist() == [[0] * 800, before.tolist()]
    assert found.value[0].tolist() == [0.2] * 800


def test_the_previous_answer_is_merged_down(with_previous):
    """Only the last two of its clusters hand over to each other."""
    before = np.repeat([0, 1, 2], [400, 200, 200])
    found = with_previous(before, [(400, 600, 1)])
    assert found.group.tolist() == [[0] * 800, before.tolist(), [0] * 400 + [1] * 400]


def test_one_cluster_is_no_level(with_previous):
    for before in ([0] * 800, [NEW] * 800):
        assert with_previous(before).score.tolist() == [0.2]


# ---- Against the slow rules ----


@st.composite
def streams(draw):
    """Nodes of a random tree and some links more, known at first and new later."""
    n, n_known = draw(st.integers(3, 20)), draw(st.integers(1, 8))
    ends = [(draw(st.integers(0, j - 1)), j) for j in range(1, n)]
    node = st.integers(0, n - 1)
    ends += draw(st.lists(st.tuples(node, node).filter(lambda ij: ij[0] < ij[1]), max_size=n))
    links = [(i, j, draw(st.sampled_from([1, 2, 3, 8, 30]))) for i, j in sorted(set(ends))]
    before = draw(st.lists(st.integers(0, 3), min_size=n_known, max_size=n_known))
    return (before + [NEW] * n)[:n], links


@settings(max_examples=50)
@given(streams())
def test_groups_against_the_slow_rules(compiled, stream):
    before, links = stream
    found = compiled(previous.previous_groups)(nodes_of(before, links)).tolist()
    assert found == slow.previous_groups({(i, j): count for i, j, count in links}, before)
