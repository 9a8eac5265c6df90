import numpy as np

from everclust.core.communities.poll import N_VOTERS, sorting_network


def test_the_network_sorts():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 9, (N_VOTERS, 500))
    expected = np.sort(table, axis=0)
    for a, b in sorting_network(N_VOTERS):
        table[[a, b]] = np.minimum(table[a], table[b]), np.maximum(table[a], table[b])
    assert (table == expected).all()
