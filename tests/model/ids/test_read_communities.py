import numpy as np
import pytest

from everclust.core.communities.matching import NO_MEMBERS, Members
from everclust.core.state import allocate
from everclust.model.ids import read_communities
from everclust.model.ids.read_communities import has_unsettled, reported_of


def test_what_is_told_of_births():
    members = Members(np.array([2, 5, 9]), np.array([0, -1, 4]), *np.zeros((2, 3), np.int64))
    assert reported_of(members, np.array([1, 2, 5, 7, 9, 11])).tolist() == [-1, 0, -1, -1, 4, -1]


def test_nothing_is_told_before_the_first_answer():
    assert reported_of(NO_MEMBERS, np.array([0, 3])).tolist() == [-1, -1]


@pytest.mark.parametrize(
    ("reported", "wins", "expected"),
    [
        ([-1, -1, -1, -1], [9, 9, 1, 1], True),
        ([4, 4, -1, -1], [9, 9, 1, 1], False),  # what has just begun beside a cluster is no news
        ([4, -1, -1, -1], [9, 1, 1, 1], False),
        ([4, -1, -1, -1], [9, 8, 2, 1], True),
    ],
)
def test_newcomers_are_news_while_most_of_their_samples_are_in_no_cluster(
    reported, wins, expected, monkeypatch
):
    state = allocate(1, nodes=4)
    state.scalars["n_nodes"], state.node["birth"][:4], state.node["wins"][:4] = 4, np.arange(4), wins
    monkeypatch.setattr(read_communities, "newcomers_among", lambda *_: np.zeros(4, np.int64))
    members = Members(np.arange(4), np.array(reported), *np.zeros((2, 4), np.int64))
    assert has_unsettled(state, members, first_young=0, fewest=16) is expected


def test_without_newcomers_there_is_no_news():
    state = allocate(1, nodes=4)
    assert not has_unsettled(state, NO_MEMBERS, first_young=0, fewest=16)
