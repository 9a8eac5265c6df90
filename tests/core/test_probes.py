"""Probes, by hand."""

import math

import numpy as np
import pytest

from everclust.core import probes
from everclust.core.layout import N_BINS, N_PROBES
from everclust.core.resolution import observe
from everclust.core.state import new_state, scalars_of
from everclust.core.variants import REFINED

BELOW = probes.BINS_BELOW


@pytest.fixture
def state():
    return new_state(1, REFINED)


def test_the_first_samples_are_probes(state, compiled):
    for k in range(N_PROBES):
        compiled(observe)(state, np.array([float(k)]))
    assert scalars_of(state).n_probes == N_PROBES
    np.testing.assert_array_equal(state.probe[0], np.arange(N_PROBES))
    assert scalars_of(state).n_compared == 0


def test_later_ones_are_compared_with_them(state, compiled):
    state.weight[0] = 0.25
    for x in (*range(N_PROBES), 1.0, 4.0, 2.0):
        compiled(observe)(state, np.array([float(x)]))
    # Squares are a quarter of 1, 16 and 4 for the probe at 0.
    np.testing.assert_array_equal(state.probe_distance[:, 0], [0.25, 1.0, 1.0, 0])
    # The probe at 1 met itself, which counts for the nearest but not for the bins.
    np.testing.assert_array_equal(state.probe_distance[:, 1], [0.0, 0.25, 0.25, 0])
    assert state.distance_count.sum() == 3 * N_PROBES - 3


@pytest.mark.parametrize(
    ("squared", "place"),
    [
        (1.0, 0),
        (1.4, 0),
        (1.5, 1),
        (1.99, 1),
        (2.0, 2),
        (0.99, -1),
        (0.74, -2),
        (1e-300, -BELOW),
        (1e300, 31),
    ],
)
def test_bins(squared, place, state, compiled):
    compiled(probes.count)(state, 1.25)
    compiled(probes.count)(state, squared)
    counted = np.flatnonzero(state.distance_count) - BELOW
    np.testing.assert_array_equal(counted, np.unique([0, place]))
    assert scalars_of(state).first_exponent == 1


def test_edges_of_bins(compiled):
    edges = [compiled(probes.lower_edge)(BELOW + b) for b in (-2, -1, 0, 1, 2)]
    assert edges == [0.25, 0.375, 0.5, 0.75, 1.0]


def test_the_distance_within_which_so_many_lie(compiled):
    counts = np.zeros(N_BINS)
    counts[BELOW], counts[BELOW + 2] = 4, 4
    within = compiled(probes.squared_distance_within)
    assert within(counts, 2.0) == 0.625  # half of the bin from 1/2 to 3/4
    assert within(counts, 4.0) == 0.75
    assert within(counts, 6.0) == 1.25  # half of the bin from 1 to 3/2


def test_the_dimension_is_that_of_nearest_neighbours(state, compiled):
    state.probe_distance[probes.NEAREST, :4] = 1.0
    state.probe_distance[probes.SECOND, :4] = math.e  # of the square: half of it for the distance
    compiled(probes.measure_dimension)(state)
    assert scalars_of(state).n_ratios == 4.0
    assert scalars_of(state).log_ratios == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("n_first", "is_random"), [(0, False), (7, False), (8, True), (24, True), (25, False)]
)
def test_the_nearest_come_at_any_time_in_random_order(n_first, is_random, state, compiled):
    # 16 of 32 are expected, with a standard deviation of √32/2 = 2.8.
    scalars_of(state).n_compared = 128
    state.probe_distance[probes.NEAREST] = 1.0
    state.probe_distance[probes.WHEN] = np.where(np.arange(N_PROBES) < n_first, 63, 64)
    assert compiled(probes.is_in_random_order)(state) == is_random


def test_rows_that_repeat_are_no_order(state, compiled):
    assert compiled(probes.is_in_random_order)(state)


@pytest.mark.parametrize("unit", [1.0, 2.0**-900, 2.0**900])
def test_ratios_are_the_same_in_any_unit(unit, compiled):
    ratio = compiled(probes.log_ratio)
    assert ratio(12.0 * unit, 1.5 * unit) == ratio(12.0, 1.5) == pytest.approx(math.log(8))
    assert ratio(1e300, 1e-300) == pytest.approx(600 * math.log(10))
