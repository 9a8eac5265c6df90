import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.core import handovers
from everclust.core.learn import learn
from everclust.core.maintenance import maintain
from everclust.core.portable import export
from everclust.core.readings import BIRTHLESS, PUBLISHED
from everclust.core.state import check, clock_of, grow, new_state

NODES = [[0], [10], [20], [30]]


def pairs(state):
    return {(i, j): count for i, j, count in handovers.handovers(state).tolist()}


@pytest.mark.parametrize("pair", [(0, 2), (2, 0)])
def test_a_pair_is_the_same_in_both_directions(pair, model, compiled):
    state = model(NODES, handover=[(0, 2, 3), (1, 3, 1)])
    compiled(handovers.hand_over)(state, *pair)
    assert pairs(state) == {(0, 2): 4, (1, 3): 1}
    assert clock_of(state).n_handovers == 3  # written down, and added up when asked for


def test_no_hand_overs(model):
    assert handovers.handovers(model(NODES)).shape == (0, 3)


def test_they_are_sorted(model):
    state = model(NODES, handover=[(2, 3, 1), (0, 3, 2), (0, 1, 3), (1, 2, 4)])
    assert handovers.handovers(state).tolist() == [[0, 1, 3], [0, 3, 2], [1, 2, 4], [2, 3, 1]]


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


def test_a_full_page_is_turned(model, compiled):
    state = model(NODES, handover=[(0, 1, 1)])
    assert len(state.handover) == handovers.SHORT_PAGE
    write = compiled(handovers.hand_over)
    for i in range(handovers.SHORT_PAGE - 1):
        write(state, i % 2, 2)
    assert clock_of(state).n_handovers == len(state.handover)
    before = pairs(state)
    assert before == {(0, 1): 1, (0, 2): 1024, (1, 2): 1023}
    turned = grow(state)
    assert pairs(turned) == before
    assert clock_of(turned).n_handovers == 3
    assert len(turned.handover) == 2 * handovers.SHORT_PAGE
    assert turned.node["birth"][:4].tolist() == [0, 1, 2, 3]
    assert clock_of(turned).n_born == 4


def test_the_model_before_the_page_was_turned_stays_whole(model, compiled):
    """Ctrl-C may come before the new one has taken its place."""
    state = model(NODES, handover=[(0, 1, 1)], n_seen=5000, usage=[2] * 4)
    for i in range(handovers.SHORT_PAGE - 1):
        compiled(handovers.hand_over)(state, i % 2, 2)
    before = [array.copy() for array in state]
    learn(grow(state), np.arange(40.0)[:, None])
    for now, then in zip(state, before, strict=True):
        assert np.array_equal(now, then)


def test_a_page_is_twice_as_long_as_what_stands_on_it():
    n = handovers.LONG_PAGE
    state = new_state(1)._replace(handover=handovers.new_page(n))
    nodes = np.zeros(300, state.node.dtype)
    nodes["birth"] = np.arange(300)
    state = state._replace(node=nodes)
    clock_of(state).n_nodes = clock_of(state).n_born = 300
    many = [(i, j) for i in range(300) for j in range(i + 1, 300)][:n]
    state.handover["a"], state.handover["b"] = np.array(many).T
    state.handover["count"] = 1
    clock_of(state).n_handovers = n
    turned = handovers.turn_page(state)
    assert len(turned.handover) == 2 * n
    assert clock_of(turned).n_handovers == n
    assert len(pairs(turned)) == n


@given(seed=st.integers(0, 2**32), births=st.booleans())
def test_every_sample_from_the_fourth_on_hands_over_once(seed, births):
    """Unless a node is born and births do not count; what dropped nodes handed over is forgotten."""
    X = np.random.default_rng(seed).normal(size=(40, 2))
    reading = PUBLISHED if births else BIRTHLESS
    state, expected, dropped = new_state(2, reading), 0, False
    for i in range(len(X)):
        n_nodes, n_born = clock_of(state).n_nodes, clock_of(state).n_born
        state = learn(state, X[i : i + 1], reading)
        born = clock_of(state).n_born > n_born
        dropped = dropped or clock_of(state).n_nodes < n_nodes + born
        expected += i >= 3 and (births or not born)
        total = sum(pairs(state).values())
        assert total <= expected if dropped else total == expected
        check(state)


def test_turning_pages_changes_nothing_else(monkeypatch):
    X = np.random.default_rng(3).normal(size=(3000, 2))
    whole = export(learn(new_state(2), X))
    monkeypatch.setattr(handovers, "LONG_PAGE", 64)
    short = new_state(2)._replace(handover=handovers.new_page(64))
    again = export(learn(short, X))
    assert whole[0] == again[0]
    for name, array in whole[1].items():
        assert np.array_equal(array, again[1][name]), name
