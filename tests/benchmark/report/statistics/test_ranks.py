"""Statistics on Demšar's worked example and on the paper's printed table."""

import numpy as np
import pytest
from scipy import stats

from everclust.benchmark.report.paper.published import published
from everclust.benchmark.report.statistics.ranks import critical_difference, friedman, groups, nemenyi, ranks

# Demšar (2006), table 6: AUC of C4.5 with and without m and cf tuned, on 14 data sets. Voting's last two are
# printed as 0.975, but rank 2 and 3.
DEMSAR = [
    [0.763, 0.768, 0.771, 0.798],  # adult
    [0.599, 0.591, 0.590, 0.569],  # breast cancer
    [0.954, 0.971, 0.968, 0.967],  # breast cancer wisconsin
    [0.628, 0.661, 0.654, 0.657],  # cmc
    [0.882, 0.888, 0.886, 0.898],  # ionosphere
    [0.936, 0.931, 0.916, 0.931],  # iris
    [0.661, 0.668, 0.609, 0.685],  # liver disorders
    [0.583, 0.583, 0.563, 0.625],  # lung cancer
    [0.775, 0.838, 0.866, 0.875],  # lymphography
    [1.000, 1.000, 1.000, 1.000],  # mushroom
    [0.940, 0.962, 0.965, 0.962],  # primary tumor
    [0.619, 0.666, 0.614, 0.669],  # rheum
    [0.972, 0.981, 0.9752, 0.9748],  # voting
    [0.957, 0.978, 0.946, 0.970],  # wine
]
ALGORITHMS = ["GNG", "SOINN+", "DDVFA", "CAEA", "CAE", "IDAT"]
PAPER = {  # mean ranks, chi2, p, and p of IDAT against each other algorithm
    "ARI": (
        [3.4792, 2.4167, 5.2500, 4.2500, 3.8750, 1.7292],
        (55.5735, 9.9e-11),
        [0.0151, 0.7999, 0.0, 0.0, 0.0010],
    ),
    "AMI": (
        [3.2500, 2.4583, 5.5833, 3.7708, 3.9583, 1.9792],
        (55.6998, 9.4e-11),
        [0.1731, 0.9497, 0.0, 0.0117, 0.0034],
    ),
}


def printed(measure):
    rows = published()["nonstationary_ari_ami"].values()
    means = [[row[name][measure] for name in ALGORITHMS] for row in rows]
    return np.array([[np.nan if mean == "N/A" else mean[0] for mean in row] for row in means])


def test_worked_example_of_demsar():
    mean_ranks = ranks(DEMSAR, decimals=None).mean(axis=0)
    assert mean_ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    test = friedman(DEMSAR, decimals=None, correct_ties=False)
    assert test.statistic == pytest.approx(9.28, abs=5e-3)
    assert test.f_statistic == pytest.approx(3.69, abs=5e-3)
    assert test.f_p_value < 0.05  # the critical value of F(3, 39) is 2.85
    difference = critical_difference(4, 14)
    assert difference == pytest.approx(1.25, abs=5e-3)
    assert groups(mean_ranks, difference) == [[3, 1, 2, 0]]  # Nemenyi's test finds no difference


def test_ties_are_corrected_as_scipy_does():
    expected = stats.friedmanchisquare(*np.transpose(DEMSAR))
    test = friedman(DEMSAR, decimals=None)
    assert test.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert test.p_value == pytest.approx(expected.pvalue, rel=1e-12)


@pytest.mark.parametrize("measure", PAPER)
def test_every_printed_rank_is_reproduced(measure):
    rows = published()["nonstationary_ari_ami"].values()
    expected = np.array([[row[name][f"{measure}_rank"] for name in ALGORITHMS] for row in rows])
    assert (ranks(printed(measure)) == expected).all()


@pytest.mark.parametrize("measure", PAPER)
def test_the_printed_table_gives_the_papers_ordering(measure):
    expected_ranks, (statistic, p_value), of_idat = PAPER[measure]
    scores = printed(measure)
    mean_ranks = ranks(scores).mean(axis=0)
    assert mean_ranks == pytest.approx(expected_ranks, abs=5e-5)
    assert ALGORITHMS[np.argmin(mean_ranks)] == "IDAT"
    test = friedman(scores)
    assert test.statistic == pytest.approx(statistic, abs=5e-5)
    assert test.p_value == pytest.approx(p_value, rel=0.01)
    p_values = nemenyi(mean_ranks, len(scores))
    assert p_values[-1, :-1] == pytest.approx(of_idat, abs=1e-4)
    assert np.array_equal(p_values, p_values.T)
    assert np.diag(p_values) == pytest.approx(np.ones(6))


def test_bars_of_the_diagram():
    mean_ranks = ranks(printed("ARI")).mean(axis=0)
    bars = groups(mean_ranks, critical_difference(6, 24))
    assert [[ALGORITHMS[k] for k in bar] for bar in bars] == [
        ["IDAT", "SOINN+"],
        ["SOINN+", "GNG", "CAE"],
        ["GNG", "CAE", "CAEA"],
        ["CAE", "CAEA", "DDVFA"],
    ]
    p_values = nemenyi(mean_ranks, 24)
    together = {(a, b) for bar in bars for a in bar for b in bar}
    assert all((p_values[a, b] > 0.05) == ((a, b) in together or a == b) for a in range(6) for b in range(6))


def test_an_algorithm_on_its_own_has_no_bar():
    assert groups([1.0, 5.0, 3.0], 0.5) == []
    assert groups([1.0, 5.0, 1.2], 0.5) == [[0, 2]]


@pytest.mark.parametrize(
    ("k", "q", "difference"),
    [(12, 3.26800, 3.4014), (6, 2.84971, 1.5390), (8, 3.03088, 2.1432), (4, 2.56903, 0.9574)],
)
def test_critical_differences_for_24_data_sets(k, q, difference):
    assert critical_difference(k, 24) == pytest.approx(difference, abs=5e-5)
    assert critical_difference(k, 24) / np.sqrt(k * (k + 1) / (6 * 24)) == pytest.approx(q, abs=5e-5)


def test_ranks_of_rounded_means_with_the_worst_shared():
    assert ranks([[0.1, np.nan, 0.3, np.nan, 0.30004]]).tolist() == [[3.0, 4.5, 1.5, 4.5, 1.5]]
    assert ranks([[0.1, 0.3, 0.30004]], decimals=None).tolist() == [[3.0, 2.0, 1.0]]


def test_complete_agreement_and_complete_ties():
    assert friedman([[3, 2, 1]] * 4).f_p_value == 0.0
    assert friedman([[1, 1, 1]] * 4).statistic == 0.0
    assert friedman([[1, 1, 1]] * 4).p_value == 1.0


def test_too_small_a_table_is_refused():
    with pytest.raises(ValueError, match="3 algorithms and 2 data sets or more, but there are 2 and 3"):
        friedman([[1, 2]] * 3)
