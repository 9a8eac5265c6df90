import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.jit.quantiles import fences, hazen, select


@pytest.mark.parametrize(("rank", "value"), [(0, 1.0), (1, 2.0), (2, 2.0), (3, 5.0)])
def test_select_leaves_nothing_smaller_behind(rank, value, compiled):
    values = np.array([5.0, 2.0, 1.0, 2.0])
    assert compiled(select)(values, rank) == value
    assert sorted(values) == [1, 2, 2, 5]
    assert (values[rank:] >= value).all()


@pytest.mark.parametrize(
    ("level", "value"),
    [
        (0.25, 1.5),  # rank 4 · 0.25 − 0.5 = 0.5: half-way between 1 and 2
        (0.75, 3.5),  # rank 2.5
        (0.375, 2.0),  # rank 1: the second smallest itself
        (0.0, 1.0),  # rank −0.5 is clamped to 0
        (1.0, 4.0),  # rank 3.5 is clamped to 3
    ],
)
def test_hazen(level, value, compiled):
    assert compiled(hazen)(np.array([4.0, 1.0, 3.0, 2.0]), level) == value


def test_hazen_of_one_value_is_that_value(compiled):
    assert compiled(hazen)(np.array([7.0]), 0.3) == 7.0


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=40), st.floats(0, 1))
def test_hazen_is_numpys(compiled, values, level):
    values = np.array(values, float)
    expected = np.quantile(values, level, method="hazen")
    assert compiled(hazen)(values, level) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_fences(compiled):
    # Q1 = 1.5, Q3 = 3.5, IQR = 2: 1.5 − 3 and 3.5 + 3.
    assert compiled(fences)(np.array([1.0, 2.0, 3.0, 4.0])) == (-1.5, 6.5)


def test_fences_of_equal_values_are_that_value(compiled):
    assert compiled(fences)(np.array([2.0, 2.0, 2.0])) == (2.0, 2.0)
