import numpy as np

from everclust.jit.sorting import counting_sort, in_order


def test_counting_sort(compiled):
    start, order = compiled(counting_sort)(np.array([2, 0, 2, 1]), 4)
    assert start.tolist() == [0, 1, 2, 4, 4]
    assert order.tolist() == [1, 3, 0, 2]


def test_rows_in_another_order(compiled):
    rows = np.array([[0, 1], [2, 3], [4, 5]])
    assert compiled(in_order)(rows, np.array([2, 0, 2])).tolist() == [[4, 5], [0, 1], [4, 5]]
    assert compiled(in_order)(rows, np.arange(0)).shape == (0, 2)
