"""Measures on examples that can be worked out by hand, and against the paper's own averages."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust.benchmark.data.datasets import CATALOGUE
from everclust.benchmark.report.paper.published import published, published_cell
from everclust.benchmark.run.measures import (
    ami,
    ari,
    average_cluster_error,
    average_incremental,
    backward_transfer,
    backward_transfer_printed,
    cluster_error,
)

SCORES = st.lists(st.floats(-0.5, 1.0), min_size=2, max_size=40)


@pytest.mark.parametrize("score", [ari, ami])
def test_scores_do_not_depend_on_the_names_of_clusters(score):
    assert score([0, 0, 1, 1], [7, 7, 3, 3]) == pytest.approx(1.0)
    assert score([0, 0, 1, 1], [5, 5, 5, 5]) == pytest.approx(0.0)
    assert score([0, 0, 0], [0, 0, 0]) == 1.0


@pytest.mark.parametrize("score", [ari, ami])
def test_a_cluster_for_every_sample_is_scored_without_a_warning(score):
    assert score(np.repeat([0, 1], 20), np.arange(40)) == pytest.approx(0.0, abs=1e-9)


def test_example_of_continual_measures():
    assert average_incremental([1.0, 0.8, 0.6]) == pytest.approx(0.8)
    assert backward_transfer([1.0, 0.8, 0.6]) == pytest.approx(-0.3)  # 0.6 - 0.9 = 1.5 (0.6 - 0.8)
    assert backward_transfer([1.0]) == 0.0


@given(SCORES)
def test_backward_transfer_follows_from_the_average(scores):
    n = len(scores)
    assert backward_transfer(scores) == pytest.approx(
        n / (n - 1) * (scores[-1] - average_incremental(scores)), abs=1e-12
    )


def test_printed_backward_transfer_compares_each_class_with_when_it_was_learnt():
    after = [[1.0, 0.7, 0.4], [math.nan, 0.8, 0.9], [math.nan, math.nan, 0.5]]
    assert backward_transfer_printed(after) == pytest.approx((0.4 - 1.0 + 0.9 - 0.8) / 2)
    assert backward_transfer_printed([[0.3]]) == 0.0


def test_cluster_error_is_relative_to_the_number_of_classes():
    assert cluster_error(5.6, 3) == pytest.approx(2.6 / 3)
    assert cluster_error(1.5, 3) == pytest.approx(0.5)
    assert average_cluster_error([1.0, None, 3.0, math.nan]) == (2.0, 1.0)
    assert np.isnan(average_cluster_error([None])).all()


@pytest.mark.parametrize("setting", ["stationary", "nonstationary"])
def test_average_cluster_errors_are_those_the_paper_prints(setting):
    for algorithm, printed in published()["average_cluster_error"][setting].items():
        errors = []
        for name, entry in CATALOGUE.items():
            cell = published_cell(f"{setting}_nodes_clusters", name, algorithm, "clusters")
            errors.append(None if cell is None else cluster_error(cell[0], entry.n_classes))
        assert average_cluster_error(errors) == pytest.approx(printed, abs=0.051), algorithm
