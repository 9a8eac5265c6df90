import numpy as np
import pytest

from everclust.core.communities import path as fast
from everclust.core.communities.boundaries import ROUNDING, Cut


@pytest.fixture
def new_path(compiled):
    """The finest level of a path, given W, E' and the sums of hand-overs."""

    def make(W, E, mass):
        cut = Cut(W, W, W, E, mass, np.zeros((len(mass), 1)))
        return compiled(fast.new_path)(cut, np.arange(len(mass)))

    return make


def test_open_boundaries_are_merged_first(compiled, new_path):
    mass = np.array([10.0, 10.0, 10.0])
    W = np.array([[0.0, 3, 1], [3, 0, 2], [1, 2, 0]])
    E = np.array([[0.0, 5, 5], [5, 0, 1], [5, 1, 0]])

    def pair(E):
        return compiled(fast.next_pair)(new_path(W, E, mass), np.arange(3))

    assert pair(E) == (1, 2)  # the only open one, although 0 and 1 lose less modularity
    assert pair(E + 9) == (0, 1)
    assert pair(E * 0) == (0, 1)  # all open: by how much


def test_unions_add_up(compiled):
    matrix = np.array([[0.0, 1, 2], [1, 0, 4], [2, 4, 0]])
    compiled(fast.unite)(matrix, 0, 1)
    assert matrix[0].tolist() == [0, 1, 6]
    assert matrix[2, 0] == 6


def first_of_all(W, E, mass, groups):
    """The pair that is merged next, all of them compared."""
    pairs = [(a, b) for a in groups for b in groups if a < b]
    is_open = {pair: W[pair] > (1 + ROUNDING) * E[pair] for pair in pairs}
    if any(is_open.values()):
        return max((pair for pair in pairs if is_open[pair]), key=lambda pair: W[pair] - E[pair])
    return max(pairs, key=lambda pair: W[pair] * mass.sum() - mass[pair[0]] * mass[pair[1]])


@pytest.mark.parametrize("seed", range(30))
def test_pairs_that_are_remembered_are_those_of_all_pairs(seed, compiled, new_path):
    """Small numbers, so that many pairs are equally good: the first of them is merged."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 14))
    W, E = rng.integers(4, size=(2, n, n)).astype(float)
    W, E = np.triu(W, 1) + np.triu(W, 1).T, np.triu(E, 1) + np.triu(E, 1).T + seed % 3
    mass, groups = rng.integers(1, 4, size=n).astype(float), np.arange(n)
    path = new_path(W, E, mass)
    while len(groups) > 2:
        a, b = compiled(fast.next_pair)(path, groups)
        assert (a, b) == first_of_all(W, E, mass, groups.tolist())
        groups = groups[groups != b]
        compiled(fast.merge_pair)(path, groups, a, b)
        for matrix in W, E:
            matrix[a], matrix[:, a] = matrix[a] + matrix[b], matrix[:, a] + matrix[:, b]
            matrix[a, a] = 0.0
        mass[a], mass[b] = mass[a] + mass[b], 0.0
