"""What is reported, and the clusters after it, worked out by hand."""

import numpy as np

from everclust.core.cluster_ids import BORN, GONE, MERGED, SPLIT
from everclust.core.communities.linked_nodes import Base
from everclust.core.communities.matching import NO_MEMBERS, report_nodes
from everclust.core.state import NODE
from everclust.model.ids.communities import Community, match_ids, match_members
from everclust.model.ids.read_communities import CommunityReadOut, clear_clusters, newcomer_ids
from everclust.model.ids.reporting import (
    Move,
    gone_changes,
    reported_changes,
    reported_of_groups,
    unmerged,
    without_early_mergers,
)
from everclust.model.ids.shifts import JOINED, PARTED
from everclust.model.ids.waiting import Waiting


def read_out(reported, group, wins):
    reported, group, wins = np.array(reported), np.array(group), np.array(wins)
    nodes = np.arange(len(reported))
    base = Base(nodes, nodes, wins, nodes, np.zeros((len(reported), 1)), np.empty((0, 3), np.int64))
    return CommunityReadOut(base, group, match_ids(reported, group, wins, 10))


def reported_ids(found, keys):
    """Cluster of every node after these changes."""
    of_group, stays = reported_of_groups(found.matching, keys), unmerged(found.matching, keys)
    node = np.zeros(len(found.group), NODE)
    return report_nodes(found.base, found.matching, found.group, of_group, stays, node).reported


def test_nodes_stay_where_they_were_told_to_be_until_a_change_is_told():
    # 4 comes apart in groups 0 and 1, 7 is absorbed by 5 in group 2, and group 3 is new.
    found = read_out([4, 4, -1, 5, 7, -1, -1], [0, 1, 1, 2, 2, 2, 3], [9, 5, 4, 8, 3, 2, 20])
    assert found.matching.group_ids.tolist() == [4, 10, 5, 11]
    assert reported_ids(found, set()).tolist() == [4, 4, 4, 5, 7, 5, -1]
    assert reported_ids(found, {(SPLIT, 10)}).tolist() == [4, 10, 10, 5, 7, 5, -1]
    assert reported_ids(found, {(MERGED, 7)}).tolist() == [4, 4, 4, 5, 5, 5, -1]
    assert reported_ids(found, {(BORN, 11)}).tolist() == [4, 4, 4, 5, 7, 5, 11]


def test_a_node_at_the_edge_changes_clusters_without_a_word():
    found = read_out([4, 4, 7, 7], [0, 0, 0, 1], [9, 9, 1, 9])
    assert reported_ids(found, set()).tolist() == [4, 4, 4, 7]


def test_a_newcomer_takes_a_node_of_its_neighbour_when_it_is_told():
    found = read_out([4, 4, -1], [0, 1, 1], [50, 9, 20])
    assert reported_ids(found, set()).tolist() == [4, 4, -1]
    assert reported_ids(found, {(BORN, 10)}).tolist() == [4, 10, 10]


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
        (*record, centre.tolist()) for *record, centre in reported_changes(waiting, [4, 7], move, clusters)
    ]
    assert records == [
        (SPLIT, 4, 4, 9, [4.0]),
        (SPLIT, 4, 10, 5, [4.0]),
        (MERGED, 5, 5, 8, [5.0]),
        (MERGED, 5, 7, 3, [5.0]),
        (BORN, 11, 11, 111, [11.0]),
    ]
    # Without a shift, a split or a merger is no news, but a birth is.
    kinds = [record[0] for record in reported_changes(waiting, [11], move, clusters)]
    assert kinds == [PARTED, PARTED, JOINED, JOINED, BORN]
    kinds = [record[0] for record in reported_changes(waiting, [5], move, clusters)]
    assert kinds == [PARTED, PARTED, MERGED, MERGED, BORN]


def test_clusters_without_nodes_are_gone():
    known = {c: Community(c, np.array([float(c)]), 0) for c in (3, 4)}
    (record,) = gone_changes(known, np.array([4, -1]))
    assert record[:4] == (GONE, 3, 3, 3)


def test_clear_clusters_keep_their_hand_overs():
    # Inside 16 and 15 hand-overs, counted from both ends, and one across: 8 × 2 are needed.
    links = np.array([(0, 1, 16 // 2), (2, 3, 14 // 2), (1, 2, 1)])
    nodes, wins = np.arange(4), np.full(4, 9)
    assert clear_clusters(match_members(NO_MEMBERS, nodes, wins, np.array([0, 0, 1, 1]), 10, links)) == [10]


def test_groups_of_newcomers():
    found = read_out([4, 4, -1, -1], [0, 0, 1, 1], [9, 9, 8, 9])
    assert newcomer_ids(found) == []
    assert newcomer_ids(found._replace(newcomers=np.array([-1, -1, -1, 0]))) == [10]
    assert newcomer_ids(found._replace(newcomers=np.array([-1, -1, 0, -1]))) == []
