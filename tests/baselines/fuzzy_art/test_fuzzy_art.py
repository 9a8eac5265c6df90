"""The parts of Fuzzy ART: coding, overlap, choice, match, learning; and room for more."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.baselines.fuzzy_art import fuzzy_art

RNG = np.random.default_rng(0)


def test_complement_code():
    assert fuzzy_art.complement_code(np.array([[0.25, 1.0]])).tolist() == [[0.25, 1.0, 0.75, 0.0]]
    items = fuzzy_art.complement_code(np.asfortranarray(RNG.random((5, 3))))
    assert items.flags.c_contiguous
    assert items.sum(axis=1) == pytest.approx(3.0)


@pytest.mark.parametrize("n_numbers", [1, 2, 3, 4, 7, 8, 30])
def test_overlaps_are_added_up_in_order(compiled, n_numbers):
    item, weight, out = RNG.random(n_numbers), RNG.random((n_numbers, 21)), np.empty(19)
    compiled(fuzzy_art.overlaps)(item, weight, out)
    for k in range(19):
        total = 0.0
        for j in range(n_numbers):
            total += min(item[j], weight[j, k])
        assert out[k] == total


def test_an_item_overlaps_with_itself_to_the_bit(compiled):
    item, out = RNG.random(13), np.empty(1)
    weight = fuzzy_art.new_weights(13)
    assert compiled(fuzzy_art.commit)(weight, 0, item) == compiled(fuzzy_art.size_of)(item)
    compiled(fuzzy_art.overlaps)(item, weight, out)
    assert compiled(fuzzy_art.match)(out[0], compiled(fuzzy_art.size_of)(item)) == 1.0


def test_choice_and_order(compiled):
    assert compiled(fuzzy_art.choice)(1.5, 1.75, 0.25) == 0.75
    choices = np.array([0.5, 0.75, 0.5])
    is_before, is_better = compiled(fuzzy_art.is_before), compiled(fuzzy_art.is_better)
    assert is_before(choices, 1, 0)
    assert is_before(choices, 0, 2)  # as large and older
    assert not is_before(choices, 2, 0)
    assert is_better(choices, 2, fuzzy_art.NONE)
    assert is_better(choices, 1, 0)
    assert not is_better(choices, 2, 0)


def test_learning(compiled):
    weight = np.array([[0.5, 0.5], [0.5, 0.25]])
    norm = compiled(fuzzy_art.absorb)(weight, 1, np.array([0.25, 0.75]), 0.5)
    assert weight.tolist() == [[0.5, 0.375], [0.5, 0.25]]
    assert norm == 0.625


@given(item=st.floats(0, 1), weight=st.floats(0, 1), rate=st.floats(0.01, 1))
def test_learning_never_enlarges_a_weight(compiled, item, weight, rate):
    after = np.array([[weight]])
    norm = compiled(fuzzy_art.absorb)(after, 0, np.array([item]), rate)
    assert min(item, weight) - 1e-15 <= after[0, 0] <= weight
    assert norm == after[0, 0]
    if rate == 1:
        assert after[0, 0] == min(item, weight)


@pytest.mark.parametrize("categories", [1, 3, 64, 65])
def test_growing_keeps_what_there_is(categories):
    weight = fuzzy_art.new_weights(6, categories)
    weight[:] = RNG.random(weight.shape)
    bigger = fuzzy_art.grown(weight)
    assert categories <= weight.shape[1] < bigger.shape[1]
    assert (bigger[:, : weight.shape[1]] == weight).all()
