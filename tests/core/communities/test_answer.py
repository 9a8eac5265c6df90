import numpy as np
import pytest

from everclust.core.communities import answer, levels
from everclust.core.communities.linked_nodes import base_nodes
from everclust.core.communities.valleys import base_labels
from everclust.core.layout import NO_CLUSTER


@pytest.fixture
def lead(compiled):
    """The lead of a level over another one whose silhouettes are 0, given the groups of both."""

    def find(g, value, group, other):
        both = levels.Levels(np.zeros(2), np.array([group, other], np.uint32), np.zeros((2, len(g))))
        both.value[0] = value
        return compiled(answer.lead_over)(np.array(g, float), both, 0, 1)

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


def row(gap):
    """Three groups of four nodes on a line, linked closely inside; the last two hand over a little more."""
    position = [[float(start + k)] for start in (0, 40, 40 + gap) for k in range(4)]
    links = [(4 * c + i, 4 * c + j, 30) for c in range(3) for i in range(4) for j in range(i + 1, 4)]
    return position, sorted([*links, (3, 4, 1), (7, 8, 3)])


THREE, TWO = [0] * 4 + [1] * 4 + [2] * 4, [0] * 4 + [1] * 8


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
