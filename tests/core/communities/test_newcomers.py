"""Newcomers: young nodes that hand over to each other and hardly to others."""

import numpy as np
import pytest

from everclust.core.communities.newcomers import (
    FEWEST_WINS,
    are_settled,
    connect,
    find_newcomers,
    has_newcomers,
    is_due,
    newcomers_among,
    set_apart,
)
from everclust.core.layout import NEVER, NO_CLUSTER, NONE

# Nodes 0 to 2 are old, 3 to 6 young.
LINKS = [(0, 1, 50), (1, 2, 50), (3, 4, 5), (4, 5, 6)]


@pytest.fixture
def grown(model):
    """A state with 7 nodes in a row and these hand-overs."""

    def grow(handover, usage=(9, 9, 9, 6, 6, 6, 1)):
        return model([[float(k)] for k in range(7)], usage=list(usage), wins=list(usage), handover=handover)

    return grow


def test_hand_overs_that_stay_among_young_nodes(grown):
    assert find_newcomers(grown(LINKS), 3).tolist() == [0, 0, 0, NONE]
    assert newcomers_among(grown(LINKS), np.array([1, 3, 5, 6]), 3).tolist() == [NONE, 0, 0, NONE]
    assert newcomers_among(grown(LINKS), np.array([1, 3]), 6) is None
    assert newcomers_among(grown(LINKS), np.array([1, 3]), NEVER) is None


def test_hand_overs_to_old_nodes(grown):
    # 22 hand-overs inside, counted from both ends: with one to an old node, 16 are needed, with two 24.
    assert find_newcomers(grown([*LINKS, (2, 3, 1)]), 3).tolist() == [0, 0, 0, NONE]
    assert find_newcomers(grown([*LINKS, (2, 3, 2)]), 3).tolist() == [NONE] * 4


def test_a_node_that_hands_over_mostly_to_old_ones_is_no_newcomer(grown):
    links = [*LINKS, (5, 6, 3), (2, 6, 3)]
    assert find_newcomers(grown(links, (9, 9, 9, 6, 6, 6, 6)), 3).tolist() == [0, 0, 0, NONE]


def test_newcomers_are_two_nodes_or_more_with_16_samples(grown):
    assert find_newcomers(grown(LINKS, (9, 9, 9, 6, 5, 5, 1)), 3).tolist() == [0, 0, 0, NONE]
    assert find_newcomers(grown(LINKS, (9, 9, 9, 5, 5, 5, 1)), 3).tolist() == [NONE] * 4
    assert find_newcomers(grown([(5, 6, 8)], (9, 9, 9, 9, 9, 15, 1)), 5).tolist() == [0, 0]
    assert find_newcomers(grown(LINKS, (9, 9, 9, 9, 9, 9, 99)), 6).tolist() == [NONE]


def test_looks_at_many_nodes_are_rarer():
    for n_nodes, pause in ((3, 128), (499, 128), (500, 256), (999, 256), (1000, 512), (10**6, 512)):
        assert [n for n in range(1, 2000) if is_due(n, n_nodes)] == list(range(pause, 2000, pause))


@pytest.mark.parametrize(
    ("first", "wins", "links", "has"),
    [
        (3, (6, 5, 5, 1), LINKS, True),
        (3, (6, 5, 4, 1), LINKS, False),  # 16 samples, but one of them is no newcomer's
        (3, (6, 5, 3, 1), LINKS, False),
        (6, (1, 1, 1, 99), LINKS, False),
        (3, (6, 5, 5, 1), [*LINKS, (2, 3, 2)], False),
        (NEVER, (6, 5, 5, 1), LINKS, False),
    ],
)
def test_whether_there_are_newcomers(grown, compiled, first, wins, links, has):
    state = grown(links, (9, 9, 9, *wins))
    assert compiled(has_newcomers)(state, first, FEWEST_WINS) == has
    assert (find_newcomers(state, first) != NONE).any() == has


def test_more_samples_may_be_asked_for(grown, compiled):
    state = grown(LINKS, (9, 9, 9, 6, 7, 7, 1))
    for fewest, groups in ((20, [0, 0, 0, NONE]), (21, [NONE] * 4)):
        assert find_newcomers(state, 3, fewest).tolist() == groups
        assert compiled(has_newcomers)(state, 3, fewest) == (fewest == 20)


@pytest.mark.parametrize(
    ("reported", "wins", "expected"),
    [
        ([5] * 6, [9, 9, 9, 3, 3, 3], [False] * 6),  # 9² samples are more than the other 27
        ([5] * 6, [40, 40, 2, 3, 3, 3], [False, False, False, True, True, True]),  # and less than 82
        ([5] * 3 + [6] * 3, [9, 9, 9, 3, 3, 3], [False, False, False, True, True, True]),  # 6 is theirs
        ([NO_CLUSTER] * 6, [9] * 6, [False] * 6),
    ],
)
def test_newcomers_leave_an_old_cluster_that_they_were_put_in(reported, wins, expected):
    newcomers, is_young = np.array([NONE, NONE, NONE, 3, 3, 3]), np.arange(6) >= 3
    assert are_settled(newcomers, np.array(reported), is_young, np.array(wins)).tolist() == expected


def test_newcomers_of_several_groups_leave_one_by_one():
    newcomers, is_young = np.array([NONE, NONE, NONE, 3, 3, 5, NONE, 3]), np.arange(8) >= 3
    reported, wins = np.array([7, 7, 7, 7, 7, 7, 2, 2]), np.array([9, 9, 9, 3, 3, 1, 9, 9])
    # Six of the samples of 7 leave it, one does not; there are as many young nodes as old ones in 2.
    assert are_settled(newcomers, reported, is_young, wins).tolist() == [False] * 5 + [True, False, True]


def test_newcomers_stay_in_a_cluster_that_is_as_young():
    newcomers, reported = np.array([NONE, NONE, NONE, NONE, 4, 4]), np.full(6, 5)
    wins = np.array([9, 9, 9, 9, 9, 9])
    for n_old, stays in ((3, False), (2, True)):
        found = are_settled(newcomers, reported, np.arange(6) >= n_old, wins)
        assert found.tolist() == [False] * 4 + [stays] * 2


def test_groups_are_named_by_their_lowest_nodes(compiled):
    links = np.array([(4, 5), (2, 5), (0, 1), (1, 3), (6, 7), (3, 7)])
    is_new = np.array([True] * 6 + [False, True])
    assert compiled(connect)(links, is_new).tolist() == [0, 0, 2, 0, 2, 2, 6, 0]


def test_groups_that_nothing_connects(grown, model):
    links = [(0, 1, 9), (1, 2, 9), (3, 4, 9), (4, 5, 9)]
    usage = [8] * 6
    state = model([[float(k)] for k in range(6)], usage=usage, wins=usage, handover=links)
    assert find_newcomers(state, 0).tolist() == [0, 0, 0, 3, 3, 3]


def test_pairs_of_dropped_nodes_do_not_count(grown):
    state = grown(LINKS)
    rows = state.handover[state.handover["count"] > 0]
    for old, new in ((1, 90), (5, 91)):  # births of nodes that are gone
        for end in ("a", "b"):
            state.handover[end][state.handover[end] == old] = new
    assert len(rows) == 4
    assert find_newcomers(state, 3).tolist() == [NONE] * 4


def test_newcomers_are_groups_of_their_own():
    group, wins = np.array([0, 0, 0, 1, 1]), np.array([50, 9, 9, 9, 9])
    assert set_apart(group, wins, np.array([NONE, 4, 4, NONE, NONE])).tolist() == [0, 2, 2, 1, 1]
    # A group that they hold most of is theirs already.
    assert set_apart(group, wins, np.array([NONE, NONE, NONE, 4, NONE])).tolist() == [0, 0, 0, 1, 1]
