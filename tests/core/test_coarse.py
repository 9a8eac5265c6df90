"""The coarse filter: bounds that hold, and answers with the bits of a plain search."""

import numpy as np
import pytest
from hypothesis import given

from everclust.core.coarse import assign_coarsely, coarse_copy
from everclust.core.readout import ReadOut, assign
from everclust.jit.blocks import LANES, pack
from support.candidates import candidates_and_rows

#: Where nothing is compiled, NumPy warns of rows that are too far away for float32.
pytestmark = pytest.mark.filterwarnings("ignore:(overflow|invalid|divide):RuntimeWarning")


def plainly(read_out, X):
    winner, nearness = np.empty(len(X), np.int64), np.empty(len(X))
    assign(read_out, X, winner, nearness)
    return winner, nearness


def coarsely(read_out, X):
    winner, again, nearness = np.empty(len(X), np.int64), np.empty(len(X), np.int64), np.empty(len(X))
    coarse = coarse_copy(read_out)
    assign_coarsely(read_out, coarse, X, winner, nearness)
    assign_coarsely(read_out, coarse, X, again, np.empty(0))
    assert winner.tolist() == again.tolist()
    return winner, nearness


def plain_read_out(nodes):
    return ReadOut(pack(nodes), np.ones(-(-len(nodes) // LANES) * LANES), np.arange(len(nodes)), np.empty(0))


@given(candidates_and_rows(by_scale=True))
def test_winners_and_their_distances_are_those_of_a_plain_search(drawn):
    read_out, X = drawn
    for found, expected in zip(coarsely(read_out, X), plainly(read_out, X), strict=True):
        assert found.tobytes() == expected.tobytes()


def test_a_single_candidate_within_the_limit_is_not_measured():
    """The exact copy is spoilt: who asks it would get another answer."""
    nodes = np.array([[0.0, 0], [4, 0], [0, 4]])
    coarse, X = coarse_copy(plain_read_out(nodes)), np.array([[3.9, 0.2], [0.1, 3.7]])
    winner = np.empty(2, np.int64)
    assign_coarsely(plain_read_out(-nodes), coarse, X, winner, np.empty(0))
    assert winner.tolist() == [1, 2]


def test_ties_are_measured():
    nodes = np.array([[1.0, 0], [-1, 0], [0, 1]])
    assert coarsely(plain_read_out(nodes), np.zeros((1, 2)))[0] == [0]


@pytest.mark.parametrize("n_rows", [1, 15, 16, 17, 33])
def test_any_number_of_rows(n_rows):
    rng = np.random.default_rng(n_rows)
    read_out, X = plain_read_out(rng.normal(size=(70, 3))), rng.normal(size=(n_rows, 3))
    assert coarsely(read_out, X)[0].tolist() == plainly(read_out, X)[0].tolist()
