"""Samples of clusters in two intervals compared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from everclust.core.communities.homogeneity import Past, compare_intervals, find_cells, find_wins, homogeneity
from everclust.core.communities.linked_nodes import Base


def test_a_young_node_counts_for_the_cell_that_it_hands_over_to_most(compiled):
    reported = np.array([4, 4, 4, 4, 7, 4])
    links = np.array([[0, 2, 3], [1, 2, 5], [2, 3, 1], [3, 4, 90]])
    is_cell = np.array([True, True, False, False, True, False])
    # Node 3 hands over to 2 and to another cluster; node 5 to none. Of equal links, the lower node counts.
    assert compiled(find_cells)(is_cell, reported, links).tolist() == [0, 1, 1, 1, 4, -1]
    links[0, 2] = 5
    assert compiled(find_cells)(is_cell, reported, links).tolist() == [0, 1, 0, 0, 4, -1]


def test_a_young_node_may_be_the_first_of_a_pair(compiled):
    is_cell, reported, links = (
        np.array([False, True, True]),
        np.array([4, 4, 4]),
        np.array([[0, 1, 3], [0, 2, 4]]),
    )
    assert compiled(find_cells)(is_cell, reported, links).tolist() == [2, 1, 2]


def test_wins_of_nodes_that_were_there_and_of_others():
    past = Past(np.array([2, 5, 7]), np.array([1, -1, 3]), np.array([4, 5, 6]))
    earlier, latest = find_wins(past, np.array([1, 2, 7, 9]))
    assert earlier.tolist() == [-1, 1, 3, -1]
    assert latest.tolist() == [-1, 4, 6, -1]


def test_a_young_node_adds_to_its_cell():
    # Node 3 is young, goes with node 1, and won 100 of the samples since the latest answer.
    past = Past(np.arange(3), np.array([0, 0, 0]), np.array([100, 100, 70]))
    births, wins, links = np.arange(4), np.array([200, 100, 140, 100]), np.array([[1, 3, 9]])
    base = Base(births, births, wins, births, np.zeros((4, 1)), links)
    ids, squares, freedom = compare_intervals(past, base, np.array([4, 4, -1, 4]))
    assert (ids.tolist(), squares.tolist(), freedom.tolist()) == ([4], [0.0], [1])
    ids, squares, freedom = compare_intervals(past, base, np.array([4, 4, 8, 8]))
    assert ids.tolist() == [4, 8]
    assert squares.tolist() == [pytest.approx(300 * (100 * 100) ** 2 / (200 * 100 * 200 * 100)), 0.0]
    assert freedom.tolist() == [1, 0]


def test_small_cells_are_one(compiled):
    cluster, before, after = np.array([0, -1, 0, 0]), np.array([50.0, 9, 4, 2]), np.array([50.0, 9, 2, 4])
    squares, freedom = compiled(homogeneity)(cluster, before, after, 1)
    assert (squares.tolist(), freedom.tolist()) == ([0.0], [1])


@given(st.lists(st.tuples(st.integers(10, 200), st.integers(10, 200)), min_size=2, max_size=8))
def test_chi_squared_is_that_of_scipy_where_cells_are_large(compiled, table):
    before, after = np.array(table, float).T.copy()
    smallest = (before + after).min() * min(before.sum(), after.sum()) / (before.sum() + after.sum())
    squares, freedom = compiled(homogeneity)(np.zeros(len(table), int), before, after, 1)
    if smallest >= 5:
        expected = chi2_contingency(np.array(table), correction=False)
        assert squares[0] == pytest.approx(expected.statistic)
        assert freedom[0] == expected.dof
