import math

import numpy as np
import pytest

from everclust.core.invariants import check
from everclust.core.learn import learn
from everclust.core.resonance import count_coactivation, count_use, create, move_towards, similarity
from everclust.core.serialise import export
from everclust.core.state import new_state, scalars_of
from everclust.core.variants import PRINTED_EVIDENCE, PUBLISHED

HALF = 0.5
JUST_ABOVE, JUST_BELOW = np.nextafter(HALF, 1), np.nextafter(HALF, 0)


@pytest.fixture
def met(model):
    """What is left after the sample x has met three nodes, with neither maintenance nor recalibration due."""

    def meet(x, *, variant=PUBLISHED, **fields):
        fields = {"prototype": [[0], [3], [100]], "scale": [1, 2, 1]} | fields
        state = model(**fields, interval=50, n_seen=51, mean=[2], square_sum=[30])
        state = learn(state, np.array([[float(x)]]), variant)
        check(state)
        return export(state)[1]

    return meet


def test_similarity(compiled):
    assert compiled(similarity)(0.0, 2.0) == 1.0
    assert compiled(similarity)(6.0, 2.0) == 0.25  # 1 / (1 + 6/2)


# The sample 1 is 1 away from node 0 (σ = 1) and 2 away from node 1 (σ = 2): both similarities are 1/2.


def test_too_far_makes_a_node(met):
    after = met(1, vigilance=JUST_ABOVE)
    assert after["prototype"].ravel().tolist() == [0, 3, 100, 1]
    assert after["usage"].tolist() == [1, 1, 1, 1]
    assert after["activity"].tolist() == [0, 0, 0, 1]
    # Welford first: delta = 1 − 2, mean = 2 − 1/52, M2 = 30 + (−1)(1 − mean), n = 52.
    mean = 2 - 1 / 52
    assert after["mean"].tolist() == [mean]
    assert after["scale"][3] == math.sqrt((30 - (1 - mean)) / 51)


def test_equal_to_the_threshold_resonates_first_but_not_second(met):
    after = met(1, vigilance=HALF)
    assert after["usage"].tolist() == [2, 1, 1]
    assert after["prototype"].ravel().tolist() == [0.5, 3, 100]  # 0 + (1 − 0)/2


def test_above_the_threshold_the_second_follows(met):
    after = met(1, vigilance=JUST_BELOW)
    assert after["usage"].tolist() == [2, 2, 1]
    # The second moves by (1 − 3)/(2 + 2), both counts already increased.
    assert after["prototype"].ravel().tolist() == [0.5, 2.5, 100]
    assert after["activity"].tolist() == [1, 1, 0]
    # The first takes today's spread, which has seen the sample; the second's scale is not touched.
    assert after["scale"][0] == math.sqrt((30 - (1 - (2 - 1 / 52))) / 51)
    assert after["scale"][1] == 2


def test_a_passing_second_does_not_save_a_failing_first(met):
    # Node 0 is nearer but its σ is small: similarity 1/11; node 1's is 1/2.
    after = met(1, scale=[0.1, 2, 1], vigilance=0.4)
    assert len(after["usage"]) == 4


def test_selection_is_by_distance_not_by_similarity(met):
    # Node 1 is more similar (σ = 100) but farther.
    after = met(1, scale=[1, 100, 1], vigilance=0.5)
    assert after["usage"].tolist() == [2, 2, 1]
    assert after["prototype"][0, 0] == 0.5


# T_active is the mean usage over nodes used more than once.


def test_busy_pair_becomes_active_and_gathers_evidence(met):
    # After use 5, 5, 2: the mean is 4. One piece of evidence is not above its own mean: no edge.
    after = met(1, usage=[4, 4, 2])
    assert after["active"].tolist() == [True, True, False]
    assert after["evidence"].tolist() == [[0, 1, 1]]
    assert after["edge"].tolist() == []
    assert after["activity"].tolist() == [2, 2, 0]  # a use and a piece of evidence each


def test_nodes_used_once_do_not_lower_the_bar(met):
    # After use 3, 3 and 1: the mean over those above 1 is 3, and 3 is not above it.
    after = met(1, usage=[2, 2, 1])
    assert not after["active"].any()
    assert len(after["evidence"]) == 0


@pytest.mark.parametrize(
    "usage",
    [
        [9, 2, 4],  # 10, 3 and 4 after use: the second is below the mean
        [2, 9, 4],
        [4, 6, 3],  # 5, 7 and 3: the first is as busy as the mean, no more
        [6, 4, 3],
    ],
)
def test_both_must_be_busier_than_average(usage, met):
    after = met(1, usage=usage)
    assert not after["active"].any()
    assert len(after["evidence"]) == 0


def test_printed_reading_gathers_evidence_in_any_case(met):
    after = met(1, usage=[2, 2, 1], variant=PRINTED_EVIDENCE)
    assert not after["active"].any()
    assert after["evidence"].tolist() == [[0, 1, 1]]
    # Two pieces are above the mean of 2 and 1, so nodes get an edge that are not active: 3 is below the
    # mean usage of 3, 3 and 5.
    after = met(1, usage=[2, 2, 5], evidence=[(0, 1, 1), (0, 2, 1)], variant=PRINTED_EVIDENCE)
    assert not after["active"].any()
    assert after["edge"].tolist() == [[0, 1]]


def test_evidence_above_its_mean_makes_an_edge(met):
    # E(0,1) becomes 2; the mean of 2 and 1 is 1.5.
    after = met(1, usage=[4, 4, 2], evidence=[(0, 1, 1), (0, 2, 1)])
    assert after["evidence"].tolist() == [[0, 1, 2], [0, 2, 1]]
    assert after["edge"].tolist() == [[0, 1]]


def test_evidence_equal_to_its_mean_does_not(met):
    after = met(1, usage=[4, 4, 2], evidence=[(0, 1, 1), (0, 2, 2)])
    assert after["evidence"].tolist() == [[0, 1, 2], [0, 2, 2]]
    assert after["edge"].tolist() == []


def test_create_gives_the_first_node_the_second_ones_scale(compiled):
    state = new_state(1)
    for n_seen, x in enumerate([0.0, 4.0, 1.0]):
        scalars_of(state).n_seen = n_seen
        compiled(create)(state, np.array([x]))
    # 0 and 4: M2 = 8, scale √8. Then 0, 4, 1: mean 5/3, M2 = 78/9, scale √(39/9).
    scale = state.node["scale"][:3]
    assert scale[:2].tolist() == [math.sqrt(8), math.sqrt(8)]
    assert scale[2] == pytest.approx(math.sqrt(39 / 9), rel=1e-15)
    assert scalars_of(state).n_nodes == scalars_of(state).n_touched == 3


def test_use_keeps_the_running_sums(model, compiled):
    state = model([[0], [1], [2]], usage=[1, 1, 3])
    scalars = scalars_of(state)
    assert (scalars.used_nodes, scalars.used_usage) == (1, 3)
    compiled(count_use)(state, 0)
    assert (scalars.used_nodes, scalars.used_usage) == (2, 5)
    compiled(count_use)(state, 0)
    assert (scalars.used_nodes, scalars.used_usage) == (2, 6)
    assert state.node["activity"][:3].tolist() == [2, 0, 0]
    assert scalars.n_touched == 1


def test_absorb(model, compiled):
    state = model([[0, 8], [1, 1], [2, 2]])
    compiled(move_towards)(state, 0, np.array([4.0, 0.0]), 4)
    assert state.prototype[0].tolist() == [1, 6]


def test_support_of_a_busy_pair_twice_makes_no_second_activation(model, compiled):
    state = model([[0], [1], [2]], usage=[5, 5, 2])
    compiled(count_coactivation)(state, 0, 1, False)
    compiled(count_coactivation)(state, 1, 0, False)
    scalars = scalars_of(state)
    assert (scalars.n_active, scalars.n_slots, scalars.n_pairs, scalars.total_evidence) == (2, 2, 1, 2)
