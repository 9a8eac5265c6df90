import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.core.communities.silhouette import merge_groups, new_silhouette, update_value, weighted_mean


@pytest.fixture
def score(compiled):
    """The weighted mean of all silhouettes, given which groups there are."""

    def measure(silhouette, groups):
        for i, own in enumerate(silhouette.group):
            nearest = min(silhouette.squared[i, c] for c in groups if c != own)
            compiled(update_value)(silhouette, i, nearest)
        return compiled(weighted_mean)(silhouette.g, silhouette.value)

    return measure


def by_definition(y, g, group):
    """Σ g (b − a)/max(a, b) / Σ g, from scratch."""
    centre = {c: np.average(y[group == c], axis=0, weights=g[group == c]) for c in set(group.tolist())}
    total = 0.0
    for i, own in enumerate(group.tolist()):
        a = np.linalg.norm(y[i] - centre[own]) if (group == own).sum() > 1 else 0.0
        b = min(np.linalg.norm(y[i] - centre[c]) for c in centre if c != own)
        total += g[i] * (b - a) / max(a, b) if max(a, b) > 0 else 0.0
    return total / g.sum()


def test_by_hand(compiled, score):
    # Centres 0.5 and 10. Node 0: a = 0.5, b = 10; node 2: a = 1.5, b = 8; the last is alone.
    # (3 · 0.95 + 0.8125 + 4) / 8.
    y = np.array([[0.0], [2.0], [10.0]])
    silhouette = compiled(new_silhouette)(np.array([3, 1, 4]), np.array([0, 0, 1]), 2, y)
    assert score(silhouette, [0, 1]) == pytest.approx(7.6625 / 8, rel=1e-15)


def test_nodes_in_one_place_score_nothing(compiled, score):
    silhouette = compiled(new_silhouette)(np.array([1, 2, 3]), np.array([0, 0, 1]), 2, np.full((3, 1), 5.0))
    assert score(silhouette, [0, 1]) == 0


@given(seed=st.integers(0, 2**32), n=st.integers(3, 15), n_groups=st.integers(2, 5))
def test_merging_groups_is_beginning_again(compiled, score, seed, n, n_groups):
    """Also after a few mergers the silhouette is that of the definition."""
    rng = np.random.default_rng(seed)
    n_groups = min(n_groups, n)
    group = np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, n - n_groups)])
    y, g = rng.normal(size=(n, 2)), rng.integers(1, 9, n)
    silhouette = compiled(new_silhouette)(g, group, n_groups, y)
    groups = list(range(n_groups))
    while True:
        expected = by_definition(y, g, silhouette.group)
        assert score(silhouette, groups) == pytest.approx(expected, rel=1e-9, abs=1e-12)
        if len(groups) == 2:
            return
        a, b = sorted(rng.choice(groups, 2, replace=False).tolist())
        compiled(merge_groups)(silhouette, a, b)
        groups.remove(b)
