"""Paired tests against SciPy, brute force over all signs, hand-worked tables and simulation."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from everclust.benchmark.report.statistics.significance import (
    detectable_difference,
    holm,
    rank_intervals,
    signed_rank_test,
    smallest_p_value,
)

# Demšar (2006), table 2: AUC of C4.5 with m tuned, minus that without. Demšar shares the ranks of the two
# zeros between both signs, and gets rank sums of 93 and 12; without them, they are 71.5 and 6.5.
DEMSAR = [0.005, -0.008, 0.017, 0.033, 0.006, -0.005, 0.007, 0.000, 0.063, 0.000, 0.022, 0.047, 0.009, 0.021]


def over_all_signs(differences):
    """Two-sided p-value from the statistic of all 2ⁿ signs, which are equally likely."""
    known = np.array([d for d in differences if d])
    ranks = stats.rankdata(np.abs(known))
    statistic = abs(np.sum(np.sign(known) * ranks))
    others = [abs(np.dot(signs, ranks)) for signs in product([-1, 1], repeat=len(known))]
    return np.mean(np.array(others) >= statistic - 1e-9)


def test_a_table_worked_by_hand():
    # |d| ranks of (3, −1, 2, 2, −4): 1 → 1, the two 2s → 2.5 each, 3 → 4, 4 → 5; R⁺ = 9, R⁻ = 6
    found = signed_rank_test([3, -1, 2, 2, -4])
    assert found.effect == pytest.approx((9 - 6) / 15)
    assert found.p_value == pytest.approx(over_all_signs([3, -1, 2, 2, -4]))


def test_the_example_of_demsar_without_zeros():
    # ranks of the 12 others: .005 twice (1.5), .006 (3), .007 (4), .008 (5), …: R⁻ = 1.5 + 5
    found = signed_rank_test(DEMSAR)
    assert found.effect == pytest.approx((78 - 2 * 6.5) / 78)
    assert found.p_value == pytest.approx(over_all_signs(DEMSAR))


@pytest.mark.parametrize("n", [3, 5, 12, 24, 50])
def test_without_ties_it_is_scipys_exact_test(n):
    random = np.random.RandomState(n)
    for shift in (0.0, 0.3, 1.0):
        differences = random.normal(shift, size=n)
        expected = stats.wilcoxon(differences, method="exact").pvalue
        assert signed_rank_test(differences).p_value == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_with_ties_and_zeros_it_is_the_share_of_all_signs(seed):
    differences = np.random.RandomState(seed).randint(-3, 5, size=11)
    assert signed_rank_test(differences).p_value == pytest.approx(over_all_signs(differences))


def test_equal_decimals_tie_although_their_bits_differ():
    assert 0.3 - 0.2 != 0.2 - 0.1
    assert signed_rank_test([0.3 - 0.2, 0.1 - 0.2, 0.5]).effect == pytest.approx(
        signed_rank_test([1, -1, 5]).effect
    )


def test_extremes():
    assert signed_rank_test([0.0, 0.0]) == (1.0, 0.0)
    assert signed_rank_test([0.1] * 10) == (pytest.approx(2 / 2**10), 1.0)
    assert signed_rank_test([-0.1] * 10).effect == -1.0
    assert signed_rank_test([0.1]).p_value == 1.0
    for n in range(1, 12):
        assert smallest_p_value(n) == pytest.approx(signed_rank_test(np.arange(1.0, n + 1)).p_value)


def test_holm_worked_by_hand():
    # sorted .005 .01 .02 .04 → ×4 .02, ×3 .03, ×2 .04, ×1 .04
    assert holm([0.04, 0.01, 0.02, 0.005]) == pytest.approx([0.04, 0.03, 0.04, 0.02])
    # steps never fall: .02×3 = .06, .025×2 = .05 → .06; capped at 1
    assert holm([0.02, 0.025, 0.9]) == pytest.approx([0.06, 0.06, 0.9])
    assert holm([0.6, 0.7]) == pytest.approx([1.0, 1.0])
    assert holm([]).tolist() == []


def test_holm_keeps_the_error_rate_of_the_family():
    random = np.random.RandomState(11)
    false = [holm(random.uniform(size=5)).min() < 0.05 for _ in range(4000)]
    assert np.mean(false) == pytest.approx(0.05, abs=0.01)


def test_the_detectable_difference_is_detected_four_times_of_five():
    random = np.random.RandomState(17)
    for n_sets, alpha in ((24, 0.05), (40, 0.01)):
        least = detectable_difference(0.2, n_sets, alpha=alpha)
        draws = random.normal(least, 0.2, size=(1500, n_sets))
        found = np.mean([signed_rank_test(draw).p_value < alpha for draw in draws])
        assert found == pytest.approx(0.8, abs=0.05)


def test_rank_intervals_are_the_quantiles_of_all_resamples():
    ranks = np.array([[1.0, 2, 3], [2, 1, 3], [1, 3, 2]])
    everything = np.array([ranks[list(rows)].mean(axis=0) for rows in product(range(3), repeat=3)])
    expected = np.quantile(everything, [0.1, 0.9], axis=0, method="inverted_cdf").T
    assert rank_intervals(ranks, level=0.8) == pytest.approx(expected, abs=1e-12)


def test_rank_intervals_are_seeded_and_contain_the_mean():
    table = np.random.default_rng(2).permuted(np.tile(np.arange(1.0, 6), (20, 1)), axis=1)
    found = rank_intervals(table)
    assert np.array_equal(found, rank_intervals(table))
    assert np.all((found[:, 0] < table.mean(axis=0)) & (table.mean(axis=0) < found[:, 1]))
    spread = table.std(axis=0) / np.sqrt(20)  # the bootstrap's standard error
    assert (found[:, 1] - found[:, 0]) / (2 * 1.96 * spread) == pytest.approx(np.ones(5), abs=0.1)
