from itertools import combinations

from everclust.core.layout import NONE
from everclust.core.pair_table import pair_of, rehash
from everclust.core.state import allocate, scalars_of


def test_a_pair_is_the_same_either_way_round(compiled):
    state = allocate(1)
    row = compiled(pair_of)(state, 5, 2)
    assert row == compiled(pair_of)(state, 2, 5) == 0
    assert (state.pair["a"][row], state.pair["b"][row], state.pair["evidence"][row]) == (2, 5, 0)
    assert scalars_of(state).n_pairs == 1


# The hash table starts with 64 places, and slots 64 apart have the same hash.
COLLIDING = [*combinations(range(0, 4), 2), *((a, b + 64) for a, b in combinations(range(0, 4), 2)), (65, 67)]


def test_every_pair_is_found_again_despite_collisions(compiled):
    state = allocate(1)
    rows = {pair: compiled(pair_of)(state, *pair) for pair in COLLIDING}
    assert sorted(rows.values()) == list(range(13))
    assert {pair: compiled(pair_of)(state, *pair) for pair in rows} == rows
    assert scalars_of(state).n_pairs == 13


def test_rehash_finds_every_pair_in_an_empty_table(compiled):
    state = allocate(1)
    rows = {pair: compiled(pair_of)(state, *pair) for pair in COLLIDING}
    state.pair_bucket[:] = NONE
    rehash(state)
    assert {pair: compiled(pair_of)(state, *pair) for pair in rows} == rows
