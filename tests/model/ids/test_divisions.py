"""Parts of a cluster that move apart, worked out by hand and along a stream."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import everclust
from everclust import EverClust
from everclust.core.communities.linked_nodes import Base
from everclust.model.ids.divisions import RecentWins, connected, parts_of, set_divided_apart

LINKS = np.array([[0, 1, 9], [1, 2, 9], [2, 3, 9], [3, 4, 9], [4, 5, 9], [0, 6, 1]])


def base_of(n, links):
    nodes = np.arange(n)
    return Base(nodes, nodes, nodes, nodes, np.zeros((n, 1)), links)


def recent(is_live, wins, is_watched):
    return RecentWins(np.array(is_live, bool), np.array(wins), np.array(is_watched, bool))


def test_where_the_middle_has_won_nothing_the_sides_are_parts():
    now = recent([1, 1, 0, 0, 1, 1, 1], [50, 50, 0, 3, 40, 40, 70], [0, 0, 1, 0, 0, 0, 0])
    group, is_divided = set_divided_apart(np.array([0, 0, 0, 0, 0, 0, 1]), base_of(7, LINKS), now)
    assert group.tolist() == [2, 2, 0, 0, 3, 3, 1]
    assert is_divided.tolist() == [True] * 6 + [False]


def test_groups_without_watched_nodes_stay():
    now = recent([1, 1, 0, 0, 1, 1, 1], [50, 50, 0, 3, 40, 40, 70], [0, 0, 0, 0, 0, 0, 1])
    group, is_divided = set_divided_apart(np.array([0, 0, 0, 0, 0, 0, 1]), base_of(7, LINKS), now)
    assert group.tolist() == [0, 0, 0, 0, 0, 0, 1]
    assert not is_divided.any()


def test_a_group_that_is_connected_stays():
    now = recent(7 * [1], 7 * [50], 7 * [1])
    group, is_divided = set_divided_apart(np.array(7 * [0]), base_of(7, LINKS), now)
    assert group.tolist() == 7 * [0]
    assert not is_divided.any()


def test_where_no_node_is_left_over_the_parts_are_all():
    now = recent(6 * [1], 6 * [50], 6 * [1])
    group, _ = set_divided_apart(np.zeros(6, int), base_of(6, LINKS[[0, 1, 3, 4]]), now)
    assert group.tolist() == [0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(("wins", "n_parts"), [(15, 1), (16, 1), (32, 1), (33, 2)])
def test_a_part_within_the_sampling_error_is_none(wins, n_parts):
    # 33² is 1,089; the whole has 1,000 + 33 samples.
    chosen = np.array([True, False, True])
    assert len(parts_of(chosen, np.array([[0, 1, 9]]), np.array([1000, 0, wins]))) == n_parts


def test_a_part_has_some_samples():
    chosen, links = np.array([True, False, True]), np.array([[0, 1, 9]])
    assert len(parts_of(chosen, links, np.array([15, 0, 15]))) == 0
    assert len(parts_of(chosen, links, np.array([16, 0, 16]))) == 2


@given(
    st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=15), st.data()
)
def test_nodes_are_connected_where_a_walk_leads(n, pairs, data):
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    links = np.array([(a % n, b % n, 1) for a, b in pairs if a % n != b % n]).reshape(-1, 3).astype(int)
    name = connected(chosen, links)
    for k in range(n):
        reached, walks = {k}, [k]
        while walks and chosen[k]:
            here = walks.pop()
            for a, b, _ in links.tolist():
                for x, y in ((a, b), (b, a)):
                    if x == here and chosen[x] and chosen[y] and y not in reached:
                        reached.add(y)
                        walks.append(y)
        assert name[k] == min(reached)


def dividing(n=16_000, since=5000, seed=0):
    """Three clusters; from a sample on, the halves of the first move apart, 16 in 1,500 samples."""
    rng = np.random.default_rng(seed)
    centre = np.array([[0, 0, 0], [0, 24, 0], [0, 0, 24.0]])
    label = rng.integers(3, size=n)
    rows = centre[label] + rng.normal(size=(n, 3))
    way = 16 * np.clip((np.arange(n) - since) / 1500, 0, 1)
    rows[:, 0] += rng.choice([-0.5, 0.5], n) * way * (label == 0)
    return rows


HALVES = [[-8, 0, 0], [8.0, 0, 0]]


def test_a_division_is_told_and_shown():
    model = EverClust().partial_fit(dividing())
    late = model.events(since=5000)
    reported = {c for event in late if event.kind in ("split", "born") for c in event.after}
    halves = model.predict(np.array(HALVES)).tolist()
    assert len(set(halves)) == 2
    assert set(halves) <= reported
    assert {event.kind for event in late} <= {"split", "born", "quiet"}
    assert max(event.sample for event in late if event.kind != "quiet") < 5000 + 6000


@pytest.mark.parametrize("cut", [7500, 10_000])
def test_stopping_in_the_middle_of_a_division_does_not_matter(cut, tmp_path):
    rows = dividing()
    whole, model = EverClust().partial_fit(rows), EverClust().partial_fit(rows[:cut])
    model.save(tmp_path / "model")
    again = everclust.load(tmp_path / "model").partial_fit(rows[cut:])
    assert again.events() == whole.events()
    whole.save(tmp_path / "whole")
    again.save(tmp_path / "again")
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "again").read_bytes()


def test_batches_do_not_matter_in_a_division():
    rows = dividing()
    whole, cut = EverClust().partial_fit(rows), EverClust()
    for start in range(0, len(rows), 77):
        cut.partial_fit(rows[start : start + 77])
    assert cut.events() == whole.events()
    assert np.array_equal(cut.predict(rows), whole.predict(rows))
