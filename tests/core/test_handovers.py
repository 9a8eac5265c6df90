import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.core import handovers
from everclust.core.growth import grow, has_room
from everclust.core.invariants import check
from everclust.core.layout import NONE
from everclust.core.learn import learn
from everclust.core.maintenance import maintain
from everclust.core.serialise import export
from everclust.core.state import HANDOVER, new_state, scalars_of
from support.jit_mode import PLAIN

NODES = [[0], [10], [20], [30]]


def pairs(state):
    return {(i, j): count for i, j, count in handovers.handovers(state).tolist()}


@pytest.mark.parametrize("pair", [(0, 2), (2, 0)])
def test_a_pair_is_the_same_in_both_directions(pair, model, compiled):
    state = model(NODES, handover=[(0, 2, 3), (1, 3, 1)])
    compiled(handovers.hand_over)(state, *pair)
    assert pairs(state) == {(0, 2): 4, (1, 3): 1}
    assert scalars_of(state).n_handovers == 2


def test_a_new_neighbour_outdates_what_was_handed_over_beyond_it(model, compiled):
    counts = [(0, 1, 5), (1, 2, 6), (1, 3, 7), (2, 3, 8)]
    state = model(NODES, handover=counts)
    compiled(handovers.outdate_beyond)(state, 1, 10.0)
    assert pairs(state) == {(0, 1): 5, (1, 2): 6, (1, 3): 1, (2, 3): 8}
    compiled(handovers.outdate_beyond)(state, 1, 9.0)
    assert pairs(state) == {(0, 1): 1, (1, 2): 1, (1, 3): 1, (2, 3): 8}
    assert scalars_of(state).n_handovers == 4


def test_no_hand_overs(model):
    assert handovers.handovers(model(NODES)).shape == (0, 3)


def test_they_are_sorted(model):
    state = model(NODES, handover=[(2, 3, 1), (0, 3, 2), (0, 1, 3), (1, 2, 4)])
    assert handovers.handovers(state).tolist() == [[0, 1, 3], [0, 3, 2], [1, 2, 4], [2, 3, 1]]


def test_nodes_are_found_by_births(compiled):
    births = np.array([3, 5, 2**30, 2**30 + 3])
    slots = compiled(handovers.new_buckets)(births)
    assert len(slots) == 8
    found = [compiled(handovers.index_of)(births, slots, birth) for birth in (*births, 4, 2**30 + 8)]
    assert found == [0, 1, 2, 3, NONE, NONE]


def test_pairs_of_dropped_nodes_are_forgotten(model, compiled):
    # Three nodes were used once, and Λ = 2 of them stay: node 0 goes, and the others move up.
    state = model(
        [*NODES, [40]],
        usage=[1, 3, 1, 3, 1],
        handover=[(0, 1, 5), (0, 4, 1), (1, 2, 2), (1, 3, 6), (2, 3, 4)],
        interval=2,
        n_seen=40,
    )
    compiled(maintain)(state, False)
    assert state.prototype[:4, 0].tolist() == [10, 20, 30, 40]
    assert pairs(state) == {(0, 1): 2, (0, 2): 6, (1, 2): 4}
    # They are known by their births, so that a hand-over from now on meets those from before.
    compiled(handovers.hand_over)(state, 2, 1)
    assert pairs(state) == {(0, 1): 2, (0, 2): 6, (1, 2): 5}


def full_table(model, compiled):
    """Fifty nodes and a table that is half full, so that there is no room for another sample."""
    state = model(np.arange(50.0)[:, None], usage=[2] * 50, n_seen=5000, interval=40)
    for i in range(50):
        for j in range(i):
            if 2 * scalars_of(state).n_handovers < len(state.handover):
                compiled(handovers.hand_over)(state, i, j)
    assert not compiled(has_room)(state)
    return state


def test_a_full_table_is_doubled(model, compiled):
    state = full_table(model, compiled)
    bigger = grow(state)
    assert len(bigger.handover) == 2 * len(state.handover)
    assert pairs(bigger) == pairs(state)
    assert scalars_of(bigger).n_handovers == scalars_of(state).n_handovers == 32
    check(bigger)


@pytest.mark.parametrize(
    ("n_left", "n_pairs"), [(3, 3), (4, 32)]
)  # 32 are many for three nodes, not for four
def test_a_table_with_many_dropped_nodes_is_cleared(n_left, n_pairs, model, compiled):
    state = full_table(model, compiled)
    scalars_of(state).n_nodes = n_left  # as if all others had been dropped
    left = grow(state)
    assert scalars_of(left).n_handovers == n_pairs
    assert len(left.handover) == len(state.handover) * (1 if n_pairs == 3 else 2)
    assert pairs(left) == {(j, i): 1 for i in range(n_left) for j in range(i)}
    assert compiled(has_room)(left)


def test_pairs_that_meet_in_the_table_are_told_apart(model, compiled):
    """A table of 64 rows has room for 32 pairs: most of them do not find their own place empty."""
    state = full_table(model, compiled)
    expected = {(j, i): 1 for i in range(9) for j in range(i)}
    assert pairs(state) == {pair: expected[pair] for pair in list(expected)[:32]}
    for j, i in pairs(state):
        compiled(handovers.hand_over)(state, j, i)
    assert set(pairs(state).values()) == {2}
    assert scalars_of(state).n_handovers == 32


def test_the_model_before_it_grew_stays_whole(model, compiled):
    """Ctrl-C may come before the new one has taken its place."""
    state = full_table(model, compiled)
    before = [array.copy() for array in state]
    grow(state)
    for now, then in zip(state, before, strict=True):
        assert np.array_equal(now, then)


@given(seed=st.integers(0, 2**32))
def test_every_sample_from_the_fourth_on_hands_over_once(seed):
    """What dropped nodes handed over is forgotten."""
    X = np.random.default_rng(seed).normal(size=(40, 2))
    state, expected, dropped = new_state(2), 0, False
    for i in range(len(X)):
        n_nodes, n_born = scalars_of(state).n_nodes, scalars_of(state).n_born
        state = learn(state, X[i : i + 1])
        born = scalars_of(state).n_born > n_born
        dropped = dropped or scalars_of(state).n_nodes < n_nodes + born
        expected += i >= 3
        total = sum(pairs(state).values())
        assert total <= expected if dropped else total == expected
        check(state)


def test_the_size_of_the_table_changes_nothing():
    X = np.random.default_rng(3).normal(size=(300 if PLAIN else 3000, 2))
    small = learn(new_state(2), X)
    large = learn(new_state(2)._replace(handover=np.zeros(2**16, HANDOVER)), X)
    (scalars, arrays), again = export(small), export(large)
    assert scalars == again[0]
    for name, array in arrays.items():
        assert np.array_equal(array, again[1][name]), name
