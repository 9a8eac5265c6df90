import math

import numpy as np
import pytest

from everclust.core.communities import boundaries

# A chain of nodes at 0, 1 and 2 that hand over twice to their neighbours, and a pair at 10 and 11; one
# hand-over between 2 and 10. g = 2 4 3 | 4 3.
POSITION = np.array([[0.0], [1], [2], [10], [11]])
LINKS = np.array([[0, 1, 2], [1, 2, 2], [2, 3, 1], [3, 4, 3]])
GROUP = np.array([0, 0, 0, 1, 1])
G = np.array([2.0, 4, 3, 4, 3])


@pytest.fixture
def cut(compiled):
    return compiled(boundaries.measure_boundaries)(POSITION, LINKS, G, GROUP, 2)


def test_nodes_and_links_inside(compiled):
    inside = compiled(boundaries.sort_by_group)(LINKS, GROUP, 2)
    assert inside.node_start.tolist() == [0, 3, 5]
    assert inside.link_start.tolist() == [0, 2, 3, 4]
    assert inside.link.tolist() == LINKS[[0, 1, 3, 2]].tolist()  # the one that crosses comes last


def test_nodes_at_the_boundary_count_once(compiled):
    links = np.array([[0, 2, 1], [0, 3, 1], [1, 2, 5]])
    n = compiled(boundaries.count_boundary)(links, np.array([0, 0, 1, 1]), 2)
    assert n.tolist() == [[0, 2], [2, 0]]
    links = links[:2]
    assert compiled(boundaries.count_boundary)(links, np.array([0, 0, 1, 1]), 2).tolist() == [[0, 1], [2, 0]]


def test_direction(compiled):
    found = compiled(boundaries.direction)(np.array([1.0, 1.0]), np.array([4.0, 5.0]))
    assert found == pytest.approx([0.6, 0.8])
    assert compiled(boundaries.direction)(np.ones(2), np.ones(2)).tolist() == [0, 0]


def test_flow(compiled):
    # Group 0 along the line: g-weighted mean (0 + 4 + 6) / 9 = 10/9, variance (4 + 12) / 9 − (10/9)², which
    # is 44/81; its links have a length of 1 and a weight of 4, which adds 1/12. Hand-overs times lengths: 4.
    # Reach: 1 for the ends and 2 for the middle.
    inside = compiled(boundaries.sort_by_group)(LINKS, GROUP, 2)
    flow, per_node = compiled(boundaries.flow), compiled(boundaries.flow_per_node)
    x, scratch = np.empty(5), np.empty((2, 5))
    assert flow(POSITION, G, inside, 0, np.ones(1), x) == pytest.approx(
        4 / math.sqrt(12 * (44 / 81 + 1 / 12))
    )
    assert x[:3].tolist() == [0, 1, 2]
    assert per_node(inside, 0, x, scratch) == pytest.approx(2 * 4 / 4)
    # Across the line there is nothing to flow, nor where no node hands over.
    assert flow(POSITION, G, inside, 0, np.zeros(1), x) == per_node(inside, 0, x, scratch) == 0
    alone = compiled(boundaries.sort_by_group)(LINKS[2:3], GROUP, 2)
    assert flow(POSITION, G, alone, 0, np.ones(1), x) == per_node(alone, 0, x, scratch) == 0


def test_what_crosses(cut):
    assert cut.crossing.tolist() == [[0, 1], [1, 0]]
    assert cut.squares.tolist() == [[0, 1], [1, 0]]
    assert cut.mass.tolist() == [9, 7]
    assert cut.centre.ravel() == pytest.approx([10 / 9, (40 + 33) / 7])


def test_what_would_cross_in_one_cloud(compiled, cut):
    # Group 0 as above. Group 1: variance 4 · 3 / 49, and 1/12; 3 hand-overs over a length of 1, reach 2.
    # The lesser plane; per node the lesser of 2 and 3, times the mean of one node on either side.
    plane = min(4 / math.sqrt(12 * (44 / 81 + 1 / 12)), 3 / math.sqrt(12 * (12 / 49 + 1 / 12)))
    inside = compiled(boundaries.sort_by_group)(LINKS, GROUP, 2)
    found = compiled(boundaries.homogeneous)(POSITION, G, cut, inside, 0, 1, np.empty(5))
    assert found == pytest.approx(plane)
    assert cut.expected[0, 1] == cut.expected[1, 0] == pytest.approx(math.sqrt(plane * 2))
