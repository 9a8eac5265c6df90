import numpy as np
import pytest

from everclust.core.growth import grow, has_room
from everclust.core.pair_table import pair_of
from everclust.core.serialise import export
from everclust.core.state import allocate, copy, new_state, scalars_of
from everclust.core.variants import starting_at
from everclust.core.window import window_rows


def test_a_new_state_has_seen_nothing():
    state = new_state(3)
    scalars = scalars_of(state)
    assert (scalars.n_seen, scalars.n_nodes, scalars.interval, scalars.vigilance) == (0, 0, 2, 0)
    assert state.prototype.shape == (64, 3)
    assert len(state.window) == 64


def test_a_longer_first_interval_gets_a_longer_window():
    state = new_state(1, starting_at(500))
    assert scalars_of(state).interval == 500
    assert len(state.window) == 1024  # the least power of two for 2 · 500 samples


def test_room_comes_in_powers_of_two():
    state = allocate(2, nodes=65, slots=64, pairs=129, window=3)
    assert [len(array) for array in (state.node, state.prototype, state.slot, state.pair, state.window)] == [
        128,
        128,
        64,
        256,
        64,
    ]


def test_scalars_can_be_written():
    state = new_state(1)
    scalars_of(state).n_seen = 7
    assert state.scalars["n_seen"][0] == 7


@pytest.mark.parametrize(
    ("field", "last", "array"),
    [
        ("n_nodes", 63, "node"),
        ("n_slots", 62, "slot"),  # a sample may need two
        ("n_pairs", 31, "pair"),  # half of the hash table stays empty
        ("interval", 32, "window"),
    ],
)
def test_room_runs_out(field, last, array, compiled):
    state = new_state(1)
    state.scalars[field] = last
    assert compiled(has_room)(state)
    state.scalars[field] = last + 1
    assert not compiled(has_room)(state)
    if field != "n_pairs":  # pairs that are not there cannot be entered into a new table
        bigger = grow(state)
        assert compiled(has_room)(bigger)
        assert len(getattr(bigger, array)) == 128
        others = {"node", "slot", "pair", "window"} - {array}
        assert all(len(getattr(bigger, other)) == 64 for other in others)


def test_growing_changes_nothing_but_the_room(model):
    rng = np.random.default_rng(0)
    state = model(
        rng.normal(size=(64, 2)),
        usage=[3] * 64,
        active=[1] * 64,
        evidence=[(i, i + 1, 1 + i % 3) for i in range(40)],
        edge=[(i, i + 1) for i in range(0, 40, 3)],
        activity=rng.integers(0, 3, 64),
        interval=32,
        window=rng.normal(size=(50, 2)),
    )
    scalars_of(state).interval = 33
    bigger = grow(state)
    assert len(bigger.window) == 128
    before, after = export(state), export(bigger)
    assert before[0] == after[0]
    for name in before[1]:
        np.testing.assert_array_equal(before[1][name], after[1][name])


def test_pairs_are_found_in_the_larger_table(compiled):
    state = allocate(1)
    pairs = [(0, b) for b in range(1, 33)]
    rows = [compiled(pair_of)(state, *pair) for pair in pairs]
    bigger = grow(state)
    assert len(bigger.pair) == 128
    assert [compiled(pair_of)(bigger, *pair) for pair in pairs] == rows
    assert scalars_of(bigger).n_pairs == 32


def test_a_ring_that_has_turned_is_straightened():
    # The ring of 64 holds 60 … 69: its head is at row 6.
    state = new_state(1)
    scalars = scalars_of(state)
    scalars.window_head, scalars.window_size, scalars.interval = 6, 10, 40
    state.window[:, 0] = [*range(64, 70), *range(6, 64)]
    assert window_rows(state).ravel().tolist() == list(range(60, 70))
    bigger = grow(state)
    assert len(bigger.window) == 128
    assert window_rows(bigger).ravel().tolist() == list(range(60, 70))
    assert scalars_of(bigger).window_head == 10


def test_a_copy_is_independent(model):
    state = model([[0], [1], [2]])
    other = copy(state)
    other.prototype[0] = 9
    scalars_of(other).n_seen = 99
    assert state.prototype[0] == 0
    assert scalars_of(state).n_seen == 3
