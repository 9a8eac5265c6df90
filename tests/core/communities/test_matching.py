"""Present groups matched with clusters before, worked out by hand."""

import numpy as np

from everclust.core.communities.linked_nodes import Base
from everclust.core.communities.matching import Members, count_arrivals, distinct, match_groups, report_nodes
from everclust.core.state import NODE
from everclust.jit.sorting import place_in

# Births 3, 5, 9 and 11 are in clusters 4, 4, 7 and 7; 13 was found in 8, which was not reported.
MEMBERS = Members(
    np.array([3, 5, 9, 11, 13]),
    np.array([4, 4, 7, 7, -1]),
    np.array([-1, -1, -1, -1, 8]),
    np.array([10, 20, 30, 40, 50]),
)
BIRTHS, WINS = np.array([3, 5, 9, 13, 14, 15]), np.array([15, 20, 35, 50, 6, 90])
GROUP = np.array([0, 1, 2, 3, 3, 4])
LINKS = np.array([(0, 1, 3), (3, 4, 5)])


def matched(members=MEMBERS, group=GROUP, next_id=10):
    return match_groups(members, BIRTHS, WINS, group, next_id, LINKS)


def test_nodes_by_birth():
    assert matched().before.tolist() == [
        [4, 4, 7, -1, -1, -1],
        [-1, -1, -1, 8, -1, -1],
        [10, 20, 30, 50, -1, -1],
    ]
    assert match_groups(MEMBERS, BIRTHS + 20, WINS, GROUP, 10, LINKS).before.max() == -1


def test_ids_are_those_before_then_those_of_candidates_then_new():
    found = matched()
    assert found.group_ids.tolist() == [10, 4, 7, 8, 11]  # of the two parts of 4, the second is larger
    assert found.next_id == 12
    assert found.ids.tolist() == [4, 7]
    assert found.shared.tolist() == [[15, 20, 0, 0, 0], [0, 0, 35, 0, 0]]
    assert found.main_child.tolist() == [1, 2]
    assert found.parent.tolist() == [4, 4, 7, -1, -1]
    assert found.is_newborn.tolist() == [False, False, False, True, True]
    assert found.mass.tolist() == [15, 20, 35, 56, 90]


def test_a_cluster_that_no_group_continues():
    found = matched(group=np.zeros(6, int))
    assert found.ids.tolist() == [4, 7]
    assert found.main_child.tolist() == [0, -1]  # both share 35 samples with it: the lower id
    assert found.group_ids.tolist() == found.parent.tolist() == [4]
    assert found.is_newborn.tolist() == [True]  # 146 samples are of new nodes


def test_distinct_ids(compiled):
    assert compiled(distinct)(np.array([7, -1, 4, 7, 9, 5])).tolist() == [4, 5, 7, 9]


def test_hand_overs_inside_and_across():
    found = matched()
    assert found.inner.tolist() == [0, 0, 0, 10, 0]
    assert found.outer.tolist() == [3, 3, 0, 0, 0]


def test_what_is_told_of_nodes():
    position = np.arange(12.0).reshape(6, 2)
    base = Base(np.arange(6), BIRTHS, WINS, np.zeros(6, int), position, LINKS)
    node = np.zeros(6, NODE)
    node["last_won"] = [1, 2, 3, 70, 80, 90]
    # Group 0 stays in 4, group 3 is reported as 8, group 4 is not reported.
    found, of_group = matched(), np.array([4, 4, 7, 8, -1])
    now = report_nodes(base, found, GROUP, of_group, np.array([], int), node)
    assert now.reported.tolist() == [4, 4, 7, 8, 8, -1]
    assert now.candidate.tolist() == [10, -1, -1, -1, -1, 11]
    assert now.since_check.tolist() == [10, 20, 30, 50, 6, 90]
    assert now.ids.tolist() == [4, 7, 8]
    assert now.sizes.tolist() == [35, 35, 56]
    assert now.joined.tolist() == [0, 0, 80]
    mean = [(WINS[k][:, None] * position[k]).sum(axis=0) / WINS[k].sum() for k in ([0, 1], [2], [3, 4])]
    assert np.allclose(now.centres, mean)


def test_a_merger_that_is_not_told():
    base = Base(np.arange(6), BIRTHS, WINS, np.zeros(6, int), np.zeros((6, 1)), LINKS)
    group = np.array([0, 0, 0, 1, 1, 1])
    found = matched(group=group)
    now = report_nodes(base, found, group, np.array([4, -1]), np.array([7]), np.zeros(6, NODE))
    assert now.reported.tolist() == [4, 4, 7, -1, -1, -1]


def test_samples_that_have_come():
    node = np.zeros(5, NODE)
    node["birth"], node["wins"] = [2, 3, 5, 13, 20], [9, 15, 20, 51, 8]
    found = count_arrivals(MEMBERS, node, 4)
    assert [column.tolist() for column in found[:4]] == [
        [3, 5, 13],
        [4, 4, -1],
        [-1, -1, 8],
        [15, 20, 51],
    ]
    assert found.ids.tolist() == [4]  # the nodes of 7 were evicted
    assert found.came.tolist() == [5]
    assert found.sizes.tolist() == [35]


def test_places_in_rising_numbers(compiled):
    rising = np.array([2, 4, 9])
    assert [compiled(place_in)(rising, value) for value in (1, 2, 3, 4, 9, 10)] == [-1, 0, -1, 1, 2, -1]
