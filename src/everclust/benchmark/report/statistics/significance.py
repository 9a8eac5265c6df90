"""Paired comparison of two algorithms over data sets: Wilcoxon's test, Holm's correction, effect size.

Differences are one per data set, between means over runs; data sets without a difference are left out of the
signed-rank statistics, as Wilcoxon does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats

NOISE_DIGITS = 12  # differences of decimals that are equal on paper may differ in the last bits


class SignedRanks(NamedTuple):
    """Result of Wilcoxon's signed-rank test."""

    p_value: float
    """Two-sided and exact, also with ties; 1 if there is no difference."""
    effect: float
    """Matched-pairs rank-biserial correlation, from −1 (always worse) to 1 (always better)."""


def signed_rank_test(differences: Any) -> SignedRanks:
    """Wilcoxon's signed-rank test with the exact distribution, and its effect size.

    The effect size is (R⁺ − R⁻) / (R⁺ + R⁻), where R⁺ and R⁻ are the rank sums of the positive and negative
    differences. Kerby, The simple difference formula, Comprehensive Psychology 3 (2014).

    Parameters
    ----------
    differences : array-like of shape (n_sets,)

    Returns
    -------
    result : SignedRanks

    Examples
    --------
    >>> from everclust.benchmark.report.statistics.significance import signed_rank_test
    >>> signed_rank_test([0.1, 0.2, 0.3, -0.05])
    SignedRanks(p_value=0.25, effect=0.8)
    """
    known = np.round(np.asarray(differences, dtype=float), NOISE_DIGITS)
    known = known[known != 0]
    if not len(known):
        return SignedRanks(1.0, 0.0)
    doubled = np.rint(2 * stats.rankdata(np.abs(known))).astype(int)  # whole numbers, also with ties
    positive, total = int(doubled[known > 0].sum()), int(doubled.sum())
    tail = _rank_sum_distribution(doubled)[: min(positive, total - positive) + 1].sum()
    return SignedRanks(float(min(1.0, 2 * tail)), (2 * positive - total) / total)


def _rank_sum_distribution(ranks: np.ndarray) -> np.ndarray:
    """Probabilities of all rank sums, if each rank has either sign with probability 1/2."""
    found = np.zeros(int(ranks.sum()) + 1)
    found[0] = 1.0
    for rank in ranks.tolist():
        found[rank:] = (found[rank:] + found[:-rank]) / 2
        found[:rank] /= 2
    return found


def holm(p_values: Any) -> np.ndarray:
    """p-values adjusted by Holm's step-down method: the error rate of the whole family stays below alpha.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)

    Returns
    -------
    adjusted : ndarray of shape (n_tests,)

    Examples
    --------
    >>> from everclust.benchmark.report.statistics.significance import holm
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values, kind="stable")
    stepped = p_values[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(stepped))
    return adjusted


def smallest_p_value(n_sets: int) -> float:
    """Smallest p-value that the signed-rank test can give, if all data sets agree.

    Parameters
    ----------
    n_sets : int

    Returns
    -------
    p_value : float
    """
    return min(1.0, 2.0 ** (1 - n_sets))


def detectable_difference(deviation: float, n_sets: int, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Mean difference that the signed-rank test finds with the given power.

    For normally distributed differences: (z(1 − α/2) + z(power)) · deviation / √(n · 3/π), where 3/π is the
    asymptotic efficiency of the signed-rank test relative to the t-test.

    Parameters
    ----------
    deviation : float
        Standard deviation of the differences over data sets.
    n_sets : int
    alpha : float, default=0.05
        Level of a single test.
    power : float, default=0.8

    Returns
    -------
    difference : float
    """
    quantiles = stats.norm.isf(alpha / 2) + stats.norm.ppf(power)
    return float(quantiles * deviation / np.sqrt(n_sets * 3 / np.pi))


def rank_intervals(ranks: Any, *, level: float = 0.95, n_draws: int = 10_000, seed: int = 0) -> np.ndarray:
    """Bootstrap intervals of mean ranks: data sets are drawn with replacement.

    Parameters
    ----------
    ranks : array-like of shape (n_sets, n_algorithms)
    level : float, default=0.95
    n_draws : int, default=10000
    seed : int, default=0

    Returns
    -------
    intervals : ndarray of shape (n_algorithms, 2)
        Percentiles of the mean ranks.
    """
    table = np.asarray(ranks, dtype=float)
    n_sets = len(table)
    weights = np.random.default_rng(seed).multinomial(n_sets, np.full(n_sets, 1 / n_sets), size=n_draws)
    tails = [(1 - level) / 2, (1 + level) / 2]
    return np.quantile(weights @ table / n_sets, tails, axis=0).T
