"""Ours against the paper's, worked out by hand from two printed cells.

Published for IDAT: Iris, nonstationary: ARI 0.565 (0.135), nodes 7.7 (1.2).
"""

import math

import pytest

from everclust.benchmark.report.outcomes import (
    AMI,
    ARI,
    CLUSTERS,
    NODES,
    CellStatistics,
    cell_statistics,
    gather,
    median_run,
    missing_mark,
)
from everclust.benchmark.report.paper.agreement import (
    Verdict,
    compare,
    judge,
    not_at_hand,
    printed,
    tally,
)
from everclust.benchmark.report.paper.reasons import NO_REASON, reason

IRIS = ("idat", "iris", "nonstationary")


def runs(place=IRIS, *, status="ok", params="{}", finished="2030-01-01", **measures):
    """One result per value."""
    algorithm, dataset, setting = place
    n = len(next(iter(measures.values()))) if measures else 1
    return [
        {
            **{"algorithm": algorithm, "dataset": dataset, "setting": setting, "seed": k + 1},
            **{"status": status, "params_json": params, "finished_at": finished},
            **{name: values[k] for name, values in measures.items()},
        }
        for k in range(n)
    ]


def verdict_of(nodes):
    (cell,) = compare(gather(runs(nodes=nodes)))
    return cell.verdict


def test_the_mean_and_the_standard_error_are_those_over_runs():
    # mean 3, deviation sqrt((4 + 1 + 1 + 4) / 4) = 1.5811, standard error 1.5811 / sqrt(5) = 0.7071
    found = cell_statistics(gather(runs(nodes=[1, 2, 3, 4, 5][::-1])), IRIS, NODES)
    assert found.mean == 3
    assert found.deviation == pytest.approx(math.sqrt(2.5))
    assert found.standard_error == pytest.approx(math.sqrt(0.5))


def test_a_single_run_has_no_standard_error():
    found = cell_statistics(gather(runs(nodes=[9])), IRIS, NODES)
    assert math.isnan(found.deviation)
    assert found.standard_error == 0


@pytest.mark.parametrize(
    ("difference", "verdict"),
    [(0, Verdict.ONE), (1, Verdict.ONE), (-1.01, Verdict.TWO), (2, Verdict.TWO), (-2.01, Verdict.BEYOND)],
)
def test_one_and_two_deviations_are_within(difference, verdict):
    assert judge(difference, 1.0) == verdict


def test_our_standard_error_is_allowed_for_once():
    assert judge(1.3, 1.0, allowance=0.4) == Verdict.ONE
    assert judge(2.3, 1.0, allowance=0.4) == Verdict.TWO
    assert judge(2.5, 1.0, allowance=0.4) == Verdict.BEYOND


def test_rounding_does_not_decide():
    assert judge(8.9 - 7.7, 1.2) == Verdict.ONE  # 1.2000000000000002


def test_cells_of_iris():
    assert verdict_of([8.9, 8.9]) == Verdict.ONE  # 1.2 off, published deviation 1.2
    assert verdict_of([9.1, 9.1]) == Verdict.TWO  # 1.4 off
    assert verdict_of([8.6, 9.6]) == Verdict.ONE  # 1.4 off, but a standard error of 0.7071 / sqrt(2) = 0.5
    assert verdict_of([10.3, 10.3]) == Verdict.BEYOND  # 2.6 off


def test_a_published_deviation_of_nought_needs_our_own():
    assert judge(0.1, 0.0) == Verdict.BEYOND
    assert judge(0.1, 0.0, allowance=0.1) == Verdict.ONE


def test_the_tally_counts_the_cells_that_both_have():
    results = runs(nodes=[8.6, 9.6], ari=[0.565 + 0.2] * 2)  # one more would be AMI
    results += runs(("idat", "iris", "stationary"), nodes=[8.8, 8.8], ari=[0.5, 0.5])  # no stationary ARI
    results += runs(("idat", "skin", "nonstationary"), status="timeout")
    results += runs(("idat", "own", "nonstationary"), nodes=[3])
    cells = compare(gather(results))
    assert tally(cells) == (2, 3, 3)
    assert tally(cells, allow=False) == (1, 3, 3)  # 1.4 nodes off without an allowance


def test_the_rest_of_the_denominator_is_known():
    # The paper has nodes and clusters in both settings, ARI and AMI in one: 6 of each of the 24 sets.
    assert not_at_hand({}, "idat", ["stationary", "nonstationary"]) == 144
    assert not_at_hand(gather(runs(nodes=[1], ari=[0])), "idat", ["nonstationary"]) == 4 * 24 - 2


def test_other_shuffles_are_no_cells_of_their_own():
    results = runs(("idat", "rice", "nonstationary:2"), nodes=[20])
    assert compare(gather(results)) == []


def test_variants_are_compared_with_the_ablation():
    assert printed(("idat-500", "iris", "nonstationary"), NODES) == (2.4, 0.5)
    assert printed(("idat-without-shrinking", "iris", "nonstationary"), CLUSTERS) == (4.4, 1.4)
    assert printed(("idat-500", "iris", "nonstationary"), ARI) is None


def test_what_the_paper_has_not():
    assert printed(("idat", "iris", "stationary"), AMI) is None
    assert printed(("idat", "own", "stationary"), NODES) is None


def only(results, measure=NODES):
    outcomes = gather(results)
    (cell,) = (cell for cell in compare(outcomes) if cell.measure == measure)
    return reason(cell, outcomes)


@pytest.mark.parametrize("n_runs", [1, 3, 30])
def test_few_runs_are_no_reason_for_a_cell_far_off(n_runs):
    far = only(runs(("idat", "letter", "nonstationary"), nodes=[9000] * n_runs))
    assert far == NO_REASON == "no known reason"


def test_another_copy_of_the_data_is_a_reason():
    assert only(runs(("idat", "yeast", "stationary"), nodes=[900] * 30)).startswith("other copy of the data")


def test_two_classes_are_a_reason_only_if_another_shuffle_agrees():
    rice = ("idat", "rice", "nonstationary")  # ARI 0.196 (0.061)
    far, near = [0.9] * 30, [0.2] * 30
    assert only(runs(rice, ari=far), ARI) == NO_REASON
    assert only(runs(rice, ari=far) + runs(("idat", "rice", "nonstationary:1"), ari=far), ARI) == NO_REASON
    agreeing = runs(("idat", "rice", "nonstationary:2"), ari=near)
    assert (
        only(runs(rice, ari=far) + agreeing, ARI) == "two classes: one shuffle decides (1 of 1 others agree)"
    )


def test_what_the_parameters_of_gng_forbid():
    # Statlog, nonstationary: 2000.0 (0.0) nodes; 6,435 samples at 9 each make 717 at most.
    place = ("gng", "statlog", "nonstationary")
    assert only(runs(place, nodes=[700] * 3, params='{"lambda_": 9}')) == (
        "λ = 9 allows at most 717 nodes in one pass"
    )
    assert only(runs(place, nodes=[700] * 3, params='{"lambda_": 3}')) == NO_REASON


def test_cae_at_its_cap_and_below():
    place = ("cae", "rice", "nonstationary")  # ARI 0.000 (0.000), 2000.0 (0.0) nodes
    words = "the paper scores runs at the cap of 2,000 nodes 0; ours is the score of the nodes"
    assert only(runs(place, ari=[0.03] * 3, nodes=[2000] * 3), ARI) == words
    assert only(runs(place, ari=[0.03] * 3, nodes=[1999] * 3), ARI) == NO_REASON


def test_scores_of_nodes_are_a_reason_where_they_agree():
    place = ("caea", "iris", "nonstationary")
    mean, _ = printed(place, ARI)
    agreeing = runs(place, ari=[mean + 0.5] * 3, node_ari=[mean] * 3)
    assert only(agreeing, ARI) == f"the paper scores nodes: ours would be {mean:.3f}"
    assert only(runs(place, ari=[mean + 0.5] * 3, node_ari=[mean + 0.4] * 3), ARI) == NO_REASON


def test_one_cluster_with_a_score_contradicts_itself():
    assert only(runs(("ddvfa", "rice", "nonstationary"), ari=[0.9] * 3), ARI) == (
        "the paper has one cluster there, which scores 0"
    )


def test_a_small_spread_is_a_reason():
    # w/o All (500) on Rice: 3.0 (0.0) nodes
    place = ("idat-without-both-500", "rice", "nonstationary")
    assert only(runs(place, nodes=[2] * 30)).endswith("small spread: 1.0 apart")
    assert "spread" not in only(runs(place, nodes=[5] * 30))


def test_the_other_shuffles_are_counted():
    rice = ("idat", "rice", "nonstationary")  # ARI 0.196 (0.061)
    results = runs(rice, ari=[0.5] * 30)
    results += runs(("idat", "rice", "nonstationary:1"), ari=[0.2] * 30)
    results += runs(("idat", "rice", "nonstationary:2"), ari=[0.9] * 30)
    assert only(results, ARI) == "two classes: one shuffle decides (1 of 2 others agree)"


def test_only_the_latest_parameters_count():
    results = runs(nodes=[100], params='{"a": 1}', finished="2030-01-01")
    results += runs(nodes=[8, 8], params='{"a": 2}', finished="2030-01-02")
    assert cell_statistics(gather(results), IRIS, NODES) == CellStatistics(8, 0, 2)


def test_failed_runs_are_left_out_of_the_mean():
    results = runs(nodes=[8, 8]) + runs(status="failed")
    assert cell_statistics(gather(results), IRIS, NODES).n == 2


def test_excuses():
    assert missing_mark(gather(runs(status="memory")), IRIS) == "OOM"
    assert missing_mark(gather(runs(status="missing")), IRIS) == "N/A"
    assert missing_mark(gather(runs(status="memory") + runs(status="timeout")), IRIS) == "N/A"


def test_the_median_run_is_a_run():
    history = {"interval": [2]}
    results = runs(ari=[0.1, 0.9, 0.4, 0.3], history=[history] * 4)
    assert median_run(results)["seed"] == 4  # of 0.3 and 0.4 the lower
    assert median_run(runs(ari=[0.1], history=[None])) is None
