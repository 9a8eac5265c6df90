"""Ranks: against the paper's table of the same setting, and of those only that could run."""

import math

import pytest

from everclust.benchmark.report.formats.markdown import markdown
from everclust.benchmark.report.names import algorithm_title
from everclust.benchmark.report.outcomes import ARI, gather
from everclust.benchmark.report.report import report_on
from everclust.benchmark.report.tables.ranks import our_scores, printed_scores, rank_grid
from everclust.benchmark.run.jobs import Job, Result

NAMES = ("gng", "cae", "idat")


def result(algorithm, dataset, ari, setting="stationary", status="ok", error=None):
    return {
        **{"algorithm": algorithm, "dataset": dataset, "setting": setting, "seed": 1, "params_json": "{}"},
        **{"status": status, "error": error, "ari": ari, "ami": ari, "finished_at": "2030-01-01"},
    }


def three(setting, datasets=("iris", "seeds")):
    return [
        result(name, dataset, 0.1 * k, setting)
        for k, name in enumerate(NAMES, start=1)
        for dataset in datasets
    ]


def grid_of(results, setting):
    scores = our_scores(gather(results), setting, NAMES, ARI)
    return rank_grid("", [(ARI, scores)], [algorithm_title(name) for name in NAMES])


def test_stationary_ranks_do_not_stand_beside_those_of_another_setting():
    # The paper's stationary scores are not available.
    assert printed_scores(ARI, "stationary").datasets == []
    grid = grid_of(three("stationary"), "stationary")
    assert [column.title for column in grid.columns] == ["GNG · ARI", "CAE · ARI", "IDAT · ARI"]
    assert [entry.text for entry in grid.rows[0].entries] == ["3.0", "2.0", "1.0"]


def test_the_paper_s_ranks_are_among_the_same_algorithms():
    # Iris, nonstationary ARI: GNG 0.379, CAE 0.560, IDAT 0.565; others lie between them.
    paper = {
        name: printed_scores(ARI).table[0, printed_scores(ARI).names.index(name)] for name in ("GNG", "CAE")
    }
    order = sorted([paper["GNG"], paper["CAE"], 0.565], reverse=True)
    grid = grid_of(three("nonstationary"), "nonstationary")
    assert [column.title for column in grid.columns] == ["ours", "paper"] * 3
    texts = [entry.text for entry in grid.rows[0].entries]
    assert texts[::2] == ["3.0", "2.0", "1.0"]
    assert texts[1::2] == [f"{order.index(of) + 1}.0" for of in (paper["GNG"], paper["CAE"], 0.565)]


UNINSTALLED = ("failed", "ImportError: No module named 'torch', needed for TableDC")


@pytest.mark.parametrize("status_and_error", [UNINSTALLED, ("uninstalled", UNINSTALLED[1])])
def test_an_algorithm_that_could_not_run_is_not_ranked(status_and_error):
    status, error = status_and_error
    absent = [result("tabledc", name, None, status=status, error=error) for name in ("iris", "seeds")]
    with_absent = our_scores(gather(three("stationary") + absent), "stationary", [*NAMES, "tabledc"], ARI)
    without = our_scores(gather(three("stationary")), "stationary", NAMES, ARI)
    assert with_absent.names == without.names
    assert (with_absent.table == without.table).all()
    text = markdown(report_on(three("stationary") + absent))
    assert "Not ranked in the stationary setting, without any run: TableDC." in text
    assert "TableDC · ARI" not in text


@pytest.mark.parametrize("status", ["timeout", "memory"])
def test_running_out_of_time_or_memory_shares_the_worst_rank(status):
    results = [
        *three("stationary"),
        result("caea", "iris", None, status=status),
        result("caea", "seeds", 0.9),
    ]
    scores = our_scores(gather(results), "stationary", [*NAMES, "caea"], ARI)
    assert scores.datasets == ["iris", "seeds"]
    assert math.isnan(scores.table[0, 3])


def test_a_data_set_on_which_one_failed_otherwise_is_left_out():
    results = [
        *three("stationary"),
        result("caea", "iris", None, status="failed"),
        result("caea", "seeds", 0.9),
    ]
    assert our_scores(gather(results), "stationary", [*NAMES, "caea"], ARI).datasets == ["seeds"]


def test_data_sets_of_ones_own_are_not_ranked_among_the_paper_s():
    """pytest makes errors of warnings, such as that of a mean of nothing."""
    rows = [
        Result(Job("idat", f"wut/x{k}", setting, 1), "ok", ari=0.5, ami=0.5, nodes=4, clusters=2).row()
        for k in (1, 2)
        for setting in ("stationary", "nonstationary")
    ]
    text = markdown(report_on(rows))
    assert "Our IDAT among the paper's baselines" not in text
    assert "wut/x1" in text
