"""The section with pairwise comparisons: right numbers, honest about what so many data sets can show."""

import numpy as np
import pytest

from everclust.benchmark.report.document import Grid, Text
from everclust.benchmark.report.formats.html import page
from everclust.benchmark.report.formats.markdown import markdown
from everclust.benchmark.report.outcomes import gather
from everclust.benchmark.report.report import report_on
from everclust.benchmark.report.sections.comparisons import comparisons, p_text
from everclust.benchmark.report.statistics.bayesian import bayesian_signed_rank_test
from everclust.benchmark.report.statistics.significance import holm, signed_rank_test
from everclust.benchmark.run.jobs import Job, Result

SETS = ["iris", "seeds", "dermatology", "pima", "yeast", "semeion", "rice", "phoneme", "texture", "optdigits"]
GAINS = {"idat": 0.0, "k-means": -0.1, "gng": 0.02}


def rows(sets=SETS, algorithms=("everclust", "idat", "k-means", "gng")):
    """Two runs of each; EverClust gains the same on each set, plus something of the set's own."""
    random = np.random.RandomState(5)
    found = []
    for dataset in sets:
        for algorithm in algorithms:
            ari = 0.5 - GAINS.get(algorithm, 0.05) + random.normal(0, 0.02)
            for seed in (1, 2):
                job = Job(algorithm, dataset, "stationary", seed)
                found.append(Result(job, "ok", ari=ari + seed / 100, ami=0.5).row())
    return found


def grids(section):
    return {block.title: block for block in section.blocks if isinstance(block, Grid)}


def means(found, algorithm):
    return np.array(
        [
            np.mean([r["ari"] for r in found if (r["algorithm"], r["dataset"]) == (algorithm, dataset)])
            for dataset in SETS
        ]
    )


def test_the_numbers_are_those_of_the_tests():
    found = rows()
    grid = grids(comparisons(gather(found)))["EverClust against the others, ARI, stationary"]
    names = ["idat", "k-means", "gng"]
    differences = {name: means(found, "everclust") - means(found, name) for name in names}
    tests = {name: signed_rank_test(of) for name, of in differences.items()}
    adjusted = dict(zip(names, holm([tests[name].p_value for name in names]), strict=True))
    titles = {"idat": "IDAT", "k-means": "k-means, raw features", "gng": "GNG"}
    by_title = {row.title: row for row in grid.rows}
    assert set(by_title) == set(titles.values())
    for name in names:
        n, difference, p, corrected, effect, *posterior = by_title[titles[name]].entries
        assert n.text == "10"
        assert float(difference.text.replace("−", "-")) == pytest.approx(differences[name].mean(), abs=5e-4)
        assert p.text == p_text(tests[name].p_value)
        assert corrected.text == p_text(adjusted[name])
        assert float(effect.text.replace("−", "-")) == pytest.approx(tests[name].effect, abs=5e-3)
        expected = bayesian_signed_rank_test(differences[name])
        assert [float(entry.text) for entry in posterior] == pytest.approx(list(expected), abs=5e-3)


def test_equal_scores_are_equal_for_sure():
    grid = grids(comparisons(gather(rows())))["IDAT against the others, AMI, stationary"]
    for row in grid.rows:
        assert [entry.text for entry in row.entries[2:]] == ["1", "1", "0.00", "0.00", "1.00", "0.00"]


def test_mean_ranks_lie_in_their_intervals():
    (grid,) = [grid for title, grid in grids(comparisons(gather(rows()))).items() if "ranks" in title]
    assert grid.title == "Mean ranks and their intervals on 10 data sets, stationary"
    for row in grid.rows:
        low, high = map(float, row.entries[1].text.split(" to "))
        assert low <= float(row.entries[0].text) <= high
    assert sum(float(row.entries[0].text) for row in grid.rows) == pytest.approx(10, abs=0.02)


def words(section):
    return " ".join(block.text for block in section.blocks if isinstance(block, Text))


def test_few_data_sets_cannot_tell_anything_apart():
    said = words(comparisons(gather(rows(SETS[:4]))))
    assert (
        "With 4 data sets and 3 comparisons no difference can be significant: the p of Wilcoxon's test is at "
        "least 0.12, and Holm's first step needs 0.017." in said
    )


def test_many_data_sets_can_tell_some_differences_apart():
    said = words(comparisons(gather(rows())))
    assert "What 10 data sets can tell apart: if the differences in ARI between EverClust" in said
    assert "With 10 data sets and 4 algorithms, mean ranks must differ by 1.48 to be" in said


def test_what_is_not_there_is_left_out():
    assert comparisons(gather(rows(algorithms=("everclust",)))).blocks == []
    assert comparisons(gather(rows(SETS[:1]))).blocks == []
    failed = [Result(Job("gng", name, "stationary", 1), "failed", "no").row() for name in SETS]
    section = comparisons(gather(rows(algorithms=("everclust", "idat")) + failed))
    assert "GNG" not in str(section.blocks)


def test_a_data_set_that_only_one_finished_does_not_count():
    found = [
        Result(Job("gng", "iris", "stationary", r["seed"]), "timeout", "late").row()
        if (r["algorithm"], r["dataset"]) == ("gng", "iris")
        else r
        for r in rows()
    ]
    grid = grids(comparisons(gather(found)))["EverClust against the others, ARI, stationary"]
    assert {row.title: row.entries[0].text for row in grid.rows}["GNG"] == "9"


def test_the_section_is_part_of_the_report():
    report = report_on(rows())
    for text in (page(report), markdown(report)):
        assert "Pairwise comparisons" in text
        assert "rank-biserial" in text
        assert "EverClust against the others, ARI, stationary" in text
