import numpy as np
import pytest

from everclust.core.communities import levels
from everclust.core.communities.linked_nodes import base_nodes
from everclust.core.communities.silhouette import merge_groups, new_silhouette, weighted_mean
from everclust.core.communities.valleys import base_labels
from everclust.core.layout import NO_CLUSTER


@pytest.fixture
def silhouette(compiled):
    """Six nodes on a line, in three groups of two; the hand-overs inside them are 3, 2 and 1."""
    position = np.arange(6.0)[:, None]
    return compiled(new_silhouette)(np.array([3, 3, 2, 2, 1, 1]), np.array([0, 0, 1, 1, 2, 2]), 3, position)


@pytest.fixture
def values(compiled):
    """Silhouette value of every node at a level, and their mean."""

    def find(position, group, strength):
        n, k = len(group), max(group) + 1
        position = np.array(position, float).reshape(n, -1)
        silhouette = compiled(new_silhouette)(np.array(strength), np.array(group), k, position)
        compiled(levels.new_facing)(silhouette, np.arange(k))
        return silhouette.value.tolist(), compiled(weighted_mean)(silhouette.g, silhouette.value)

    return find


@pytest.mark.parametrize("seed", range(5))
def test_looking_again_is_looking_at_everything(seed, compiled):
    rng = np.random.default_rng(seed)
    n, k = 40, 9
    group = np.concatenate([np.arange(k), rng.integers(k, size=n - k)])
    groups = np.arange(k)
    silhouette = compiled(new_silhouette)(rng.integers(1, 9, size=n), group, k, rng.normal(size=(n, 2)))
    facing = compiled(levels.new_facing)(silhouette, groups)
    while len(groups) > 2:
        a, b = sorted(rng.choice(groups, 2, replace=False).tolist())
        compiled(merge_groups)(silhouette, a, b)
        groups = groups[groups != b]
        compiled(levels.update_facing)(facing, silhouette, groups, a, b)
        found = silhouette.value.tolist(), silhouette.nearest.tolist()
        anew = compiled(levels.new_facing)(silhouette, groups)
        assert found == (silhouette.value.tolist(), silhouette.nearest.tolist())
        assert facing.centre.tolist() == anew.centre.tolist()


def test_nodes_are_valued_as_if_they_faced_their_neighbours(values):
    # Centres 1 and 9. Nodes 0 and 2 are mirror images: both are 1 from their own and 7 from the other.
    value, mean = values([0, 2, 8, 10], [0, 0, 1, 1], [1, 1, 2, 2])
    assert value == pytest.approx([6 / 7] * 4)
    assert mean == pytest.approx(6 / 7)
    # The centre 0.5 is nearer to three nodes at 0: the one at 2 has its mirror image at -1.
    value, mean = values([0, 0, 0, 2, 10], [0, 0, 0, 0, 1], [1, 1, 1, 1, 1])
    assert value == pytest.approx([(9 - 0.5) / 9] * 3 + [(8 - 1.5) / 8, 1.0])
    assert mean == pytest.approx(sum(value) / 5)


def test_a_mirror_image_may_face_another_neighbour(values):
    # The mirror image of the upper node of the middle group is 1 from the centre at -3.
    position = [(-9, 0), (-9, 1), (0, 2), (0, -2), (0, -3.5), (0, -2.5)]
    value, _ = values(position, [0, 0, 1, 1, 2, 2], [1] * 6)
    assert value[2] == pytest.approx((1 - 2) / 2)


def test_nodes_in_one_place_are_worth_nothing(values):
    assert values([5, 5, 5], [0, 0, 1], [1, 1, 1]) == ([0.0, 0.0, 0.0], 0.0)


def test_only_what_is_worth_more_is_taken(compiled, silhouette):
    level = compiled(levels.new_level)(6)
    assert level.group.tolist() == [0] * 6
    consider = compiled(levels.consider)
    silhouette.value[:] = 0.5
    consider(level, silhouette, 0.25)
    assert (level.score[0], level.group.tolist()) == (0.25, [0, 0, 1, 1, 2, 2])
    silhouette.group[:], silhouette.value[:] = 0, 0.75
    consider(level, silhouette, 0.25)  # as good, but coarser
    assert (level.group.tolist(), level.value.tolist()) == ([0, 0, 1, 1, 2, 2], [0.5] * 6)
    consider(level, silhouette, 0.3)
    assert (level.score[0], level.group.tolist(), level.value.tolist()) == (0.3, [0] * 6, [0.75] * 6)


def test_likeness(compiled, silhouette):
    def like(*before):
        overlap = compiled(levels.new_overlap)(silhouette.g, silhouette.group, np.array(before), 3)
        return compiled(levels.likeness_of)(overlap)

    assert like(2, 2, 0, 0, 1, 1) == 24  # the same groups: all 12 hand-overs stay, seen from either side
    assert like(0, 0, 0, 0, 0, 0) == 12 + 6  # all groups within one; the largest of them in it
    assert like(0, 0, 0, 0, 1, 1) == 12 + 6 + 2
    assert like(0, 0, 0, 1, 1, 1) == 6 + 2 + 2 + 6 + 2  # the second group lies in both; 2 and 2 of the last
    assert like(0, 0, *[NO_CLUSTER] * 4) == 12  # only of those that are known
    assert like(*[NO_CLUSTER] * 6) == 0


@pytest.mark.parametrize("seed", range(5))
def test_overlaps_add_up(seed, compiled):
    """Merging groups is counting anew."""
    rng = np.random.default_rng(seed)
    n, k = 40, 9
    group, before = rng.integers(k, size=n), rng.integers(NO_CLUSTER, 5, size=n)
    g, groups = rng.integers(1, 9, size=n).astype(float), np.arange(k)
    overlap = compiled(levels.new_overlap)(g, group, before, k)
    while len(groups) > 2:
        a, b = sorted(rng.choice(groups, 2, replace=False).tolist())
        group[group == b], groups = a, groups[groups != b]
        compiled(levels.merge_overlap)(overlap, a, b)
        anew = compiled(levels.new_overlap)(g, group, before, k)
        likeness = compiled(levels.likeness_of)
        assert likeness(overlap) == likeness(anew)


def test_better_by_more_than_chance(compiled):
    better = compiled(levels.is_clearly_better)
    g, nothing = np.array([1.0, 1, 2]), np.zeros(3)
    assert better(g, np.full(3, 0.1), nothing, 1.0)  # for all nodes alike: no doubt
    assert not better(g, nothing, nothing, 1.0)
    assert not better(g, nothing, np.full(3, 0.1), 1.0)
    # Mean 0.1; deviations 0.3, -0.1, -0.1, weighted 0.3, -0.1, -0.2: error √0.14 / 4, about 0.094.
    assert better(g, np.array([0.4, 0.0, 0.0]), nothing, 1.0)
    # Mean 0.075; deviations 0.225, 0.225 and -0.225 twice: error 0.225 · √6 / 4, about 0.138.
    unsure = np.array([0.3, 0.3, -0.15])
    assert not better(g, unsure, nothing, 1.0)
    assert better(g, unsure, nothing, 0.5)  # when the last answer knew but half of the samples


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


def test_how_much_of_the_samples_was_known():
    shares = [0, 0, 0, 1000 / 1001, 0.8, 0.5, 0.75]
    assert [levels.share_known(n) for n in (1, 999, 1000, 1001, 1250, 2000, 4000)] == shares


def test_answers_that_later_ones_are_held_to():
    last = [levels.last_answer(n) for n in (0, 999, 1000, 4999, 5000, 6249, 6250)]
    assert last == [0, 0, 1000, 4000, 5000, 5000, 6250]
    pauses = [levels.pause_after(n) for n in (0, 4000, 8000, 80_000, 10**9)]
    assert pauses == [1000, 1000, 2000, 20_000, 20_000]
    far = levels.last_answer(10**12)
    assert 10**12 - 20_000 < far <= 10**12
    assert levels.last_answer(far) == levels.last_answer(far + 19_999) == far
