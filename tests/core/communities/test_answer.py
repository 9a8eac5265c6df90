import numpy as np
import pytest

from everclust.core.communities import answer, levels, undivided
from everclust.core.communities.linked_nodes import base_nodes
from everclust.core.communities.valleys import Nodes, base_labels
from everclust.core.layout import NO_CLUSTER


@pytest.fixture
def lead(compiled):
    """The lead of a level over another one whose silhouettes are 0, given the groups of both, and its errors:
    of single nodes and of groups."""

    def find(g, value, group, other):
        both = levels.Levels(np.zeros(2), np.array([group, other], np.uint32), np.zeros((2, len(g))))
        both.value[0] = value
        g, change = np.array(g, float), np.empty(len(g))
        found = compiled(answer.lead_over)(g, both, 0, 1, change)
        return *found, compiled(answer.error_of_groups)(g, both, 0, 1, change)

    return find


def test_the_first_of_the_best_levels(compiled):
    assert compiled(answer.best_level)(np.array([0.1, 0.3, 0.2, 0.3])) == 1


def test_leads_and_their_errors(lead):
    assert lead([1, 1, 2], [0.1] * 3, [0, 0, 1], [0, 1, 1]) == pytest.approx((0.1, 0, 0))
    # Mean 0.1; deviations 0.3, -0.1, -0.1, weighted 0.3, -0.1, -0.2: √0.14 / 4. Sums over groups: 0.2 and
    # -0.2, or 0.3 and -0.3.
    error = 0.14**0.5 / 4
    assert lead([1, 1, 2], [0.4, 0, 0], [0, 0, 1], [0, 0, 1]) == pytest.approx((0.1, error, 0.08**0.5 / 4))
    assert lead([1, 1, 2], [0.4, 0, 0], [0, 0, 1], [0, 1, 1]) == pytest.approx((0.1, error, 0.18**0.5 / 4))


@pytest.mark.parametrize(
    ("before", "group", "highest"),
    [
        ([0, 0, 1, 1], [0, 0, 1, 1], 20),  # the same
        ([0, 0, 1, 1], [0, 1, 2, 2], 20),  # which a union of these groups is
        ([0, 0, 1, 1], [0, 1, 1, 1], 18),  # 2 of group 1 were elsewhere
        ([NO_CLUSTER, 0, 1, 1], [0, 1, 1, 1], 16),  # of 9 that were known
    ],
)
def test_unions_of_groups_cannot_be_more_like_the_last_answer_than_that(before, group, highest, compiled):
    nodes = Nodes(np.zeros((4, 1)), np.zeros((0, 3), int), np.array([1, 2, 3, 4]), np.array(before))
    known = compiled(answer.highest_likeness)(nodes)
    assert compiled(answer.highest_of_unions)(nodes, np.array(group, np.uint32), known) == highest
    for union in (group, [min(c, 1) for c in group], [0] * 4):
        assert compiled(undivided.likeness)(nodes, np.array(union)) <= highest


HALVES, QUARTERS = [k // 32 for k in range(64)], [k // 16 for k in range(64)]


@pytest.fixture
def chosen(compiled):
    """The answer on an even grid of sixteen columns, cut in two or in four, given silhouettes and scores.

    No valley divides either level, but a boundary between two halves must be more open than that.
    """
    position = np.array([(x, y) for x in range(16) for y in range(4)], float)
    links = [(k, k + 4, 20) for k in range(60)] + [(k, k + 1, 20) for k in range(63) if k % 4 < 3]
    links = np.array(sorted(links))
    g = np.bincount(links[:, :2].ravel(), np.repeat(links[:, 2], 2), 64)

    def find(before, lead, score, known=0.1):
        nodes = Nodes(position, links, g, np.array(before))
        value = np.array([lead, np.zeros(64)])
        both = levels.Levels(np.array(score), np.array([HALVES, QUARTERS], np.uint32), value)
        return compiled(answer.choose_answer)(nodes, both, known, 2).tolist()

    return find


def test_an_answer_like_the_last_may_come_from_another_level(chosen):
    evenly = np.resize([1.0, -1.0], 64)
    assert chosen([0] * 64, evenly, [0.2, 0.1]) == [0] * 64
    assert chosen(HALVES, evenly, [0.2, 0.1]) == HALVES
    assert chosen([NO_CLUSTER] * 64, evenly, [0.2, 0.1]) == HALVES
    assert chosen([0] * 64, np.ones(64), [0.2, 0.1]) == HALVES  # better for all nodes alike: no doubt


def test_in_favour_of_one_cloud_groups_are_better_or_worse_together(chosen):
    """Single nodes have an error of about 1/8, halves one of about 0.7."""
    by_half = np.repeat([1.05, -0.95], 32)
    assert chosen([0] * 64, by_half, [0.2, 0.1], known=0.2) == [0] * 64
    assert chosen([0] * 64, np.resize([1.05, -0.95], 64), [0.2, 0.1], known=0.2) == HALVES


def test_what_no_valley_divides_is_not_kept_divided(chosen):
    assert chosen(HALVES, np.zeros(64), [0.1, 0.2]) == [0] * 64


def row(gap):
    """Three groups of four nodes on a line, linked closely inside; the last two hand over a little more."""
    position = [[float(start + k)] for start in (0, 40, 40 + gap) for k in range(4)]
    links = [(4 * c + i, 4 * c + j, 30) for c in range(3) for i in range(4) for j in range(i + 1, 4)]
    return position, sorted([*links, (3, 4, 1), (7, 8, 3)])


THREE, TWO = [0] * 4 + [1] * 4 + [2] * 4, [0] * 4 + [1] * 8


@pytest.mark.parametrize(("n_found", "known", "expected"), [(1, 0.12, THREE), (1, 0.08, TWO), (2, 0.12, TWO)])
def test_the_last_answer_as_a_level_may_be_worse_by_more(compiled, n_found, known, expected):
    """Nearly all nodes have 90 hand-overs. The lead is 0.067, and its error 0.19, or 0.44 by sums over
    groups: √(0.93² + 0.93²) / 3. One and a half of them, times 0.12, are 0.079, one is 0.053."""
    position, links = row(20)
    links = np.array(links)
    g = np.bincount(links[:, :2].ravel(), np.repeat(links[:, 2], 2), 12)
    nodes = Nodes(np.array(position), links, g, np.array(THREE))
    value = np.array([[1.0] * 4 + [-0.4] * 8, [0.0] * 12])
    both = levels.Levels(np.array([0.2, 0.1]), np.array([TWO, THREE], np.uint32), value)
    assert compiled(answer.choose_answer)(nodes, both, known, n_found).tolist() == expected


@pytest.mark.parametrize(
    ("gap", "alone", "after_three", "after_two"),
    [(9, TWO, THREE, TWO), (10, THREE, THREE, TWO), (20, THREE, THREE, THREE), (6, TWO, TWO, TWO)],
)
def test_the_last_answer_stays_if_it_is_as_good_but_for_chance(model, gap, alone, after_three, after_two):
    position, links = row(gap)

    def labels(before):
        state = model(position, handover=links, usage=[2] * 12, n_seen=10**6, community=before)
        return base_labels(state, base_nodes(state), np.array(links)).tolist()

    assert labels([NO_CLUSTER] * 12) == alone
    assert labels(THREE) == after_three
    assert labels(TWO) == after_two
    assert labels([NO_CLUSTER] * 2 + THREE[2:]) == after_three  # new nodes have no say


@pytest.mark.parametrize(
    ("n_seen", "stays"), [(10**6, True), (1500, False), (1001, True), (1000, False), (2, False)]
)
def test_an_answer_that_knew_nothing_does_not_stay(model, n_seen, stays):
    position, links = row(9)
    state = model(position, handover=links, usage=[2] * 12, n_seen=n_seen, community=THREE)
    assert base_labels(state, base_nodes(state), np.array(links)).tolist() == (THREE if stays else TWO)
