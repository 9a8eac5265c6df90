"""The slow twin of hand-over clusters against examples worked out by hand."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import handover as slow
from oracles import idat as oracle
from oracles import valleys

NONE = slow.NOT_A_CANDIDATE

# Two triangles, five hand-overs along every side, one across the bridge {2, 3}.
# g = 10 10 11 11 10 10, their sum is 62.
TRIANGLES = {(0, 1): 5, (0, 2): 5, (1, 2): 5, (2, 3): 1, (3, 4): 5, (3, 5): 5, (4, 5): 5}
# Four pairs of nodes that know of each other only. g = 4 everywhere, their sum is 32.
FOUR_PAIRS = {(0, 1): 4, (2, 3): 4, (4, 5): 4, (6, 7): 4}


def column(*values):
    return [[float(value)] for value in values]


# ---- While learning: hand-overs --------------------------------------------------------------


def three_nodes(vigilance, **mode):
    """Nodes at 0, 10 and 20, all of scale 1, with no maintenance or recalibration about to come."""
    model = slow.HandoverOracle(**mode)
    model.feature_weight = [1.0]
    model.prototype, model.usage, model.scale = column(0, 10, 20), [1, 1, 1], [1.0, 1.0, 1.0]
    model.wins = [1, 1, 1]
    model.active, model.idle = [False] * 3, [0] * 3
    model.usage_before, model.evidence_before = [0] * 3, [0] * 3
    model.n_welford, model.mean, model.m2 = 3, [10.0], [200.0]
    model.vigilance = vigilance
    return model


def test_a_hand_over_is_counted_although_the_second_does_not_resonate():
    # 4 is 4 from node 0 and 6 from node 1: similarities 1/5 and 1/7, about 0.143.
    model = three_nodes(vigilance=0.15)
    model.resonate([4.0])
    assert model.usage == [2, 1, 1]
    assert model.evidence == {}
    assert model.handover == {(0, 1): 1}


def test_a_hand_over_is_counted_once_if_the_second_resonates():
    model = three_nodes(vigilance=0.1)
    model.resonate([16.0])  # nearest are 2, then 1
    assert model.usage == [1, 2, 2]
    assert model.handover == {(1, 2): 1}


def test_birth_counts_the_new_node_and_the_nearest():
    model = three_nodes(vigilance=0.9)
    model.resonate([14.0])  # 4 from node 1, 6 from node 2
    assert len(model.prototype) == 4
    assert model.handover == {(1, 3): 1}


def test_the_first_three_samples_count_nothing():
    model = slow.HandoverOracle()
    for x in column(0, 10, 20):
        model.learn(x)
    assert model.handover == {}


@pytest.mark.parametrize("capped", [False, True])
def test_every_sample_from_the_fourth_on_counts_one(capped):
    class Counting(slow.HandoverOracle):
        lost = 0

        def keep_only(self, kept):
            before = sum(self.handover.values())
            super().keep_only(kept)
            self.lost += before - sum(self.handover.values())

    model = Counting(capped=capped)
    X = np.random.default_rng(0).standard_t(1.2, size=(300, 3))  # heavy tails: many nodes are used once
    for n, x in enumerate(X, start=1):
        model.learn(x)
        assert sum(model.handover.values()) + model.lost == max(n - 3, 0)
    assert model.lost > 0  # some nodes were dropped


def test_a_dropped_node_takes_its_pairs_with_it():
    # Of the nodes used once, 1, 2 and 4, the newest two stay, since the interval is 2: node 1 goes.
    model = slow.HandoverOracle()
    model.prototype, model.usage, model.scale = column(0, 1, 2, 3, 4), [2, 1, 1, 3, 1], [1.0] * 5
    model.wins = [2, 1, 1, 3, 1]
    model.active, model.idle = [False] * 5, [0] * 5
    model.usage_before, model.evidence_before = [0] * 5, [0] * 5
    model.handover = {(0, 1): 7, (0, 3): 2, (1, 2): 5, (2, 3): 4, (3, 4): 1}
    assert slow.strengths(model.handover, 5) == [9, 12, 9, 7, 1]
    model.drop_single_use_nodes()
    assert model.usage == [2, 1, 3, 1]
    # Nodes 2, 3 and 4 are now 1, 2 and 3; the partners of the dropped node, 0 and 2, lost 7 and 5.
    assert model.handover == {(0, 2): 2, (1, 2): 4, (2, 3): 1}
    assert slow.strengths(model.handover, 4) == [2, 4, 7, 1]


def test_cutting_an_edge_leaves_the_hand_overs():
    # Lengths 1 1 1 1 100: Q1 = 1, Q3 = 1 + 0.25 * 99 = 25.75, the fence is 25.75 + 1.5 * 24.75 < 100.
    model = slow.HandoverOracle()
    model.feature_weight = [1.0]
    model.prototype = column(0, 1, 2, 3, 4, 104)
    model.edges = {(k, k + 1) for k in range(5)}
    model.evidence = {(k, k + 1): 2 for k in range(5)}
    model.handover = {(k, k + 1): 7 for k in range(5)}
    model.cut_long_edges()
    assert (4, 5) not in model.edges
    assert (4, 5) not in model.evidence
    assert model.handover == {(k, k + 1): 7 for k in range(5)}


# ---- While learning: the capped metric -------------------------------------------------------


def _clouds(n, d=3):
    rng = np.random.default_rng(5)
    return rng.normal(size=(4, d))[rng.integers(0, 4, n)] * 6 + rng.normal(size=(n, d)) * np.arange(1, d + 1)


def _learnt(model):
    return {
        key: getattr(model, key)
        for key in vars(oracle.Oracle())
        if key not in ("evidence_is_printed", "may_grow", "may_shrink", "may_recalibrate")
    }


@pytest.mark.parametrize(
    ("X", "capped"),
    [
        (_clouds(300), False),  # counting changes nothing
        (_clouds(300, d=1), True),  # one feature is its own median
        (np.repeat(_clouds(300, d=1), 2, axis=1) * [1, -1], True),  # so are two that vary alike
    ],
    ids=["plain", "one feature", "equal variances"],
)
def test_learning_is_that_of_idat(X, capped):
    plain, model = oracle.Oracle(), slow.HandoverOracle(capped=capped)
    for x in X:
        plain.learn(x)
        model.learn(x)
        assert _learnt(model) == _learnt(plain)


@pytest.mark.parametrize(
    ("m2", "weights"),
    [
        # n = 3, so v = m2 / 2.
        ([8, 2, 0, 4], [0.5, 1, 1, 1]),  # v = 4 1 0 2: of 1 2 4 the median is 2
        ([8, 2, 0, 4, 16], [0.75, 1, 1, 1, 0.375]),  # v = 4 1 0 2 8: of 1 2 4 8 it is (2 + 4) / 2
        ([0, 6], [1, 1]),  # a constant feature does not count
    ],
)
def test_no_feature_weighs_more_than_the_median(m2, weights):
    before = [0.25] * len(m2)
    assert slow.capped_weights(before, m2, 3) == weights


def test_weights_stay_while_nothing_varies():
    assert slow.capped_weights([0.5, 1.0], [0.0, 0.0], 3) == [0.5, 1.0]
    assert slow.capped_weights([0.5, 1.0], [0.0, 0.0], 1) == [0.5, 1.0]


def two_coincide():
    """The first recalibration comes with the third sample; the newest two coincide, so it keeps all."""
    model = slow.HandoverOracle(capped=True)
    for x in [[0.0, 0.0, 7.0], [4.0, 1.0, 7.0], [4.0, 1.0, 7.0]]:
        model.learn(x)
    return model


def test_weights_are_refreshed_also_when_interval_and_vigilance_are_kept():
    model = two_coincide()
    assert (model.interval, model.vigilance, model.since_recalibration) == (2, 0.0, 0)
    # 0 4 4: mean 8/3, m2 = (64 + 16 + 16) / 9 = 32/3, v = 16/3. 0 1 1: a sixteenth, v = 1/3.
    # The third does not vary. The median is the mean of 16/3 and 1/3, 17/6; 17/6 / (16/3) = 17/32.
    assert model.feature_weight == pytest.approx([17 / 32, 1, 1], rel=1e-15)


def test_new_weights_count_from_the_next_sample():
    model = two_coincide()
    # The third node was made before the weights: max(v) = 16/3, unweighted.
    assert model.scale[2] == pytest.approx((16 / 3) ** 0.5, rel=1e-15)
    # 2.2 0 is nearer to the others by raw distance, 3.24 + 1 < 4.84, but not in the new metric:
    # 17/32 * 3.24 + 1 = 2.72 and 17/32 * 4.84 = 2.57.
    model.learn([2.2, 0.0, 7.0])
    assert model.nearest == (0, 1)
    assert model.handover == {(0, 1): 1}
    assert model.usage[0] == 2
    # Node 0 has its scale from the weights of before this sample:
    # 0 4 4 2.2: mean 2.55, m2 = 6.5025 + 2 * 2.1025 + 0.1225 = 10.83, v = 3.61; v of 0 1 1 0 is 1/3.
    assert model.scale[0] == pytest.approx((17 / 32 * 3.61) ** 0.5, rel=1e-14)


def test_lengths_and_similarities_use_the_weights():
    model = three_nodes(vigilance=0.0)
    model.feature_weight = [0.25]
    assert model.distance([0.0], [6.0]) == 3.0
    assert model.similarity_to(0, [6.0]) == 1 / 4
    assert model.spread() == 5.0  # v = 100, a quarter of it 25
    model.window = column(0, 6)
    assert model.window_similarity() == [[1, 1 / 4], [1 / 4, 1]]


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 9))
def test_many_distances_are_the_single_ones(seed, n, d):
    rng = np.random.default_rng(seed)
    x, points, weights = rng.normal(size=d), rng.normal(size=(n, d)), rng.random(d)
    assert slow.weighted_distances(x, points, weights) == [
        slow.weighted_distance(x, point, weights) for point in points
    ]
    assert slow.weighted_distances(x, points, np.ones(d)) == [oracle.distance(x, point) for point in points]


# ---- 1. Candidates and links -----------------------------------------------------------------


def test_candidates_are_used_more_than_once():
    assert slow.candidates([1, 2, 1, 5]) == [1, 3]


def test_all_are_candidates_if_none_is_used_more_than_once():
    assert slow.candidates([1, 1, 1]) == [0, 1, 2]


def test_links_to_others_do_not_count():
    # Node 1 is no candidate. Its links with 0 and 2 do not make these two linked.
    w = {(0, 1): 9, (1, 2): 9, (2, 4): 3}
    assert slow.linked_nodes(w, [0, 2, 3, 4]) == [2, 4]
    assert slow.between(w, [2, 4]) == {(0, 1): 3}
    assert slow.strengths({(0, 1): 3}, 2) == [3, 3]


def test_fewer_than_three_linked_nodes_are_one_cluster():
    # Far apart, and every node but the second a candidate; only 0 and 3 are linked.
    labels = valleys.read_out(column(0, 1, 500, 1000), [2, 1, 2, 2], {(0, 1): 8, (0, 3): 5, (1, 2): 8}, [1.0])
    assert labels == [0, NONE, 0, 0]


def test_no_links_are_one_cluster():
    assert valleys.read_out(column(0, 500), [1, 1], {}, [1.0]) == [0, 0]
    assert valleys.read_out([], [], {}, [1.0]) == []


# ---- 2. Louvain ------------------------------------------------------------------------------


def test_two_triangles_with_a_bridge():
    # Gains times 62, so w * 62 - g G; everybody alone at first. The first pass:
    #   0: with 1 310 - 100 = 210, with 2 310 - 110 = 200: joins 1.
    #   1: staying with 0 is 210, with 2 200: stays.
    #   2: with {0,1} 620 - 11 * 20 = 400, with 3 62 - 121 < 0: joins 1.
    #   3: with {0,1,2} 62 - 11 * 31 < 0, with 4 and with 5 310 - 110 = 200, a tie: joins 4.
    #   4: staying with 3 is 200, with 5 210: joins 5, and leaves 3 alone in a group that is still called 4.
    #   5: staying with 4 is 210, with 3 200: stays.
    # The second: 3 joins {4,5} with 620 - 11 * 20 = 400; no other node moves. In the third none does.
    g = slow.strengths(TRIANGLES, 6)
    assert g == [10, 10, 11, 11, 10, 10]
    assert slow.move_until_stable(TRIANGLES, g, range(6)) == [1, 1, 1, 5, 5, 5]
    # As nodes: g = 31 31, one hand-over between them, 62 - 961 < 0. That is the end.
    assert slow.aggregate(TRIANGLES, g, [0, 0, 0, 1, 1, 1]) == ({(0, 1): 1}, [31, 31])
    assert slow.louvain(TRIANGLES, 6) == [0, 0, 0, 1, 1, 1]


def test_ties_go_to_the_lowest_label():
    # A ring of four, g = 2, the sum is 8; gains times 8.
    #   0: with 1 and with 3 8 - 4 = 4, a tie: joins 1. (With 3 it would end in {0,3} and {1,2}.)
    #   1: staying with 0 is 4, with 2 4, a tie with staying: stays.
    #   2: with {0,1} 8 - 2 * 4 = 0, with 3 4: joins 3.
    #   3: staying with 2 is 4, with {0,1} 0: stays.
    # The second pass changes nothing. As nodes: g = 4 4, two hand-overs, 2 * 8 - 16 = 0: no gain, no move.
    ring = {(0, 1): 1, (1, 2): 1, (2, 3): 1, (0, 3): 1}
    assert slow.move_until_stable(ring, [2, 2, 2, 2], range(4)) == [1, 1, 3, 3]
    assert slow.louvain(ring, 4) == [0, 0, 1, 1]


def test_the_lowest_label_is_not_that_of_the_lowest_node():
    # Node 4 has two hand-overs with {0,1} and two with {2,3}; g = 4 everywhere, the sum is 20.
    # It gains 2 * 20 - 4 * 8 = 8 with either.
    w = {(0, 1): 3, (2, 3): 3, (0, 4): 1, (1, 4): 1, (2, 4): 1, (3, 4): 1}
    g = slow.strengths(w, 5)
    assert g == [4, 4, 4, 4, 4]
    assert slow.best_group(4, w, g, [2, 2, 3, 3, 4]) == 2
    # Now node 1 founded the group of 2 and 3 and left: that group is called 1, and is the lower.
    assert slow.best_group(4, w, g, [2, 2, 1, 1, 4]) == 1


def test_a_node_does_not_leave_to_be_alone():
    # Three nodes that were groups, with 8 inside each; 0 has one hand-over with 1 and one with 2.
    # g = 10 9 9, the sum is 28. With 1, where it is, and with 2 it has 28 - 90 = -62; alone it would have 0.
    assert slow.best_group(0, {(0, 1): 1, (0, 2): 1}, [10, 9, 9], [1, 1, 2]) == 1


def test_a_move_gains_more_than_a_trifle():
    # Both are times the sum of g, so that a lead of 1 in a sum of 1e12 is just 1e-12, not more.
    assert not slow.beats(7, 7, 62)
    assert slow.beats(8, 7, 62)
    assert slow.beats(8, 7, 10**12 - 1)
    assert not slow.beats(8, 7, 10**12)
    assert slow.beats(9, 7, 10**12)


def test_nodes_move_once_more_at_the_end():
    # The chain 0 - 1 - 5 - 4 = 2 = 3 with 1 1 1 2 3 hand-overs. g = 1 2 5 3 3 2, the sum is 16.
    # Gains times 16, everybody alone at first:
    #   0: with 1 16 - 2 = 14: joins 1.              1: staying is 14, with 5 16 - 4 = 12: stays.
    #   2: with 3 48 - 15 = 33, with 4 32 - 15 = 17: joins 3.       3: stays.
    #   4: with {2,3} 32 - 3 * 8 = 8, with 5 16 - 6 = 10: joins 5.
    #   5: staying with 4 is 10, with {0,1} 16 - 2 * 3 = 10, a tie with staying: stays.
    # The second pass changes nothing: [1, 1, 3, 3, 5, 5].
    w = {(0, 1): 1, (1, 5): 1, (4, 5): 1, (2, 4): 2, (2, 3): 3}
    g = [1, 2, 5, 3, 3, 2]
    assert slow.move_until_stable(w, g, range(6)) == [1, 1, 3, 3, 5, 5]
    # As nodes 0 = {0,1}, 1 = {2,3}, 2 = {4,5}: g = 3 8 5, hand-overs 1 between 0 and 2, 2 between 1 and 2.
    #   0: with 2 16 - 15 = 1: joins 2.              1: with {0,2} 32 - 64 < 0: stays.
    #   2: staying with 0 is 1, with 1 32 - 40 < 0: stays.
    pairs = ({(0, 2): 1, (1, 2): 2}, [3, 8, 5])
    assert slow.aggregate(w, g, [0, 0, 1, 1, 2, 2]) == pairs
    assert slow.move_until_stable(*pairs, range(3)) == [2, 1, 2]
    # As nodes 0 = {2,3}, since its label 1 is the lower, and 1 = {0,1,4,5}: 32 - 64 < 0, nothing moves.
    # Back to the six nodes with these groups:
    #   4: staying with {0,1,5} is 16 - 3 * 5 = 1, with {2,3} 32 - 24 = 8: joins group 0.
    #   5: staying with {0,1} is 16 - 2 * 3 = 10, with {2,3,4} 16 - 22 < 0: stays, as do all others.
    assert slow.move_until_stable(w, g, [1, 1, 0, 0, 1, 1]) == [1, 1, 0, 0, 0, 1]
    assert slow.louvain(w, 6) == [1, 1, 0, 0, 0, 1]


def test_one_group_is_one_cluster():
    # A chain of three with one hand-over each: g = 1 2 1, the sum is 4. 0 joins 1 with 4 - 2 = 2,
    # 1 has 2 either way and stays, 2 joins {0,1} with 4 - 3 = 1. However far apart they are.
    chain = {(0, 1): 1, (1, 2): 1}
    assert slow.louvain(chain, 3) == [0, 0, 0]
    assert valleys.read_out(column(0, 500, 90000, 7), [2, 2, 2, 2], chain, [1.0]) == [0, 0, 0, 0]


def modularity(w, label):
    """Sum over groups of e_cc - a_c^2, from the definition."""
    total = 2 * sum(w.values())
    inner = sum(2 * count for (i, j), count in w.items() if label[i] == label[j])
    share = dict.fromkeys(label, 0)
    for (i, j), count in w.items():
        share[label[i]] += count
        share[label[j]] += count
    return Fraction(inner, total) - sum(Fraction(all_of, total) ** 2 for all_of in share.values())


@st.composite
def graphs(draw):
    """Weighted graphs in which every node is linked: a random tree and some more."""
    n = draw(st.integers(3, 12))
    ends = [(draw(st.integers(0, j - 1)), j) for j in range(1, n)]
    nodes = st.integers(0, n - 1)
    ends += draw(st.lists(st.tuples(nodes, nodes).filter(lambda ij: ij[0] < ij[1]), max_size=2 * n))
    return {ij: draw(st.integers(1, 4)) for ij in ends}, n


@given(graphs(), st.data())
def test_gains_are_those_of_modularity(graph, data):
    w, n = graph
    g = slow.strengths(w, n)
    label = slow.numbered(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    before = modularity(w, label)
    i = data.draw(st.integers(0, n - 1))
    moved = list(label)
    moved[i] = slow.best_group(i, w, g, label)
    tried = [modularity(w, [*label[:i], c, *label[i + 1 :]]) for c in slow.links(i, w, label)]
    assert modularity(w, moved) == max([before, *tried])


@given(graphs())
def test_no_node_of_the_finest_answer_would_rather_move(graph):
    w, n = graph
    finest = slow.louvain(w, n)
    assert sorted(set(finest)) == list(range(max(finest) + 1))
    assert slow.move_until_stable(w, slow.strengths(w, n), finest) == finest
    assert modularity(w, finest) >= max(0, modularity(w, range(n)))


# ---- 5. Candidates without links -------------------------------------------------------------


def test_a_candidate_without_links_joins_the_nearest_in_the_metric():
    # Pairs {0,1} and {2,3}; node 4 at (4, 3) has links with node 5 only, which is no candidate.
    # To (0, 2): 16 + 1 = 17. To (6, 8): 4 + 25 = 29. With a quarter of the second: 16.25 and 10.25.
    y = [[0.0, 0.0], [0.0, 2.0], [6.0, 8.0], [6.0, 10.0], [4.0, 3.0], [4.0, 4.0]]
    usage = [2, 2, 2, 2, 2, 1]
    w = {(0, 1): 5, (2, 3): 5, (4, 5): 9, (0, 5): 9}
    assert valleys.read_out(y, usage, w, [1.0, 1.0]) == [0, 0, 1, 1, 0, NONE]
    assert valleys.read_out(y, usage, w, [1.0, 0.25]) == [0, 0, 1, 1, 1, NONE]


@pytest.mark.parametrize("y", [[0, 1, 10, 9, 5], [10, 9, 0, 1, 5]])
def test_of_equally_near_linked_nodes_the_lowest_decides(y):
    # 5 is 4 from node 1 (at 1 or 9) and from node 3 (at 9 or 1): the label of node 1.
    assert valleys.read_out(column(*y), [2] * 5, {(0, 1): 5, (2, 3): 5}, [1.0]) == [0, 0, 1, 1, 0]


def test_only_linked_nodes_hand_out_their_label():
    # Node 0 at 6 and node 1 at 4.5 have no links; node 0 is nearest to node 1 (1.5), whose label is that of
    # 1 (3.5 away, against 5.5), but node 0 itself is 4 from 10 and 5 from 1.
    labels = valleys.read_out(column(6, 4.5, 0, 1, 10, 11), [2] * 6, {(2, 3): 5, (4, 5): 5}, [1.0])
    assert labels == [1, 0, 0, 0, 1, 1]
