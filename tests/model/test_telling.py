"""What is told, and the clusters after it, worked out by hand."""

import numpy as np

from everclust.core.cluster_ids import BORN, GONE, MERGED, SPLIT
from everclust.model.clusters import CommunityReadOut, clear_clusters
from everclust.model.matching import Community, match_ids
from everclust.model.members import NO_MEMBERS, Members
from everclust.model.telling import Move, gone_changes, told_changes, told_ids, without_early_mergers
from everclust.model.waiting import Waiting

NOTHING = np.empty((0, 3), np.int64)


def read_out(told, group, wins, links=NOTHING):
    told, group, wins = np.array(told), np.array(group), np.array(wins)
    nobody = np.full(len(told), -1)
    matching = match_ids(told, group, wins, 10)
    return CommunityReadOut(
        np.arange(len(told)), links, group, Members(np.arange(len(told)), told, nobody, wins), matching, 0
    )


def test_nodes_stay_where_they_were_told_to_be_until_a_change_is_told():
    # 4 comes apart in groups 0 and 1, 7 is absorbed by 5 in group 2, and group 3 is new.
    found = read_out([4, 4, -1, 5, 7, -1, -1], [0, 1, 1, 2, 2, 2, 3], [9, 5, 4, 8, 3, 2, 20])
    assert found.matching.group_ids.tolist() == [4, 10, 5, 11]
    assert told_ids(found, set()).tolist() == [4, 4, 4, 5, 7, 5, -1]
    assert told_ids(found, {(SPLIT, 10)}).tolist() == [4, 10, 10, 5, 7, 5, -1]
    assert told_ids(found, {(MERGED, 7)}).tolist() == [4, 4, 4, 5, 5, 5, -1]
    assert told_ids(found, {(BORN, 11)}).tolist() == [4, 4, 4, 5, 7, 5, 11]


def test_a_node_at_the_edge_changes_clusters_without_a_word():
    found = read_out([4, 4, 7, 7], [0, 0, 0, 1], [9, 9, 1, 9])
    assert told_ids(found, set()).tolist() == [4, 4, 4, 7]


def test_a_newcomer_takes_a_node_of_its_neighbour_when_it_is_told():
    found = read_out([4, 4, -1], [0, 1, 1], [50, 9, 20])
    assert told_ids(found, set()).tolist() == [4, 4, -1]
    assert told_ids(found, {(BORN, 10)}).tolist() == [4, 10, 10]


def test_a_merger_waits_for_the_cluster_that_it_is_into():
    waiting = {(MERGED, 7): Waiting(10, 0, 0), (SPLIT, 10): Waiting(4, 0, 0)}
    assert without_early_mergers({(MERGED, 7)}, waiting, {4: None, 7: None}) == set()
    assert without_early_mergers(waiting, waiting, {4: None, 7: None}) == set(waiting)


def test_records():
    # 4 was split, 7 merged into 5, and 11 is born. A node without a cluster has joined 4.
    before, after = np.array([4, 4, -1, 5, 7, -1]), np.array([4, 10, 4, 5, 5, 11])
    move = Move(before, after, np.array([9, 5, 4, 8, 3, 20]))
    waiting = {(SPLIT, 10): Waiting(4, 0, 0), (MERGED, 7): Waiting(5, 0, 0), (BORN, 11): Waiting(-1, 0, 0)}
    clusters = {c: Community(100 + c, np.array([float(c)]), 0) for c in (4, 5, 10, 11)}
    records = [
        (*record, centre.tolist()) for *record, centre in told_changes(waiting, waiting, move, clusters)
    ]
    assert records == [
        (SPLIT, 4, 4, 9, [4.0]),
        (SPLIT, 4, 10, 5, [4.0]),
        (MERGED, 5, 5, 8, [5.0]),
        (MERGED, 5, 7, 3, [5.0]),
        (BORN, 11, 11, 111, [11.0]),
    ]


def test_clusters_without_nodes_are_gone():
    known = {c: Community(c, np.array([float(c)]), 0) for c in (3, 4)}
    (record,) = gone_changes(known, np.array([4, -1]))
    assert record[:4] == (GONE, 3, 3, 3)


def test_clear_clusters_keep_their_hand_overs():
    # Inside 16 and 15 hand-overs, counted from both ends, and one across: 8 × 2 are needed.
    links = np.array([(0, 1, 16 // 2), (2, 3, 14 // 2), (1, 2, 1)])
    found = read_out([-1] * 4, [0, 0, 1, 1], [9] * 4, links)
    assert clear_clusters(found) == [10]


def test_members_by_birth():
    members = Members(np.array([3, 5, 9]), np.array([0, 1, 0]), np.array([-1, 2, -1]), np.array([7, 8, 9]))
    found = members.of(np.array([5, 7, 9, 12]))
    assert found.told.tolist() == [1, -1, 0, -1]
    assert found.candidate.tolist() == [2, -1, -1, -1]
    assert found.wins.tolist() == [8, -1, 9, -1]
    assert NO_MEMBERS.of(np.array([1, 2])).told.tolist() == [-1, -1]
