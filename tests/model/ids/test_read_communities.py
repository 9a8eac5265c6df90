import numpy as np

from everclust.core.communities.matching import NO_MEMBERS, Members
from everclust.model.ids.read_communities import reported_of


def test_what_is_told_of_births():
    members = Members(np.array([2, 5, 9]), np.array([0, -1, 4]), *np.zeros((2, 3), np.int64))
    assert reported_of(members, np.array([1, 2, 5, 7, 9, 11])).tolist() == [-1, 0, -1, -1, 4, -1]


def test_nothing_is_told_before_the_first_answer():
    assert reported_of(NO_MEMBERS, np.array([0, 3])).tolist() == [-1, -1]
