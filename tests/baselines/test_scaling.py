"""Bounds, given or observed, and what is made of them."""

import numpy as np
import pytest

from everclust.baselines.scaling import Bounds, given_bounds, observed_bounds, rescale

X = np.array([[1.0, -4.0, 7.0], [3.0, 4.0, 7.0], [2.0, 0.0, 7.0]])


def test_observed_bounds_span_the_rows():
    bounds = observed_bounds(X)
    assert bounds.minima.tolist() == [1, -4, 7]
    assert bounds.maxima.tolist() == [3, 4, 7]
    assert rescale(X, bounds).tolist() == [[0, 0, 0], [1, 1, 0], [0.5, 0.5, 0]]


def test_beyond_the_bounds_is_clipped():
    bounds = Bounds(np.array([0.0, 0.0, 7.0]), np.array([2.0, 2.0, 7.0]))
    assert rescale(X, bounds).tolist() == [[0.5, 0, 0], [1, 1, 0], [1, 0, 0]]
    far = np.array([[1e140, -1e140, 1e140]])
    assert rescale(far, bounds).tolist() == [[1, 0, 0]]


@pytest.mark.parametrize("spread", [5e-324, 1e-310, 1e-15, 1e140])
def test_any_spread_fills_the_unit_interval(spread):
    column = np.array([[0.0], [spread]])
    assert rescale(column, observed_bounds(column)).tolist() == [[0], [1]]


def test_a_cushion_is_added_to_the_spread():
    column = np.array([[0.0], [1.0], [2.0]])
    assert rescale(column, observed_bounds(column), cushion=2.0).ravel().tolist() == [0, 0.25, 0.5]
    assert rescale(column[:1], observed_bounds(column[:1]), cushion=1e-16).tolist() == [[0]]


@pytest.mark.parametrize("given", [(0, 1), ([0, 0], [1, 1]), [np.zeros(2), 1], np.array([[0, 0], [1, 1]])])
def test_bounds_are_given_as_numbers_or_one_per_feature(given):
    bounds = given_bounds(given, 2)
    assert [side.tolist() for side in bounds] == [[0, 0], [1, 1]]


def test_given_bounds_are_copied():
    low = np.zeros(2)
    bounds = given_bounds((low, 1.0), 2)
    low[:] = 9.0
    assert bounds.minima.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (1.0, "each a number or 2 of them, one per feature; got 1.0"),
        ((0.0, 1.0, 2.0), "each a number or 2 of them"),
        (([0.0] * 3, 1.0), "each a number or 2 of them"),
        (("low", "high"), "each a number or 2 of them"),
        ((0.0, np.nan), "between ±1e"),
        ((-1e300, 1e300), "between ±1e"),
        (([0.0, 2.0], 1.0), "feature 1 has minimum 2 > maximum 1"),
    ],
)
def test_bounds_that_make_no_sense(given, complaint):
    with pytest.raises(ValueError, match=complaint):
        given_bounds(given, 2)
