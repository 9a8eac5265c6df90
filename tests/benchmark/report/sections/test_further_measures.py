"""Sections with further measures, labellings, labels at arrival and robustness."""

import json

import numpy as np

from everclust.benchmark.report.document import Grid
from everclust.benchmark.report.formats.html import page
from everclust.benchmark.report.formats.markdown import markdown
from everclust.benchmark.report.outcomes import gather
from everclust.benchmark.report.report import report_on
from everclust.benchmark.report.sections.further_measures import (
    further_measures,
    labellings,
    prequential,
)
from everclust.benchmark.report.sections.robustness import robustness
from everclust.benchmark.run.jobs import Job, Result

MIB = 2**20


def row(algorithm, dataset, setting, seed, **extra):
    own = {name: extra.pop(name) for name in list(extra) if name in ("ari", "ami", "history")}
    job = Job(algorithm, dataset, setting, seed)
    return Result(job, "ok", **({"ari": 0.5, "ami": 0.4} | own)).row() | extra


def decoded(row):
    return row | {"history": json.loads(row["history"])}


def grids(section):
    return {block.title: block for block in section.blocks if isinstance(block, Grid)}


def texts(grid):
    return {row.title: [entry.text for entry in row.entries] for row in grid.rows}


def test_further_measures_are_means_over_runs():
    rows = [row("idat", "iris", "stationary", seed, homogeneity=0.2 * seed) for seed in (1, 2)]
    rows.append(row("gng", "iris", "stationary", 1, homogeneity=None))  # of an earlier version
    rows.append(row("k-means", "iris", "stationary", 1, homogeneity=0.75))
    found = grids(further_measures(gather(rows)))
    assert list(found) == ["Homogeneity, stationary"]
    grid = found["Homogeneity, stationary"]
    assert [column.title for column in grid.columns] == ["IDAT", "k-means, raw features"]
    assert texts(grid) == {"Iris": ["0.300", "0.750"]}


def test_a_store_of_an_earlier_version_has_no_such_sections():
    rows = [row("idat", "iris", "stationary", seed) for seed in (1, 2)]
    assert further_measures(gather(rows)).blocks == []
    assert labellings(gather(rows)).blocks == []
    assert prequential(gather(rows)).blocks == []


def test_labellings_have_a_row_each_and_the_best_of_each_run():
    scores = [{"ari": [0.1, 0.7], "ami": [0, 0]}, {"ari": [0.5, 0.3], "ami": [0, 0]}]
    rows = [
        row("idat", "wut/x", "stationary", seed, labellings=of, best_ari=max(of["ari"]), best_ami=0.0)
        for seed, of in enumerate(scores)
    ]
    rows.append(row("idat", "iris", "stationary", 1))
    found = texts(grids(labellings(gather(rows)))["ARI by labelling, stationary"])
    assert found == {"wut/x, labels0": ["0.300"], "wut/x, labels1": ["0.500"], "wut/x, best": ["0.600"]}


def test_labels_at_arrival_and_memory_along_the_stream():
    curves = [[1, 2, 3, 4, 5, 6, 7, 8], [3, 4, 5, 6, 7, 8, 9, 10], [100] * 8]
    rows = [
        row("idat", "iris", "prequential", k, ari=0.1 * k, history={"memory": [MIB * m for m in curve]})
        for k, curve in enumerate(curves, start=1)
    ]
    found = grids(prequential(gather(map(decoded, rows))))
    assert texts(found["ARI, prequential"]) == {"Iris": ["0.200"]}
    assert texts(found["Memory along the stream, MiB, prequential"]) == {"Iris": ["4.0", "6.0", "10.0"]}


def test_robustness_by_hand():
    rows = [row("idat", "iris", "stationary", k, ari=ari) for k, ari in enumerate((0.4, 0.5, 0.6))]
    rows += [row("idat", "seeds", "stationary", k, ari=ari) for k, ari in enumerate((0.2, 0.2, 0.5))]
    rows += [row("idat", "iris", "nonstationary", 1, ari=0.3), row("idat", "seeds", "scaled", 1, ari=0.35)]
    rows += [row("gng", "iris", "stationary", 1)]  # a single run has no spread
    found = texts(grids(robustness(gather(rows)))["ARI under changes"])
    spread = (np.std([0.4, 0.5, 0.6], ddof=1) + np.std([0.2, 0.2, 0.5], ddof=1)) / 2
    assert found == {"IDAT": ["0.400 (2)", f"{spread:.3f} (2)", "−0.100 (2)", "−0.200 (1)", "0.050 (1)"]}


def test_the_sections_are_part_of_the_report():
    rows = [
        row("idat", "wut/x", setting, seed, homogeneity=0.1, history={"memory": [1]})
        for seed in (1, 2)
        for setting in ("prequential", "scaled")
    ]
    rows += [row("idat", "wut/x", "stationary", seed, homogeneity=0.1) for seed in (1, 2)]
    report = report_on(rows)
    for text in (page(report), markdown(report)):
        for title in ("Further measures", "Labels at arrival", "Robustness"):
            assert title in text
