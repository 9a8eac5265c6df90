"""Positions of nodes in lanes, against plain arrays of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.baselines.graph import prototypes as p
from everclust.jit.blocks import LANES
from everclust.jit.compile import kernel


@kernel
def two_nearest(blocks, n_nodes, x):
    return p.nearest_two(blocks, n_nodes, x, np.empty(LANES))


@kernel
def place(blocks, rows):
    for k in range(rows.shape[0]):
        p.put(blocks, k, rows[k])


@kernel
def do(blocks, what, i, j, x, number, keep):
    """Do one thing to the nodes; returns a distance where there is one."""
    if what == 0:
        p.approach(blocks, i, x, number)
    elif what == 1:
        p.approach_by_share(blocks, i, x, number)
    elif what == 2:
        p.put_between(blocks, keep.shape[0], i, j)
    elif what == 3:
        p.drop(blocks, keep.shape[0], keep)
    elif what == 4:
        p.take(blocks, i, x)
    return p.gap(blocks, i, j)


APPROACH, APPROACH_BY_SHARE, BETWEEN, DROP, TAKE, GAP = range(6)


def stored(rows):
    blocks = p.new_blocks(rows.shape[1], 1)
    while len(blocks) * LANES <= len(rows):
        blocks = p.grow(blocks)
    place(blocks, rows)
    return blocks


@pytest.fixture(params=[1, 2, 3, 63, 64, 65, 150], ids="{} nodes".format)
def rows(request):
    """On a coarse grid: many distances are equal, and some nodes stand in the same place."""
    return np.random.RandomState(request.param).randint(-4, 5, (request.param, 5)).astype(float)


def test_nodes_stay_where_they_are_put(rows):
    blocks = stored(rows)
    assert np.array_equal(p.positions(blocks, len(rows)), rows)
    assert np.isinf(p.positions(blocks, len(blocks) * LANES)[len(rows) :]).all()


def test_nearest_two(rows):
    blocks = stored(rows)
    random = np.random.RandomState(0)
    samples = np.concatenate([rows, random.randint(-5, 6, (100, 5)), random.normal(size=(100, 5))])
    for x in samples:
        away = ((rows - x) ** 2).sum(axis=1)
        order = np.argsort(away, kind="stable")[:2]
        first, second, to_first, to_second = two_nearest(blocks, len(rows), x)
        assert (first, second) == (*order, -1)[:2]
        assert (to_first, to_second) == pytest.approx((*away[order], np.inf)[:2], rel=1e-14)
    winners = p.nearest(blocks, len(rows), samples)
    assert np.array_equal(winners, [np.argmin(((rows - x) ** 2).sum(axis=1)) for x in samples])


def test_a_distance_is_the_same_from_both_sides(rows):
    """To the bit, however it is found."""
    rows = rows + np.random.RandomState(1).normal(size=rows.shape)
    blocks = stored(rows)
    nothing = np.zeros(0, bool)
    for i in range(0, len(rows), 7):
        for j in range(len(rows)):
            there = do(blocks, GAP, i, j, rows[i], 0.0, nothing)
            assert there == do(blocks, GAP, j, i, rows[i], 0.0, nothing)
            assert there == two_nearest(stored(rows[j : j + 1]), 1, rows[i])[2]


def test_moving(rows):
    blocks, k, x = stored(rows), len(rows) - 1, np.arange(5.0)
    do(blocks, APPROACH, k, 0, x, 0.3, np.zeros(0, bool))
    rows[k] += 0.3 * (x - rows[k])
    do(blocks, APPROACH_BY_SHARE, 0, 0, x, 7.0, np.zeros(0, bool))
    rows[0] += (x - rows[0]) / 7.0
    do(blocks, BETWEEN, 0, k, x, 0.0, np.ones(len(rows), bool))
    expected = np.concatenate([rows, [(rows[0] + rows[k]) / 2]])
    assert np.array_equal(p.positions(blocks, len(rows) + 1), expected)
    do(blocks, TAKE, k, 0, x, 0.0, np.zeros(0, bool))
    assert np.array_equal(x, rows[k])


@given(st.lists(st.booleans(), min_size=1, max_size=150))
def test_dropping(keep):
    keep = np.array(keep)
    rows = np.random.RandomState(len(keep)).normal(size=(len(keep), 3))
    blocks = stored(rows)
    do(blocks, DROP, 0, 0, rows[0], 0.0, keep)
    left = p.positions(blocks, len(blocks) * LANES)
    assert np.array_equal(left[: keep.sum()], rows[keep])
    assert np.isinf(left[keep.sum() :]).all()
