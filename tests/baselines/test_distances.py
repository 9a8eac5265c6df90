"""Distances in blocks."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from everclust.baselines.distances import chunks, distances, points


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("d", [1, 4, 7])
def test_distances(n, d):
    X = np.random.RandomState(n).normal(size=(n, d))
    found = distances(X[:5], points(X))
    assert found.shape == (min(n, 5), n)
    assert np.allclose(found, cdist(X[:5], X), rtol=1e-13, atol=0)
    assert np.array_equal(found[:, : len(found)], found[:, : len(found)].T)
    assert np.all(np.diag(found) == 0)


def test_only_the_first_points():
    X = np.random.RandomState(0).normal(size=(150, 3))
    whole = distances(X, points(X))
    for n in (1, 64, 70, 128):
        assert np.array_equal(distances(X, points(X), np.empty((150, n))), whole[:, :n])


def test_points_are_a_copy():
    X = np.zeros((2, 1))
    to = points(X)
    X[:] = 9
    assert distances(np.zeros((1, 1)), to).tolist() == [[0, 0]]


@pytest.mark.parametrize(("n_rows", "n_points"), [(1, 1), (64, 10), (65, 10), (1000, 20_000), (100, 10**7)])
def test_chunks_cover_every_row_once(n_rows, n_points):
    parts = list(chunks(n_rows, n_points))
    assert [i for part in parts for i in range(part.start, part.stop)] == list(range(n_rows))
    assert all(0 < part.stop - part.start <= 64 for part in parts)
    assert all((part.stop - part.start) * n_points <= max(2**20, 8 * n_points) for part in parts)
