import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.core.nearest import search_exactly
from everclust.core.novelty import find_first, find_reach, weighted_quantile
from everclust.core.readout import read_out

WEIGHTS = pytest.mark.parametrize("weight", [None, [1.0, 0.3, 0.7]], ids=["euclidean", "capped"])


def nodes_and_rows(model, weight, n_nodes=150):
    """Nodes and rows on a lattice of thirds: many ties, and squares that must be rounded."""
    rng = np.random.default_rng(3)
    state = model(rng.integers(-4, 5, (n_nodes, 3)) / 3, weight=weight, usage=rng.integers(1, 9, n_nodes))
    return state, rng.integers(-5, 6, (200, 3)) / 3, read_out(state, np.arange(n_nodes), by_scale=False)


@WEIGHTS
def test_the_nearest_node_and_its_distance_have_the_bits_of_learning(model, compiled, weight):
    state, X, nodes = nodes_and_rows(model, weight)
    first, to_first = np.empty(len(X), np.int64), np.empty(len(X))
    find_first(nodes, X, first, to_first)
    expected = [compiled(search_exactly)(state, x) for x in X]
    assert [(k, away) for k, _, away, _ in expected] == list(zip(first, to_first, strict=True))


@WEIGHTS
def test_within_its_reach_a_row_meets_the_usage_that_is_needed(model, weight):
    state, X, nodes = nodes_and_rows(model, weight)
    usage, weights = state.node["usage"][:150].copy(), np.ones(3) if weight is None else np.array(weight)
    squared = ((X[:, None] - state.prototype[:150]) ** 2 * weights).sum(axis=2)
    for needed in (1.0, 40.5, usage.sum() / 2, float(usage.sum())):
        reach = np.empty(len(X))
        find_reach(nodes, usage, needed, X, reach)
        up_to = np.where(squared <= reach[:, None] ** 2 * (1 + 1e-12), usage, 0).sum(axis=1)
        before = np.where(squared < reach[:, None] ** 2 * (1 - 1e-12), usage, 0).sum(axis=1)
        assert (up_to >= needed).all()
        assert (before < needed).all()


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5)), min_size=1, max_size=40), st.floats(0.01, 1.1)
)
def test_weighted_quantile(compiled, pairs, share):
    value, weight = np.array(pairs, float).T.copy()
    needed = share * weight.sum()
    up_to = [v for v in np.unique(value) if weight[value <= v].sum() >= needed]
    expected = up_to[0] if up_to else value.max()
    assert compiled(weighted_quantile)(value, weight, needed) == expected
