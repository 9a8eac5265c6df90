"""The report names the kind of parameters in every table, and lists their values."""

import re

import pytest

from everclust.benchmark.report.document import Grid
from everclust.benchmark.report.formats.html import page
from everclust.benchmark.report.formats.markdown import markdown
from everclust.benchmark.report.outcomes import gather
from everclust.benchmark.report.parameters import parameter_note
from everclust.benchmark.report.report import report_on
from everclust.benchmark.run.jobs import Job, Result, as_json

PRINTED = {"lambda_": 3, "eps_b": 0.12345678}


def result(algorithm, dataset, params, kind, seed=1, setting="nonstationary"):
    job = Job(algorithm, dataset, setting, seed, as_json(params), kind)
    measures = {"ari": 0.5, "ami": 0.5, "ai_ari": 0.5, "ai_ami": 0.5, "bwt_ari": 0.0, "bwt_ami": 0.0}
    return Result(job, "ok", **measures, nodes=4, clusters=2, train_seconds=1.0, train_cpu_seconds=1.0)


RESULTS = [
    result("gng", "iris", PRINTED, "printed"),
    result("gng", "seeds", PRINTED, "printed"),
    result("caea", "iris", {"a_max": 10}, "fitted"),
    result("caea", "seeds", {"a_max": 11}, "searched"),
    *(result(name, dataset, {}, "") for name in ("idat", "idat-500") for dataset in ("iris", "seeds")),
    result("everclust", "iris", {}, ""),
]


@pytest.fixture(scope="module")
def report():
    return report_on([each.row() for each in RESULTS])


def test_every_table_of_results_names_the_kinds(report):
    for section in report.sections:
        if section.title in ("Parameters", "What did not finish", "How it was made"):
            continue
        for grid in section.blocks:
            if isinstance(grid, Grid):
                in_column = "Parameters" in [column.title for column in grid.columns]
                assert grid.note.startswith("Parameters: ") or in_column, (section.title, grid.title)


def test_the_kinds_in_words():
    rows = [each.row() for each in RESULTS]
    assert parameter_note(gather(rows), "nonstationary", ["gng", "caea", "idat"]) == (
        "Parameters: printed (GNG); fitted (CAEA on Iris); searched (CAEA on Seeds); none (IDAT)."
    )
    older = [row | {"parameters": None} for row in rows]
    assert parameter_note(gather(older), "nonstationary", ["gng", "idat"]) == (
        "Parameters: not recorded (GNG); none (IDAT)."
    )


def test_what_was_never_begun_has_no_kind():
    rows = [each.row() for each in RESULTS]
    asked = [row | {"dataset": "yeast", "asked_at": "2026"} for row in rows if row["algorithm"] == "gng"]
    assert parameter_note(gather(rows, asked), "nonstationary", ["gng"]) == (
        "Parameters: printed (GNG on Iris, Seeds); not run (GNG on Yeast)."
    )


def test_the_values_are_listed(report):
    text = markdown(report)
    assert "| GNG | Seeds | printed | `eps\\_b` 0.1235, `lambda\\_` 3 |" in text
    assert "| CAEA | Iris | fitted | `a\\_max` 10 |" in text
    assert "| IDAT | all | none | – |" in text


def test_agreement_says_with_which_parameters(report):
    assert re.search(r"^\| GNG, nonstationary \| printed \| Nodes \|", markdown(report), flags=re.M)


# Wide tables


@pytest.mark.parametrize(("n_algorithms", "hints"), [(2, False), (10, True)])
def test_a_table_that_is_clipped_says_so(n_algorithms, hints):
    names = ["idat", "gng", "caea", "cae", "ddvfa", "soinn-plus", "tbm-p", "tabledc", "g-ceals", "sr-pcm-hdp"]
    results = [result(name, "iris", {}, "", seed=seed) for name in names[:n_algorithms] for seed in (1, 2)]
    html = page(report_on([each.row() for each in results]))
    nodes = html[html.index("<h3>Nodes, nonstationary") :].split("<table>")[0]
    assert ("Scroll the table sideways: it goes on to SR-PCM-HDP." in nodes) == hints
