import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.core.communities import louvain as fast
from oracles import handover as slow

# The graphs of tests/oracles/test_handover.py, where the answers are worked out.
TRIANGLES = {(0, 1): 5, (0, 2): 5, (1, 2): 5, (2, 3): 1, (3, 4): 5, (3, 5): 5, (4, 5): 5}
FOUR_PAIRS = {(0, 1): 4, (2, 3): 4, (4, 5): 4, (6, 7): 4}


def rows(w):
    return np.array([(i, j, n) for (i, j), n in w.items()], np.int64).reshape(-1, 3)


@pytest.fixture
def graph(compiled):
    return lambda w, n: compiled(fast.new_graph)(rows(w), n)


@pytest.fixture
def louvain(compiled, graph):
    """Groups from 0 in the order of their labels."""

    def find(w, n):
        group = compiled(fast.louvain)(graph(w, n))
        return slow.numbered(group.tolist())

    return find


@st.composite
def graphs(draw):
    n = draw(st.integers(3, 12))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda ij: ij[0] < ij[1])
    w = draw(st.dictionaries(pairs, st.integers(1, 6), min_size=2, max_size=25))
    return w, n


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
    found = compiled(fast.aggregate)(graph(w, n), np.array(number), max(number) + 1)
    outer, sums = slow.aggregate(w, slow.strengths(w, n), number)
    assert found.strength.tolist() == sums
    seen = {}
    for a in range(len(sums)):
        for e in range(found.start[a], found.start[a + 1]):
            seen[a, int(found.other[e])] = int(found.amount[e])
    assert seen == {**outer, **{(b, a): count for (a, b), count in outer.items()}}


def test_groups_are_closed_up(compiled):
    group = np.array([7, 2, 7, 5])
    assert compiled(fast.close_up)(group) == 3
    assert group.tolist() == [2, 0, 2, 1]
