"""The table of the references, from made-up results."""

import re

import pytest

from everclust.benchmark.report.formats.html import page
from everclust.benchmark.report.formats.markdown import markdown
from everclust.benchmark.report.outcomes import gather
from everclust.benchmark.report.report import reference_table, report_on
from everclust.benchmark.report.sections.references import references
from everclust.benchmark.run.jobs import Job, Result
from everclust.benchmark.run.registry import SEARCHED
from everclust.benchmark.run.store import Store, StoreError

NUMBER = "number of classes"


def run(algorithm, dataset, ari, seed=1, setting="stationary", params="{}"):
    job = Job(algorithm, dataset, setting, seed, params)
    return Result(
        job, "ok", ari=ari, ami=ari + 0.1, clusters=2, train_seconds=99.0, train_cpu_seconds=10 * ari
    )


def out_of_memory(algorithm, dataset):
    return Result(Job(algorithm, dataset, "stationary", 1), "memory", "Out of memory: too many rows.")


COMPLETE = [
    run("k-means", "iris", 0.3),
    run("k-means", "seeds", 0.5),
    run("everclust", "iris", 0.4, seed=1),
    run("everclust", "iris", 0.6, seed=2),
    run("everclust", "seeds", 0.8),
    run("idat", "iris", 0.2),
    run("idat", "seeds", 0.2),
]
WITH_GAPS = [
    *COMPLETE,
    out_of_memory("ward", "iris"),
    run("ward", "seeds", 0.7),
    run("dbstream", "seeds", 0.1, params='{"minimum_weight": 2.0}'),
]


def section_on(results, algorithms=()):
    return references(gather(result.row() for result in results), algorithms)


def cells(grid):
    return [[row.title, *(entry.text for entry in row.entries)] for row in grid.rows]


def test_rows_are_means_over_data_sets_of_means_over_runs():
    _, grid = section_on(COMPLETE).blocks
    assert grid.title == "The 2 data sets on which all have a result, stationary, 1 to 2 runs each"
    assert [column.title for column in grid.columns] == ["is told", "ARI", "AMI", "CPU s"]
    assert cells(grid) == [
        ["EverClust", "nothing", "0.650", "0.750", "6.500"],
        ["IDAT", "nothing", "0.200", "0.300", "2.000"],
        ["k-means, raw features", NUMBER, "0.400", "0.500", "4.000"],
    ]


def test_with_gaps_means_are_over_common_data_sets_and_a_second_table_has_all():
    _, common, own = section_on(WITH_GAPS).blocks
    assert common.title == "The 1 data set on which all have a result, stationary, 1 to 2 runs each"
    searched = f"scale of each feature; {SEARCHED}"
    assert [row[:3] for row in cells(common)] == [
        ["EverClust", "nothing", "0.800"],
        ["IDAT", "nothing", "0.200"],
        ["k-means, raw features", NUMBER, "0.500"],
        ["Ward, raw features", NUMBER, "0.700"],
        ["DBSTREAM (river)", searched, "0.100"],
    ]
    everclust = ["0.800", "0.900", "8.000"]
    assert cells(own)[3] == ["Ward, raw features", NUMBER, "1", "0.700", "0.800", "7.000", *everclust]
    assert cells(own)[2][2:] == ["2", "0.400", "0.500", "4.000", "0.650", "0.750", "6.500"]


def test_an_algorithm_without_any_result_has_dashes_and_no_common_data_set():
    results = [*COMPLETE, out_of_memory("ward", "iris"), out_of_memory("ward", "seeds")]
    _, own = section_on(results).blocks
    assert cells(own)[-1] == ["Ward, raw features", NUMBER, "0", *["–"] * 6]


def test_where_everclust_has_no_result_there_is_a_dash_beside():
    _, _, own = section_on([*COMPLETE, run("k-means", "rice", 0.1)]).blocks
    assert cells(own)[-1] == ["k-means, raw features", NUMBER, "3", "0.300", "0.400", "3.000", *["–"] * 3]


def test_rows_can_be_chosen():
    _, grid = section_on(WITH_GAPS, ["k-means", "everclust"]).blocks
    assert [row[0] for row in cells(grid)] == ["k-means, raw features", "EverClust"]
    assert grid.title.startswith("The 2 data sets")


def test_each_setting_has_its_own_table():
    more = [run(name, "iris", 0.5, setting="nonstationary") for name in ("everclust", "idat", "clustream")]
    _, stationary, nonstationary = section_on([*COMPLETE, *more]).blocks
    assert stationary.title.endswith(", stationary, 1 to 2 runs each")
    assert nonstationary.title == "The 1 data set on which all have a result, nonstationary, 1 run each"
    assert [row[0] for row in cells(nonstationary)] == ["EverClust", "IDAT", "CluStream (river)"]


def test_without_references_there_is_no_section():
    results = [result for result in COMPLETE if result.job.algorithm != "k-means"]
    assert section_on(results).blocks == []


def test_the_report_has_the_section_and_does_not_rank_references():
    report = report_on([result.row() for result in WITH_GAPS])
    sections = {section.title: section for section in report.sections}
    assert "Who is told what" in page(report)
    text = markdown(report._replace(sections=[sections["Ranks"], sections["ARI and AMI"]]))
    assert "k-means" not in text
    assert "DBSTREAM" not in text
    assert "Ward, raw features" in markdown(report._replace(sections=[sections["What did not finish"]]))


@pytest.fixture
def path(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        for result in COMPLETE:
            store.add(result)
    return tmp_path / "results.sqlite"


def test_the_markdown_can_be_pasted(path):
    text = reference_table(path)
    assert "| Algorithm | is told | ARI | AMI | CPU s |\n| :-- | :-- | --: | --: | --: |\n" in text
    assert "| k-means, raw features | number of classes | 0.400 | 0.500 | 4.000 |" in text
    assert not re.search(r"^#{1,2} ", text, flags=re.M)


def test_a_store_without_references_is_one_clear_sentence(tmp_path):
    with Store(tmp_path / "other.sqlite") as store:
        store.add(COMPLETE[-1])
    with pytest.raises(StoreError, match="holds no results of references; run `everclust bench run"):
        reference_table(tmp_path / "other.sqlite")
    with pytest.raises(StoreError, match="There is no store"):
        reference_table(tmp_path / "none.sqlite")
