import numpy as np
import pytest

from everclust.core.cluster_ids import update_ids
from everclust.core.invariants import check
from everclust.core.learn import learn
from everclust.core.maintenance import maintain
from everclust.core.readout import components
from everclust.core.serialise import export
from everclust.core.spread import widest_scale
from everclust.core.state import new_state, scalars_of
from everclust.core.topology import add_evidence
from everclust.core.variants import starting_at


@pytest.fixture
def maintained(model, compiled):
    """The state after maintenance was run so many times on a model, and its arrays in plain node order."""

    def run(times=1, **fields):
        state = model(**fields)
        for _ in range(times):
            compiled(maintain)(state, False)
        compiled(update_ids)(state)
        check(state)
        return state, export(state)[1]

    return run


# ---- Cut long edges ----

# A chain with edges of length 1, 1, 1, 1 and 10. Ranks 0.75 and 3.25 of five: Q1 = 1 and
# Q3 = 1 + 0.25 · 9 = 3.25, so the fence is 3.25 + 1.5 · 2.25 = 6.625 and only the last edge is above it.
CHAIN = {
    "prototype": [[0], [1], [2], [3], [4], [14]],
    "usage": [4, 4, 4, 4, 4, 4],
    "active": [1, 1, 1, 1, 1, 1],
    "evidence": [(0, 1, 2), (1, 2, 2), (2, 3, 2), (3, 4, 2), (4, 5, 2)],
    "edge": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)],
    "n_seen": 40,
}


def test_a_long_edge_goes_and_its_evidence_with_it(maintained):
    state, after = maintained(**CHAIN)
    assert after["edge"].tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]
    assert after["evidence"].tolist() == [[0, 1, 2], [1, 2, 2], [2, 3, 2], [3, 4, 2]]
    assert components(state).tolist() == [0, 0, 0, 0, 0, 5]
    scalars = scalars_of(state)
    assert (scalars.evident_pairs, scalars.total_evidence) == (4, 8)
    assert scalars.n_nodes - scalars.n_joins == 2


def test_evidence_of_a_cut_edge_starts_again_from_nothing(maintained, compiled):
    state, _ = maintained(**CHAIN)
    compiled(add_evidence)(state, 4, 5)
    after = export(state)[1]
    assert after["evidence"].tolist()[-1] == [4, 5, 1]
    assert len(after["edge"]) == 4  # 1 is below the mean of 9/5


def test_an_edge_as_long_as_the_fence_stays(maintained):
    # All lengths are 2, and so is the fence.
    _, after = maintained(
        prototype=[[0], [2], [4]],
        usage=[3, 3, 3],
        active=[1, 1, 1],
        evidence=[(0, 1, 1), (1, 2, 1)],
        edge=[(0, 1), (1, 2)],
    )
    assert len(after["edge"]) == 2


def test_gains_are_taken_after_the_cut(maintained):
    # Each of nodes 0 to 3 gained 2; node 4 gained 2 and node 5 gained 1, and both 2 more by the edge that
    # is cut. Over 2, 2, 2, 2, 2, 1 the bound is Q1 = Q3 = 2, so node 5 with its 1 is quiet. Had the
    # edge counted, it would have gained 3 and not be quiet.
    _, after = maintained(**CHAIN, activity=[2, 2, 2, 2, 4, 3])
    assert after["idle"].tolist() == [0, 0, 0, 0, 0, 1]


def test_no_gain_left_after_the_cut_resets_everybody(maintained):
    # Only nodes 4 and 5 gained, and lost as much or more by the cut: no P_k is positive, so no node is quiet.
    _, after = maintained(**CHAIN, activity=[0, 0, 0, 0, 2, 1], idle=[0, 0, 0, 0, 0, 1])
    assert after["idle"].tolist() == [0, 0, 0, 0, 0, 0]
    assert after["active"].all()


# ---- Drop single-use nodes ----


def test_the_newest_single_use_nodes_stay_and_indices_close_up(maintained):
    state, after = maintained(
        prototype=[[0], [1], [2], [3], [4], [5]],
        usage=[1, 3, 1, 4, 1, 1],
        scale=[1, 2, 3, 4, 5, 6],
        active=[0, 1, 0, 1, 0, 0],
        evidence=[(1, 3, 7)],
        edge=[(1, 3)],
        interval=2,
    )
    assert after["prototype"].ravel().tolist() == [1, 3, 4, 5]
    assert after["usage"].tolist() == [3, 4, 1, 1]
    assert after["scale"].tolist() == [2, 4, 5, 6]
    assert after["active"].tolist() == [True, True, False, False]
    assert after["evidence"].tolist() == [[0, 1, 7]]
    assert after["edge"].tolist() == [[0, 1]]
    assert components(state).tolist() == [0, 0, 2, 3]


def test_as_many_single_use_nodes_as_the_interval_all_stay(maintained):
    _, after = maintained(prototype=[[0], [1], [2]], usage=[1, 3, 1], interval=2)
    assert len(after["usage"]) == 3


def test_nothing_is_dropped_while_no_node_was_used_twice(maintained):
    _, after = maintained(prototype=[[0], [1], [2], [3]], usage=[1, 1, 1, 1], interval=2)
    assert len(after["usage"]) == 4


def test_the_widest_scale_may_be_dropped(maintained, compiled):
    state, _ = maintained(prototype=[[0], [1], [2], [3]], usage=[1, 3, 1, 1], scale=[9, 1, 2, 3], interval=2)
    assert compiled(widest_scale)(state) == 3


def test_a_known_widest_scale_is_forgotten_with_its_node(model, compiled):
    state = model([[0], [1], [2], [3]], usage=[1, 3, 1, 1], scale=[9, 1, 2, 3], interval=2)
    assert compiled(widest_scale)(state) == 9
    compiled(maintain)(state, False)
    assert compiled(widest_scale)(state) == 3


def test_gains_follow_the_nodes_that_stay(maintained):
    # Dropping node 0 renumbers node 1, which is active, without an edge and gained nothing: it is quiet, as
    # the positive activities of the others are 5 and 1 (Q1 = 1, Q3 = 5, bound max(1 − 6, 0) = 0).
    _, after = maintained(
        prototype=[[0], [1], [2], [3], [4]],
        usage=[1, 6, 9, 1, 1],
        active=[0, 1, 1, 0, 0],
        activity=[1, 0, 5, 0, 1],
        interval=2,
    )
    assert after["prototype"].ravel().tolist() == [1, 2, 3, 4]
    assert after["idle"].tolist() == [1, 0, 0, 0]


# ---- Retire quiet nodes ----

FOUR = {"prototype": [[0], [1], [2], [3]], "usage": [4, 4, 4, 4], "interval": 9}


def test_two_quiet_rounds_in_a_row_retire_a_node(maintained):
    state, after = maintained(**FOUR, active=[1, 0, 0, 0], idle=[0, 0, 0, 0], activity=[0, 3, 0, 0])
    assert (after["active"][0], after["idle"][0]) == (True, 1)
    state, after = maintained(**FOUR, active=[1, 0, 0, 0], idle=[1, 0, 0, 0], activity=[0, 3, 0, 0])
    assert (after["active"][0], after["idle"][0]) == (False, 0)
    assert scalars_of(state).n_active == 0


def test_a_gain_equal_to_the_bound_is_quiet(maintained):
    # All gained 2: Q1 = Q3 = 2, and the bound is 2.
    _, after = maintained(**FOUR, active=[1, 1, 0, 0], activity=[2, 2, 2, 2])
    assert after["idle"].tolist() == [1, 1, 0, 0]


def test_a_gain_above_the_bound_resets_the_count(maintained):
    # Over 1, 2 and 3: Q1 = 1.25, Q3 = 2.75, and 1.25 − 2.25 is floored at 0.
    _, after = maintained(**FOUR, active=[1, 1, 1, 0], idle=[1, 1, 1, 0], activity=[1, 2, 3, 0])
    assert after["idle"].tolist() == [0, 0, 0, 0]
    assert after["active"].tolist() == [True, True, True, False]


def test_nodes_without_gain_do_not_count_in_the_bound(maintained):
    # Over the positive 4, 4, 4 the bound is 4; with the zero in it would be lower.
    _, after = maintained(**FOUR, active=[1, 0, 0, 0], activity=[4, 4, 4, 0])
    assert after["idle"][0] == 1


def test_no_gain_at_all_resets_everybody(maintained):
    _, after = maintained(**FOUR, active=[1, 1, 0, 0], idle=[1, 1, 0, 0], activity=[0, 0, 0, 0])
    assert after["idle"].tolist() == [0, 0, 0, 0]
    assert after["active"].tolist() == [True, True, False, False]


def test_a_node_with_an_edge_is_never_quiet(maintained):
    # Node 0 was quiet once before it got its edge.
    graph = {"evidence": [(0, 1, 3)], "edge": [(0, 1)]}
    _, after = maintained(**FOUR, **graph, active=[1, 1, 0, 0], idle=[1, 0, 0, 0], activity=[0, 0, 5, 0])
    assert after["idle"].tolist() == [0, 0, 0, 0]
    assert after["active"].tolist() == [True, True, False, False]


def test_a_retired_node_keeps_its_evidence(maintained):
    state, after = maintained(
        **FOUR, evidence=[(0, 1, 3)], active=[1, 1, 0, 0], idle=[1, 1, 0, 0], activity=[0, 0, 5, 0]
    )
    assert not after["active"].any()
    assert after["evidence"].tolist() == [[0, 1, 3]]
    assert (scalars_of(state).evident_pairs, scalars_of(state).total_evidence) == (1, 3)


def test_gains_start_afresh(maintained):
    state, after = maintained(**FOUR, activity=[1, 0, 3, 0])
    assert after["activity"].tolist() == [0, 0, 0, 0]
    assert scalars_of(state).n_touched == 0


# ---- When ----


def test_the_very_first_sample_is_followed_by_maintenance():
    # t = 0, and 0 mod Λ = 0 for any first interval: node 0 starts counting after it, the others do not.
    variant = starting_at(100)
    state = learn(new_state(1, variant), np.array([[0.0]]), variant)
    assert export(state)[1]["activity"].tolist() == [0]
    state = learn(state, np.array([[5.0], [9.0]]), variant)
    assert export(state)[1]["activity"].tolist() == [0, 1, 1]


def test_maintenance_comes_every_interval():
    # Samples 0, 3 and 6 of an interval of 3 are followed by maintenance, which clears all activities. The
    # interval stays 3, because all samples but the first two are the same.
    variant = starting_at(3)
    state = new_state(1, variant)
    cleared = []
    for i, x in enumerate([0.0, 1.0, 7.0, 7.0, 7.0, 7.0, 7.0]):
        state = learn(state, np.array([[x]]), variant)
        if not export(state)[1]["activity"].any():
            cleared.append(i)
    assert cleared == [0, 3, 6]
