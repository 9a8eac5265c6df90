import numpy as np
import pytest

from everclust.jit.blocks import (
    LANES,
    copy_blocks,
    copy_row,
    least,
    n_blocks,
    new_blocks,
    pack,
    squared_distances,
    vector_of_squared_distances,
)
from everclust.jit.simd import BYTES, WIDTH


def test_copy_row(compiled):
    target = np.zeros(3)
    compiled(copy_row)(target, np.array([1.0, 2.0]))
    assert target.tolist() == [1, 2, 0]


def test_squared_distances(compiled):
    block = pack(np.array([[0.0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [9, 9, 9, 9, 9]]))[0]
    out = np.empty(LANES)
    compiled(squared_distances)(np.array([1.0, 2, 3, 4, 5]), block, out)
    assert out[0] == 1 + 4 + 9 + 16 + 25
    assert out[1] == 0 + 1 + 4 + 9 + 16
    assert out[2] == 64 + 49 + 36 + 25 + 16
    assert (out[3:] == np.inf).all()


def test_squared_distances_in_every_lane(compiled):
    points = np.arange(2.0 * LANES).reshape(LANES, 2)
    out = np.empty(LANES)
    compiled(squared_distances)(np.array([3.0, 0.0]), pack(points)[0], out)
    assert out.tolist() == ((points - [3, 0]) ** 2).sum(axis=1).tolist()


def test_one_vector_has_the_bits_of_the_whole_block(compiled):
    rng = np.random.default_rng(0)
    x, block = rng.normal(size=9), pack(rng.normal(size=(LANES, 9)))[0]
    out, few = np.empty(LANES), np.empty(WIDTH)
    compiled(squared_distances)(x, block, out)
    for lane in range(0, LANES, WIDTH):
        compiled(vector_of_squared_distances)(x, block, lane, few)
        assert few.tobytes() == out[lane : lane + WIDTH].tobytes()


def test_squared_distances_add_up_in_feature_order(compiled):
    # Each ε = 2⁻⁵⁴ is lost when added to 1, but 1 + (ε + ε + ε) is more than 1.
    root = 2.0**-27
    out = np.empty(LANES)
    compiled(squared_distances)(np.array([1.0, root, root, root]), pack(np.zeros((1, 4)))[0], out)
    assert out[0] == 1.0 < 1.0 + 3 * root * root


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("where", [0, 7, 8, 15, 16, 40, 63])
def test_the_least_wherever_it_is(where, dtype, compiled):
    values = np.full(LANES, 2, dtype)
    values[where] = -1
    assert compiled(least)(values) == -1


def test_blocks_needed():
    assert [n_blocks(n) for n in (1, 64, 65, 128, 129)] == [1, 1, 2, 2, 3]


def test_pack_puts_points_abreast_and_nothing_elsewhere():
    points = np.arange(130.0).reshape(65, 2)
    blocks = pack(points)
    assert blocks.shape == (2, 2, LANES)
    assert blocks[0, :, 3].tolist() == [6, 7]
    assert blocks[1, :, 0].tolist() == [128, 129]
    assert np.isinf(blocks[1, :, 1:]).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_begin_where_vectors_do(dtype):
    blocks = new_blocks(2, 3, dtype)
    assert blocks.shape == (2, 3, LANES)
    assert blocks.dtype == dtype
    assert (blocks == 0).all()
    blocks[1, 2, 5] = 7
    copied = copy_blocks(blocks)
    blocks[1, 2, 5] = 0
    assert copied[1, 2, 5] == copied.sum() == 7
    assert [b.ctypes.data % BYTES for b in (blocks, copied, pack(np.zeros((3, 2))))] == [0, 0, 0]
