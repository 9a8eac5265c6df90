import numpy as np
import pytest

from everclust.core.learn import learn


def test_nearest_two(model, winners):
    # From 2: 1 to node 2, 2 to node 0, 8 to node 1.
    state = model([[0], [10], [3]], square_sum=[9])
    assert winners(state, np.array([[2.0]])).tolist() == [[2, 0]]


@pytest.mark.parametrize(
    ("nodes", "first", "second"),
    [
        ([1, -1, 5], 0, 1),  # equally near on both sides
        ([5, -1, 1], 1, 2),
        ([5, 0, 2, -2, 2], 1, 2),  # three are second
        ([7, 7, 7], 0, 1),
        ([3, 4, 3, 3], 0, 2),
    ],
)
def test_ties_go_to_the_lowest_index(nodes, first, second, model, winners):
    state = model([[float(y)] for y in nodes], square_sum=[9])
    assert winners(state, np.array([[0.0]])).tolist() == [[first, second]]


def test_ties_between_distant_nodes_go_to_the_lowest_index(model, winners):
    nodes = np.full((1300, 1), 50.0)
    nodes[[3, 70, 1299]] = 1.0
    state = model(nodes, square_sum=[9])
    assert winners(state, np.array([[0.0]])).tolist() == [[3, 70]]


def test_far_samples_and_far_nodes(model, winners):
    # In units of the spread, these are beyond what the coarse can tell apart.
    state = model([[0.0], [4e16], [12e16], [1.0]], square_sum=[9], n_seen=9)
    # 4e16 − 1 is 4e16, so nodes 0 and 3 tie for the second place.
    assert winners(state, np.array([[4e16], [10e16], [0.75]])).tolist() == [[1, 0], [2, 1], [3, 0]]


def test_many_samples_in_one_go(model):
    # V = 0: each of nine samples between nodes 0 and 1 moves these two, and node 2 stays.
    state = model([[0.0], [4.0], [90.0]], square_sum=[9], interval=40, n_seen=41)
    state = learn(state, np.linspace(1, 3, 9)[:, None].copy())
    assert state.node["usage"][:3].tolist() == [10, 10, 1]


def test_the_centre_follows_a_stream_that_left_it(model):
    # Nodes 1 apart from each other but 1e7 from the centre look alike to float32: every search has to
    # measure all forty, until that happens too often. The centre is where the latest samples were.
    y = 1e7 + np.arange(40.0)[:, None]
    state = model(y, square_sum=[9], n_seen=41, interval=40)
    state = learn(state, np.zeros((1, 1)))
    assert state.coarse_centre[0] == 0
    state = learn(state, np.tile(y[5:10], (6, 1)))
    assert state.coarse_centre[0] > 1e6
