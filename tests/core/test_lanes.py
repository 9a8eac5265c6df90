import numpy as np

from everclust.core.lanes import LANES, copy_row, n_blocks, pack, squared_distances


def test_copy_row(compiled):
    target = np.zeros(3)
    compiled(copy_row)(target, np.array([1.0, 2.0]))
    assert target.tolist() == [1, 2, 0]


def test_squared_distances_of_the_first_lanes_only(compiled):
    # Five features: four abreast and one left over.
    block = pack(np.array([[0.0, 0, 0, 0, 0], [1, 1, 1, 1, 1], [9, 9, 9, 9, 9]]))[0]
    out = np.full(LANES, -1.0)
    compiled(squared_distances)(np.array([1.0, 2, 3, 4, 5]), block, 2, out)
    assert out[0] == 1 + 4 + 9 + 16 + 25
    assert out[1] == 0 + 1 + 4 + 9 + 16
    assert (out[2:] == -1).all()


def test_squared_distances_add_up_in_feature_order(compiled):
    # Each ε = 2⁻⁵⁴ is lost when added to 1, but 1 + (ε + ε + ε) is more than 1.
    root = 2.0**-27
    out = np.empty(LANES)
    compiled(squared_distances)(np.array([1.0, root, root, root]), pack(np.zeros((1, 4)))[0], 1, out)
    assert out[0] == 1.0 < 1.0 + 3 * root * root


def test_blocks_needed():
    assert [n_blocks(n) for n in (1, 64, 65, 128, 129)] == [1, 1, 2, 2, 3]


def test_pack_puts_points_abreast_and_nothing_elsewhere():
    points = np.arange(130.0).reshape(65, 2)
    blocks = pack(points)
    assert blocks.shape == (2, 2, LANES)
    assert blocks[0, :, 3].tolist() == [6, 7]
    assert blocks[1, :, 0].tolist() == [128, 129]
    assert np.isinf(blocks[1, :, 1:]).all()
