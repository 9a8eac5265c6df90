"""Recounts of hand-overs and evidence."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.core.invariants import check
from everclust.core.learn import learn
from everclust.core.merging.recount import apportioned, count_pairs, recounted
from everclust.core.serialise import examine, export
from everclust.core.state import new_state, scalar
from everclust.core.variants import CAPPED
from support.streams import TEXTURES

SEEDS = st.integers(0, 2**32)


def drawn(seed, n):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    X = np.ascontiguousarray(TEXTURES[rng.integers(len(TEXTURES))](rng, 2 * n, d), float)
    return learn(new_state(d, CAPPED), X[:n].copy(), CAPPED), X[n:].copy()


def counted_slowly(state, X):
    """Hand-overs and evidence by measuring every row against every node."""
    handover, evidence = {}, {}
    nodes = state.node[: scalar(state, "n_nodes")]
    for x in X:
        away = [
            np.sqrt(sum((x[j] - y[j]) * (x[j] - y[j]) * state.weight[j] for j in range(len(x))))
            for y in state.prototype[: len(nodes)]
        ]
        first, second = sorted(range(len(nodes)), key=lambda k: (away[k], k))[:2]
        pair = min(first, second), max(first, second)
        handover[pair] = handover.get(pair, 0) + 1
        similar = [1 / (1 + away[k] / nodes["scale"][k]) for k in (first, second)]
        resonates = similar[0] >= scalar(state, "vigilance") < similar[1]
        if nodes["active"][first] and nodes["active"][second] and resonates:
            evidence[pair] = evidence.get(pair, 0) + 1
    return handover, evidence


def as_pairs(table):
    return {(i, j): n for i, j, n in table.tolist()}


@given(seed=SEEDS, n=st.integers(3, 60))
def test_counts_equal_those_of_a_plain_search(seed, n):
    state, X = drawn(seed, n)
    if scalar(state, "n_nodes") < 3:
        return
    before = export(state)
    counts = count_pairs(state, X)
    assert counts.n_rows == len(X)
    assert (as_pairs(counts.handover), as_pairs(counts.evidence)) == counted_slowly(state, X)
    for these, those in zip(before, export(state), strict=True):
        for name in these:
            np.testing.assert_array_equal(these[name], those[name])


@given(seed=SEEDS, n=st.integers(1, 60), cut=st.integers(0, 60))
def test_counts_of_parts_of_the_rows_add_up(seed, n, cut):
    state, X = drawn(seed, n)
    whole, sum_of_parts = count_pairs(state, X), count_pairs(state, X[:cut]) + count_pairs(state, X[cut:])
    assert whole[:2] == sum_of_parts[:2]
    np.testing.assert_array_equal(whole.handover, sum_of_parts.handover)
    np.testing.assert_array_equal(whole.evidence, sum_of_parts.evidence)


def test_counts_of_other_models_do_not_add_up(model):
    one, other = model([[0], [1], [2]]), model([[0], [1], [2], [3]])
    X = np.zeros((2, 1))
    with pytest.raises(ValueError, match="3 nodes and of one with 4 do not add up"):
        count_pairs(one, X) + count_pairs(other, X)


def test_models_of_fewer_nodes_than_learning_needs_count_nothing(model):
    assert len(count_pairs(model([[0], [1]]), np.zeros((2, 1))).handover) == 0


@given(
    counts=st.lists(st.integers(1, 50) | st.integers(1, 2**40), min_size=1, max_size=12),
    total=st.integers(0, 400) | st.integers(0, 2**50),
)
def test_largest_remainders(counts, total):
    pairs = np.array([(0, k + 1, n) for k, n in enumerate(counts)])
    found = as_pairs(apportioned(pairs, total))
    quotas = [Fraction(n * total, sum(counts)) for n in counts]
    expected = [int(quota) for quota in quotas]
    by_remainder = sorted(range(len(counts)), key=lambda k: (expected[k] - quotas[k], k))
    for k in by_remainder[: total - sum(expected)]:
        expected[k] += 1
    assert found == {(0, k + 1): n for k, n in enumerate(expected) if n}
    assert sum(found.values()) == total


@given(seed=SEEDS, n=st.integers(3, 80))
def test_a_recounted_model_is_sound_and_goes_on(seed, n):
    state, X = drawn(seed, n)
    after = recounted(state, count_pairs(state, X))
    check(after)
    (scalars, arrays), (_, before) = export(after), export(state)
    if scalar(state, "n_nodes") >= 3:
        assert arrays["handover"][:, 2].sum() == before["handover"][:, 2].sum()
        evidence = as_pairs(arrays["evidence"])
        mean = Fraction(sum(evidence.values()), max(len(evidence), 1))
        assert set(map(tuple, arrays["edge"].tolist())) == {ij for ij, e in evidence.items() if e > mean}
        n_evident = count_pairs(state, X).evidence[:, 2].sum()
        assert abs(sum(evidence.values()) - Fraction(int(n_evident) * n, len(X))) <= Fraction(1, 2)
    for name in ("prototype", "usage", "wins", "active", "window", "birth", "activity"):
        np.testing.assert_array_equal(arrays[name], before[name])
    examine(scalars, arrays)
    check(learn(after, X, CAPPED))


def test_no_rows_change_nothing(model):
    state = model([[0], [1], [2]], handover=[(0, 1, 4)])
    after = recounted(state, count_pairs(state, np.empty((0, 1))))
    assert export(after)[1]["handover"].tolist() == [[0, 1, 4]]
