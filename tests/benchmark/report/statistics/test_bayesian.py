"""The Bayesian signed-rank test in cases that can be worked by hand, and against a plain transcription."""

import numpy as np
import pytest

from everclust.benchmark.report.statistics.bayesian import bayesian_signed_rank_test

S = 0.5  # strength of the prior


def transcription(differences, region, n_draws, seed):
    """The definition, draw by draw and pair by pair."""
    values, random = [0.0, *differences], np.random.RandomState(seed)
    counts = [0, 0, 0]
    for _ in range(n_draws):
        gammas = random.gamma([S, *[1.0] * len(differences)])
        weights, shares = gammas / gammas.sum(), [0.0, 0.0, 0.0]
        for i, a in enumerate(values):
            for j, b in enumerate(values):
                mean = (a + b) / 2
                shares[0 if mean < -region else 2 if mean > region else 1] += weights[i] * weights[j]
        counts[int(np.argmax(shares))] += 1
    return np.array(counts) / n_draws


def test_one_large_difference_by_hand():
    # (0, 0) is equal, (0, d) and (d, d) are better: equal wins if w₀² > ½, w₀ ~ Beta(s, 1), P = 1 − √½^s
    found = bayesian_signed_rank_test([0.5], region=0.01)
    assert found.equal == pytest.approx(1 - 0.5 ** (S / 2), abs=0.007)
    assert found.better == pytest.approx(0.5 ** (S / 2), abs=0.007)
    assert found.worse == 0.0


def test_one_difference_between_one_and_two_regions_by_hand():
    # only (d, d) is better: it wins if w₁² > ½, that is w₀ < 1 − √½, P = (1 − √½)^s
    found = bayesian_signed_rank_test([-0.015], region=0.01)
    assert found.worse == pytest.approx((1 - np.sqrt(0.5)) ** S, abs=0.007)
    assert found.better == 0.0


def test_two_opposite_differences_by_hand():
    # sums: (d, d) better, (−d, −d) worse, (d, −d) equal, (0, ±d) better or worse: symmetric
    found = bayesian_signed_rank_test([0.3, -0.3], region=0.01)
    assert found.better == pytest.approx(found.worse, abs=0.01)
    assert sum(found) == pytest.approx(1.0)


def test_limits():
    assert bayesian_signed_rank_test([0.0] * 5) == (0.0, 1.0, 0.0)
    assert bayesian_signed_rank_test([0.005, -0.009, 0.002]) == (0.0, 1.0, 0.0)
    assert bayesian_signed_rank_test([0.2] * 30).better > 0.9999
    assert bayesian_signed_rank_test([-0.2] * 30).worse > 0.9999
    assert bayesian_signed_rank_test([0.2] * 30, region=0.5).equal == 1.0
    assert bayesian_signed_rank_test([]) == (0.0, 1.0, 0.0)


def test_without_a_region_there_is_hardly_equality():
    found = bayesian_signed_rank_test(np.random.RandomState(4).normal(0.1, 0.2, size=20), region=0.0)
    assert found.equal < 0.01


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_is_what_the_definition_says(seed):
    differences = np.random.RandomState(seed).normal(0.01, 0.03, size=6)
    expected = transcription(differences, 0.01, 4000, seed)
    assert np.array(bayesian_signed_rank_test(differences)) == pytest.approx(expected, abs=0.03)


def test_swapping_the_algorithms_mirrors_the_result():
    differences = np.random.RandomState(8).normal(0.02, 0.05, size=15)
    one, other = bayesian_signed_rank_test(differences), bayesian_signed_rank_test(-differences)
    assert one == (other.better, other.equal, other.worse)


@pytest.mark.slow
def test_it_is_seeded_and_many_data_sets_fit_into_memory():
    differences = np.random.RandomState(9).normal(0.002, 0.05, size=150)
    assert bayesian_signed_rank_test(differences) == bayesian_signed_rank_test(differences)
    assert bayesian_signed_rank_test(differences, seed=1) != bayesian_signed_rank_test(differences)
