"""The table of agreement in docs/baselines.md is what its cells say, and leaves nothing out unsaid."""

import runpy

import pytest

from everclust.baselines import TorqueClustering
from everclust.benchmark.data.catalogue import CATALOGUE
from everclust.benchmark.report.paper.published import published, published_cell
from support.paths import TESTS

ROOT = TESTS.parent
tool = runpy.run_path(str(ROOT / "tools/baseline_table.py"))
PAGE = (ROOT / "docs/baselines.md").read_text(encoding="utf-8")
CELLS = tool["read"]()
NOT_AT_HAND = {"msra25", "mnist10k", "stl10"}
UNFINISHED = {  # the paragraph "Not in the table"
    *((name, "isolet", "nonstationary") for name in ("soinn-plus", "gng", "ddvfa", "cae")),
    *(("cae", "isolet", "stationary"), ("torque-clustering", "shuttle", "stationary")),
    ("gng", "skin", "nonstationary"),
}


def test_the_table_is_what_the_cells_say():
    lines = PAGE.split("\n")
    start = lines.index(tool["table"]([])[0])
    assert lines[start : lines.index("", start)] == tool["table"](CELLS)


def test_every_published_cell_of_the_data_sets_at_hand_is_there_or_named_as_missing():
    """For the algorithms without fitted parameters; fitted ones are for some data sets only."""
    there = {
        (c["algorithm"], c["dataset"], c["setting"], c["measure"])
        for c in CELLS
        if c["parameters"] != "fitted"
    }
    missing = set()
    for algorithm, kind in tool["ROWS"]:
        for setting, measures in tool["COLUMNS"]:
            table = f"{setting}_{'nodes_clusters' if measures == tool['COUNTS'] else 'ari_ami'}"
            for dataset in set(CATALOGUE) - NOT_AT_HAND:
                for measure in measures if kind != "fitted" else ():
                    name = tool["PRINTED"].get(measure, measure)
                    if published_cell(table, dataset, tool["PAPER"][algorithm], name):
                        place = (algorithm, dataset, setting)
                        missing |= {place} if (*place, measure) not in there else set()
    assert missing <= UNFINISHED
    assert set(published()["nonstationary_ari_ami"]) == set(CATALOGUE)


@pytest.mark.parametrize(("dataset", "title"), [("letter", "Letter"), ("pima", "Pima"), ("yeast", "Yeast")])
def test_what_torque_clustering_does_not_meet_is_named(dataset, title):
    (cell,) = [c for c in CELLS if (c["algorithm"], c["dataset"]) == ("torque-clustering", dataset)]
    theirs, _ = published_cell("stationary_nodes_clusters", dataset, "TC", "clusters")
    words = f"{title} ({float(cell['mean']):,.0f} for {theirs:,.0f}"
    assert words in " ".join(PAGE.split())


def test_torque_clustering_misses_nothing_else():
    missed = {
        c["dataset"] for c in CELLS if c["algorithm"] == "torque-clustering" and tool["verdict"](c) != 1
    }
    assert missed == {"letter", "pima", "yeast"}


@pytest.mark.parametrize("dataset", ["iris", "pima", "yeast"])
def test_the_cells_of_torque_clustering_are_what_it_finds(dataset, data_set):
    X = data_set(dataset)
    (cell,) = [c for c in CELLS if (c["algorithm"], c["dataset"]) == ("torque-clustering", dataset)]
    assert TorqueClustering().fit(X).n_clusters_ == float(cell["mean"])
