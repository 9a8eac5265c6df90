"""Changes that wait to be reported, worked out by hand."""

import numpy as np
import pytest

from everclust.core.cluster_ids import BORN, MERGED, SPLIT
from everclust.core.layout import NO_CLUSTER
from everclust.model.ids.communities import match_ids
from everclust.model.ids.waiting import (
    FIRST_REPORTED,
    Waiting,
    check_pause,
    clusters_of,
    due,
    first_wait,
    is_large,
    next_check,
    present_changes,
    shortened,
)


def matched(reported, group, wins, next_id=10, candidate=None):
    candidate = None if candidate is None else np.array(candidate)
    return match_ids(np.array(reported), np.array(group), np.array(wins), next_id, candidate)


def test_nothing_has_changed():
    assert present_changes(matched([4, 4, 7], [0, 0, 1], [2, 3, 9])) == {}


def test_every_kind_of_change():
    # 4 comes apart, 5 is in the same group as 7 and smaller, and the last group has new nodes only.
    found = matched([4, 4, 5, 7, -1], [0, 1, 2, 2, 3], [9, 5, 3, 8, 20])
    assert present_changes(found) == {(SPLIT, 10): 4, (MERGED, 5): 7, (BORN, 11): NO_CLUSTER}


def test_a_group_has_the_id_with_which_it_was_found_before():
    # The part of 4 was 6 the last time, and the new one 8.
    found = matched([4, 4, -1], [0, 1, 2], [9, 5, 20], candidate=[-1, 6, 8])
    assert found.group_ids.tolist() == [4, 6, 8]
    assert found.next_id == 10
    # Of two groups with the same id before, the one that shares more has it.
    assert matched([-1, -1], [0, 1], [9, 20], candidate=[8, 8]).group_ids.tolist() == [10, 8]


@pytest.mark.parametrize(("size", "enough"), [(9, False), (10, True)])
def test_a_part_within_the_sampling_error_is_not_told(size, enough):
    found = matched([4, 4], [0, 1], [100, size])
    assert is_large((SPLIT, 10), found) == enough


@pytest.mark.parametrize(("size", "enough"), [(15, False), (16, True)])
def test_a_newcomer_has_some_samples(size, enough):
    assert is_large((BORN, 10), matched([4, -1], [0, 1], [100, size])) == enough


def test_mergers_are_large():
    assert is_large((MERGED, 7), matched([4, 7], [0, 0], [100, 1]))


def test_how_long_a_change_must_last():
    assert [first_wait(n) for n in (8, 1000, 30_000, 40_000, 10**9)] == [4, 500, 15_000, 20_000, 20_000]


def test_what_has_lasted_is_told():
    waiting = {
        (SPLIT, 1): Waiting(0, 3000, 1000),
        (MERGED, 2): Waiting(0, 3001, 1000),
        (BORN, 3): Waiting(-1, 3900, 1000),
        (BORN, 4): Waiting(-1, 3999, 1000),
    }
    assert due(waiting, [4], 4000, is_first=False) == {(SPLIT, 1), (BORN, 4)}
    assert due(waiting, [1], 4000, is_first=False) == {(SPLIT, 1)}
    assert due(waiting, [], 4000, is_first=True) == set(waiting)


def test_in_a_short_stream_only_clear_clusters_are_told_and_the_first_together():
    waiting = {(BORN, 0): Waiting(-1, 60, 20), (BORN, 1): Waiting(-1, 70, 20), (MERGED, 2): Waiting(0, 1, 2)}
    assert due(waiting, [0], 80, is_first=True) == {(BORN, 0)}
    assert due(waiting, [0, 1], 80, is_first=True) == set()
    assert due(waiting, [0, 1], 90, is_first=True) == {(BORN, 0), (BORN, 1)}
    assert due(waiting, [0, 1], 80, is_first=False) == {(BORN, 0)}
    early = {(BORN, 0): Waiting(-1, 8, 2)}
    assert due(early, [0], FIRST_REPORTED - 1, is_first=True) == set()
    assert due(early, [0], FIRST_REPORTED, is_first=True) == {(BORN, 0)}


def test_which_clusters_a_change_is_about():
    assert clusters_of((SPLIT, 7), Waiting(4, 0, 0)) == {4, 7}
    assert clusters_of((MERGED, 7), Waiting(4, 0, 0)) == {4, 7}
    assert clusters_of((BORN, 7), Waiting(-1, 0, 0)) == set()


def test_where_samples_have_shifted_the_next_look_decides():
    assert [check_pause(n) for n in (1000, 16_000, 40_000, 10**9)] == [1000, 2000, 5000, 5000]
    waiting = {
        (SPLIT, 1): Waiting(0, 16_000, 8000),
        (MERGED, 2): Waiting(3, 16_800, 8400),
        (MERGED, 3): Waiting(4, 24_000, 1400),  # shortened before
        (SPLIT, 5): Waiting(6, 16_000, 8000),
        (BORN, 7): Waiting(-1, 16_000, 8000),
    }
    found = shortened(waiting, {0, 3, 7})
    assert found == {
        (SPLIT, 1): Waiting(0, 16_000, 1000),
        (MERGED, 2): Waiting(3, 16_800, 1050),
        (MERGED, 3): Waiting(4, 24_000, 1400),
    }
    assert next_check(found) == 17_000
    assert next_check({}) is None
