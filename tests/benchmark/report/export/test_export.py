"""Exported files parse back, and hold what the store holds."""

import csv
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from everclust.benchmark.report.export.export import FORMATS, cell_records, export, run_records
from everclust.benchmark.report.export.latex import escape, latex_table, latex_tables
from everclust.benchmark.report.outcomes import ARI, CLUSTERS, gather
from everclust.benchmark.report.paper.published import published_cell
from everclust.benchmark.run.details import Details
from everclust.benchmark.run.jobs import Job, Result, as_json
from everclust.benchmark.run.registry import ALGORITHMS as REGISTRY
from everclust.benchmark.run.registry import Algorithm
from everclust.benchmark.run.store import Store, StoreError

ALGORITHMS = ("everclust", "idat", "gng")
SETS = ("iris", "mice_protein", "/some/where/wut/x_2")


def score(algorithm, dataset, seed):
    return 0.3 + 0.1 * ALGORITHMS.index(algorithm) * (1 if dataset == "iris" else -1) + 0.013 * seed


def result(algorithm, dataset, setting, seed):
    if (algorithm, dataset) == ("gng", "mice_protein"):
        return Result(Job(algorithm, dataset, setting, seed), "memory", "too large")
    ari = score(algorithm, dataset, seed)
    scores = {"fowlkes_mallows": ari / 2, "homogeneity": 0.25}
    if "/" in dataset:
        scores |= {"labellings": {"ari": [ari, 0.9]}, "best_ari": 0.9}
    labels = np.random.RandomState(seed).randint(-1, 300, size=50)
    history = {"interval": [2, 4], "memory": [0, 1]}
    return Result(
        Job(algorithm, dataset, setting, seed, as_json({"a": 1.5} if algorithm == "gng" else {})),
        "ok",
        ari=ari,
        ami=0.5,
        clusters=3 + seed,
        history=history,
        details=Details(scores, labels),
    )


RESULTS = [
    result(algorithm, dataset, setting, seed)
    for algorithm in ALGORITHMS
    for dataset in SETS
    for setting in ("stationary", "nonstationary", "scaled")
    for seed in (1, 2)
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("export") / "results.sqlite"
    with Store(path) as store:
        for each in RESULTS:
            store.add(each)
    return path


@pytest.fixture(scope="module")
def folder(path):
    folder = path.parent / "deep" / "out"
    names = ["cells.csv", "runs.csv", "cells.json", "runs.json", "tables.tex", "labels.npz"]
    assert export(path, folder) == [folder / name for name in names]
    assert sorted(file.name for file in folder.iterdir()) == sorted(names)
    return folder


def test_runs_parse_back(folder):
    runs = json.loads((folder / "runs.json").read_text())
    assert len(runs) == len(RESULTS)
    for run, expected in zip(runs, RESULTS, strict=True):
        assert (run["algorithm"], run["dataset"], run["setting"], run["seed"]) == expected.job.key[:4]
        assert (run["status"], run["ari"], run["clusters"]) == (
            expected.status,
            expected.ari,
            expected.clusters,
        )
        assert run["history"] == expected.history
        assert run["fowlkes_mallows"] == (expected.details and expected.details.scores["fowlkes_mallows"])
    with (folder / "runs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(RESULTS)
    for row, run in zip(rows, runs, strict=True):
        assert list(row) == list(run)
        assert row["ari"] == ("" if run["ari"] is None else repr(run["ari"]))
        assert json.loads(row["history"] or "null") == run["history"]
        assert json.loads(row["machine"]) == run["machine"]
        assert json.loads(row["labellings"] or "null") == run["labellings"]


def test_cells_parse_back(folder):
    cells = json.loads((folder / "cells.json").read_text())
    assert len(cells) == 27
    by_place = {(cell["algorithm"], cell["dataset"], cell["setting"]): cell for cell in cells}
    cell = by_place["gng", "iris", "stationary"]
    scores = [score("gng", "iris", seed) for seed in (1, 2)]
    assert cell["ari_mean"] == pytest.approx(np.mean(scores))
    assert cell["ari_std"] == pytest.approx(np.std(scores, ddof=1))
    assert (cell["runs"], cell["other_runs"], cell["params_json"]) == (2, 0, '{"a": 1.5}')
    assert (cell["homogeneity_mean"], cell["clusters_mean"], cell["nodes_mean"]) == (0.25, 4.5, None)
    failed = by_place["gng", "mice_protein", "stationary"]
    assert (failed["runs"], failed["other_runs"], failed["ari_mean"]) == (0, 2, None)
    assert by_place["idat", SETS[2], "scaled"]["best_ari_mean"] == pytest.approx(0.9)
    with (folder / "cells.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["ari_mean"] for row in rows] == [
        "" if c["ari_mean"] is None else repr(c["ari_mean"]) for c in cells
    ]


def test_a_single_run_has_no_deviation():
    (cell,) = cell_records(run_records([RESULTS[0].row()]))
    assert cell["ari_mean"] == RESULTS[0].ari
    assert cell["ari_std"] is None


def test_labels_parse_back_and_are_named_as_the_runs(folder):
    runs = json.loads((folder / "runs.json").read_text())
    with np.load(folder / "labels.npz", allow_pickle=False) as arrays:
        assert set(arrays) == {run["run"] for run in runs if run["status"] == "ok"}
        for run, expected in zip(runs, RESULTS, strict=True):
            if run["status"] == "ok":
                assert arrays[run["run"]].tolist() == expected.details.labels.tolist()


def tables(text):
    """Cells of every tabular by the label of its table."""
    found = {}
    for table in re.findall(r"\\begin\{table\*\}.*?\\end\{table\*\}", text, re.S):
        label = re.search(r"\\label\{tab:(.+?)\}", table)[1]
        body = re.search(r"\\begin\{tabular\}\{(l[c]+)\}(.*?)\\end\{tabular\}", table, re.S)
        lines = [line for line in body[2].split("\n") if line.endswith("\\\\")]
        rows = [[cell.strip() for cell in line.removesuffix("\\\\").split(" & ")] for line in lines]
        assert {len(row) for row in rows} == {len(body[1])}
        found[label] = rows
    return found


def test_latex_parses_back_and_the_best_are_bold(folder):
    text = (folder / "tables.tex").read_text()
    assert text.count("\\begin{") == text.count("\\end{")
    assert text.count("{") == text.count("}")
    assert "published" not in str(tables(text)["stationary-ari"])  # the paper's table is not available
    heads, *rows = tables(text)["stationary-ari"]
    assert heads == ["Data set", "EverClust", "IDAT", "GNG"]
    assert [row[0] for row in rows] == ["Iris", "Mice Protein", r"wut/x\_2", "Mean rank"]
    for dataset, row in zip(SETS, rows, strict=False):
        for algorithm, cell in zip(ALGORITHMS, row[1:], strict=True):
            if (algorithm, dataset) == ("gng", "mice_protein"):
                assert cell == "OOM"
                continue
            mean, deviation = map(float, re.findall(r"-?\d\.\d+", cell))
            scores = [score(algorithm, dataset, seed) for seed in (1, 2)]
            assert mean == pytest.approx(np.mean(scores), abs=6e-4)
            assert deviation == pytest.approx(np.std(scores, ddof=1), abs=6e-4)
            best = algorithm == ("gng" if dataset == "iris" else "everclust")
            assert ("\\mathbf" in cell) == best
    # ranks: iris 3 2 1, mice protein 1 2 3, x_2 1 2 3
    assert rows[-1][1:] == ["$1.67$", "$2.00$", "$2.33$"]


def test_published_numbers_stand_below_ours(folder):
    found = tables((folder / "tables.tex").read_text())
    rows = found["nonstationary-ari"]
    assert [row[0] for row in rows[1:]] == [
        *("Iris", r"\quad published", "Mice Protein", r"\quad published", r"wut/x\_2"),
        "Mean rank",  # without a published one, because the paper does not have the last data set
    ]
    for title, k in (("IDAT", 2), ("GNG", 3)):
        assert rows[0][k] == title
        for dataset, row in (("iris", rows[2]), ("mice_protein", rows[4])):
            mean, deviation = published_cell("nonstationary_ari_ami", dataset, title, "ARI")
            assert row[k] == f"${mean:.3f} \\pm {deviation:.3f}$"
    assert rows[2][1] == rows[4][1] == ""  # the paper does not have EverClust
    nodes = published_cell("stationary_nodes_clusters", "iris", "IDAT", "clusters")
    assert found["stationary-clusters"][2][2] == f"${nodes[0]:.1f} \\pm {nodes[1]:.1f}$"


def test_published_ranks_are_among_the_same_algorithms_on_the_same_data_sets():
    places = [(a, d) for a in ("idat", "gng") for d in ("iris", "seeds", "yeast")]
    rows = [Result(Job(a, d, "nonstationary", 1), "ok", ari=0.5).row() for a, d in places]
    (table,) = tables(latex_table(gather(rows), "nonstationary", ARI)).values()
    better = [
        published_cell("nonstationary_ari_ami", d, "IDAT", "ARI")
        > published_cell("nonstationary_ari_ami", d, "GNG", "ARI")
        for d in ("iris", "seeds", "yeast")
    ]
    idat = 2 - np.mean(better)
    assert table[-2][1:] == ["$1.50$", "$1.50$"]
    assert table[-1][1:] == [f"${idat:.2f}$", f"${3 - idat:.2f}$"]


def test_what_could_not_run_and_references_are_not_ranked():
    rows = [
        Result(Job(a, "iris", "stationary", 1), status, ari=ari).row()
        for a, status, ari in (("idat", "ok", 0.5), ("gng", "ok", 0.6), ("k-means", "ok", 0.9))
    ]
    rows.append(Result(Job("tabledc", "iris", "stationary", 1), "uninstalled", "no torch").row())
    (table,) = tables(latex_table(gather(rows), "stationary", ARI)).values()
    assert table[0][1:] == ["IDAT", "GNG", "k-means, raw features", "TableDC"]
    assert table[-1] == ["Mean rank", "$2.00$", "$1.00$", "", ""]


def test_titles_of_ones_own_algorithms_and_runs_that_are_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(REGISTRY, "mine", Algorithm("mine", "My Own", make=lambda params, seed: None))
    jobs = [Job("mine", "iris", "stationary", seed) for seed in (1, 2)]
    with Store(tmp_path / "s.sqlite") as store:
        store.ask(jobs)
        store.add(Result(jobs[0], "ok", ari=0.5))
    monkeypatch.delitem(REGISTRY, "mine")  # another process, which has not imported the file
    export(tmp_path / "s.sqlite", tmp_path, ["latex", "json"])
    assert "Data set & My Own" in (tmp_path / "tables.tex").read_text()
    (cell,) = json.loads((tmp_path / "cells.json").read_text())
    assert (cell["runs"], cell["other_runs"]) == (1, 1)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex, booktabs and graphicx")
def test_latex_compiles_and_fits_the_page(folder, tmp_path):
    rows = [Result(Job(f"own_{k}", "a&b", "stationary", 1), "ok", ari=0.1, nodes=5).row() for k in range(14)]
    text = (folder / "tables.tex").read_text() + latex_tables(gather(rows))
    packages = r"\documentclass{article}\usepackage{booktabs}\usepackage{graphicx}\begin{document}"
    (tmp_path / "page.tex").write_text(packages + text + r"\end{document}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout
    assert "Overfull" not in done.stdout


def test_latex_has_every_measure_that_a_run_has(folder):
    found = tables((folder / "tables.tex").read_text())
    for setting in ("stationary", "nonstationary", "scaled"):
        for measure in ("ari", "ami", "fowlkes-mallows", "homogeneity", "best-ari", "clusters"):
            assert f"{setting}-{measure}" in found
    assert not any("nodes" in label or "completeness" in label for label in found)


def test_ties_are_bold_together_and_counts_never():
    rows = [
        Result(Job(a, "iris", "stationary", 1), "ok", ari=ari, clusters=c).row()
        for a, ari, c in (("idat", 0.5001, 3), ("gng", 0.5004, 9), ("caea", -0.0001, 4))
    ]
    outcomes = gather(rows)
    line = next(line for line in latex_table(outcomes, "stationary", ARI).split("\n") if "Iris" in line)
    assert line == r"Iris & $\mathbf{0.500}$ & $\mathbf{0.500}$ & $0.000$ \\"
    assert "mathbf" not in latex_table(outcomes, "stationary", CLUSTERS)


def test_a_single_algorithm_is_neither_bold_nor_ranked():
    rows = [Result(Job("idat", "iris", "stationary", 1), "ok", ari=0.5).row()]
    text = latex_table(gather(rows), "stationary", ARI)
    assert r"Iris & $0.500$ \\" in text
    assert "mathbf" not in text
    assert "Mean rank" not in text


def test_wide_tables_are_scaled_and_names_escaped():
    rows = [Result(Job(f"own_{k}", "a&b", "stationary", 1), "ok", ari=0.1).row() for k in range(9)]
    text = latex_tables(gather(rows))
    assert "\\textwidth\\else\\width\\fi}{!}{%\n\\begin{tabular}" in text
    assert text.count("{") == text.count("}")
    assert r"a\&b" in text
    assert r"own\_3" in text
    assert escape("100 % of a_b^c \\ {x}") == r"100 \% of a\_b\textasciicircum{}c \textbackslash{} \{x\}"


def test_only_what_is_asked_for_is_written(path, tmp_path):
    assert export(path, tmp_path, ["latex"]) == [tmp_path / "tables.tex"]
    assert [file.name for file in tmp_path.iterdir()] == ["tables.tex"]
    with pytest.raises(ValueError, match=r"no export format called 'xlsx'; choose from csv, json, latex"):
        export(path, tmp_path / "no", ["csv", "xlsx"])
    assert not (tmp_path / "no").exists()


def test_an_empty_store_is_one_sentence(tmp_path):
    Store(tmp_path / "s.sqlite").close()
    with pytest.raises(StoreError, match="holds no results yet"):
        export(tmp_path / "s.sqlite", tmp_path / "out", FORMATS)
    with pytest.raises(StoreError, match="no store"):
        export(tmp_path / "none.sqlite", tmp_path / "out")


def test_where_the_parameters_come_from_is_exported(folder):
    cells = json.loads((folder / "cells.json").read_text())
    assert {cell["algorithm"]: cell["parameters"] for cell in cells if cell["runs"]} == {
        "everclust": "none",
        "idat": "none",
        "gng": "given",
    }
    text = (folder / "tables.tex").read_text()
    assert "Parameters: none (EverClust, IDAT, GNG on Mice Protein); given (GNG on Iris" in text
