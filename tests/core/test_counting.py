import numpy as np

from everclust.core.counting import counting_sort


def test_counting_sort(compiled):
    start, order = compiled(counting_sort)(np.array([2, 0, 2, 1]), 4)
    assert start.tolist() == [0, 1, 2, 4, 4]
    assert order.tolist() == [1, 3, 0, 2]
