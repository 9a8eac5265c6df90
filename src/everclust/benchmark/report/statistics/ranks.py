"""Comparison of algorithms over data sets: ranks, the Friedman test, and the Nemenyi post-hoc test.

Tables of scores have a row per data set and a column per algorithm; NaN means no result.
Demšar, Statistical comparisons of classifiers over multiple data sets, JMLR 7 (2006).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats


class Friedman(NamedTuple):
    """Result of the Friedman test, whose null hypothesis is that no algorithm differs."""

    statistic: float
    """χ² with k − 1 degrees of freedom, for k algorithms."""
    p_value: float
    f_statistic: float
    """Iman and Davenport's F with k − 1 and (k − 1)(N − 1) degrees of freedom, for N data sets."""
    f_p_value: float


def ranks(scores: Any, *, decimals: int | None = 3) -> np.ndarray:
    """Rank of each algorithm on each data set; 1 is best, and ties share their average rank.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_algorithms)
        Means over runs, higher is better. Algorithms without a result (NaN) share the worst ranks.
    decimals : int or None, default=3
        Round the means first, as the paper does; None leaves them as they are.

    Returns
    -------
    ranks : ndarray of shape (n_sets, n_algorithms)

    Examples
    --------
    >>> import numpy as np
    >>> from everclust.benchmark.report.statistics.ranks import ranks
    >>> ranks([[0.9, 0.5001, 0.5002, np.nan]])
    array([[1. , 2.5, 2.5, 4. ]])
    """
    table = np.atleast_2d(np.asarray(scores, dtype=float))
    if decimals is not None:
        table = np.round(table, decimals)
    return stats.rankdata(np.where(np.isnan(table), np.inf, -table), axis=1)


def friedman(scores: Any, *, decimals: int | None = 3, correct_ties: bool = True) -> Friedman:
    """The Friedman test.

    Parameters
    ----------
    scores : array-like of shape (n_sets, n_algorithms)
        As for `ranks`.
    decimals : int or None, default=3
        As for `ranks`.
    correct_ties : bool, default=True
        Divide by the tie correction, as SciPy does and Demšar does not.

    Returns
    -------
    result : Friedman

    Raises
    ------
    ValueError
        If there are fewer than 3 algorithms or 2 data sets.
    """
    table = ranks(scores, decimals=decimals)
    n_sets, k = table.shape
    if k < 3 or n_sets < 2:
        raise ValueError(
            f"The Friedman test needs 3 algorithms and 2 data sets or more, but there are {k} and {n_sets}."
        )
    chi2 = 12 * n_sets / (k * (k + 1)) * np.sum((table.mean(axis=0) - (k + 1) / 2) ** 2)
    if correct_ties and chi2 > 0:
        chi2 /= table.var(axis=1).sum() * 12 / (n_sets * (k * k - 1))
    most = n_sets * (k - 1)  # the value if all data sets agree
    f = np.inf if np.isclose(chi2, most) else (n_sets - 1) * chi2 / (most - chi2)
    f_p = stats.f.sf(f, k - 1, (k - 1) * (n_sets - 1))
    return Friedman(float(chi2), float(stats.chi2.sf(chi2, k - 1)), float(f), float(f_p))


def nemenyi(mean_ranks: Any, n_sets: int) -> np.ndarray:
    """p-values of the Nemenyi test for all pairs, corrected for multiple comparisons.

    Parameters
    ----------
    mean_ranks : array-like of shape (n_algorithms,)
    n_sets : int

    Returns
    -------
    p_values : ndarray of shape (n_algorithms, n_algorithms)
    """
    mean_ranks = np.asarray(mean_ranks, dtype=float)
    k = len(mean_ranks)
    difference = np.abs(mean_ranks[:, None] - mean_ranks)
    return stats.studentized_range.sf(difference * np.sqrt(2) / _standard_error(k, n_sets), k, np.inf)


def critical_difference(n_algorithms: int, n_sets: int, *, alpha: float = 0.05) -> float:
    """Smallest significant difference of two mean ranks, by the Nemenyi test.

    Parameters
    ----------
    n_algorithms, n_sets : int
    alpha : float, default=0.05

    Returns
    -------
    difference : float

    Examples
    --------
    >>> from everclust.benchmark.report.statistics.ranks import critical_difference
    >>> round(critical_difference(6, 24), 4)
    1.539
    """
    q = stats.studentized_range.isf(alpha, n_algorithms, np.inf) / np.sqrt(2)
    return float(q * _standard_error(n_algorithms, n_sets))


def paired(first: Any, second: Any) -> tuple[float, float, float]:
    """Paired comparison of two algorithms over data sets.

    Parameters
    ----------
    first, second : array-like of shape (n_sets,)
        Mean scores.

    Returns
    -------
    difference, standard_error : float
        Mean of second − first over data sets, and its standard error.
    p : float
        p-value of the two-sided Wilcoxon signed-rank test; 1 if all differences are 0.

    Examples
    --------
    >>> from everclust.benchmark.report.statistics.ranks import paired
    >>> difference, error, p = paired([0.1, 0.2, 0.3], [0.2, 0.4, 0.6])
    >>> round(difference, 3), round(error, 3), round(p, 3)
    (0.2, 0.058, 0.25)
    """
    differences = np.asarray(second, dtype=float) - np.asarray(first, dtype=float)
    error = differences.std(ddof=1) / np.sqrt(len(differences)) if len(differences) > 1 else np.nan
    p = stats.wilcoxon(differences).pvalue if differences.any() else 1.0
    return float(differences.mean()), float(error), float(p)


def _standard_error(n_algorithms: int, n_sets: int) -> float:
    return float(np.sqrt(n_algorithms * (n_algorithms + 1) / (6 * n_sets)))


def groups(mean_ranks: Any, difference: float) -> list[list[int]]:
    """The bars of the critical-difference diagram: maximal groups without a significant difference.

    Parameters
    ----------
    mean_ranks : array-like of shape (n_algorithms,)
    difference : float
        The critical difference.

    Returns
    -------
    groups : list of list of int
        Columns of two or more algorithms, best first; groups may overlap, but none contains another.
    """
    mean_ranks = np.asarray(mean_ranks, dtype=float)
    best_first = np.argsort(mean_ranks, kind="stable")
    ends = np.searchsorted(mean_ranks[best_first], mean_ranks[best_first] + difference, side="right")
    bars, reached = [], 0
    for start, end in enumerate(ends):
        if end > max(reached, start + 1):
            bars.append(best_first[start:end].tolist())
            reached = end
    return bars
