"""The commands, as users meet them."""

import csv
import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from everclust import IDAT, EverClust, __version__, load
from everclust.core.layout import SEED_NODES
from support.stream_fixtures import NAMES, write_csv


def same(a: EverClust | IDAT, b: EverClust | IDAT) -> bool:
    """As far as the world can see, bit by bit."""
    return all(
        np.array_equal(getattr(a, name), getattr(b, name))
        for name in ("prototypes_", "usage_", "scales_", "edges_", "node_labels_", "interval_", "vigilance_")
    )


def test_fit_learns_what_partial_fit_learns(points, X, call):
    said = call("fit", points, "-m", "m.everclust", "--id", "name", "--label", "kind")
    model = load("m.everclust")
    assert same(model, EverClust().partial_fit(X))
    assert list(model.feature_names_in_) == NAMES
    assert said.startswith("3,000 rows; ")


def test_modes_reach_the_model(points, X, call):
    modes = ["--metric", "euclidean", "--max-nodes", "50"]
    call("fit", points, "-m", "m", "--exclude", "name,kind", *modes)
    model = load("m")
    assert model.get_params() == {"metric": "euclidean", "max_nodes": 50, "n_jobs": None}
    assert same(model, EverClust(metric="euclidean", max_nodes=50).partial_fit(X))


def test_the_published_algorithm_can_be_chosen(points, X, call):
    call("fit", points, "-m", "m", "--exclude", "name,kind", "--algorithm", "idat", "--max-nodes", "50")
    assert same(load("m"), IDAT(max_nodes=50).partial_fit(X))
    assert isinstance(load("m"), IDAT)
    lines = call("watch", points, "--exclude", "name,kind", "--algorithm", "idat").splitlines()
    assert lines == [str(event) for event in IDAT().partial_fit(X).events()]
    assert "must be everclust or idat" in call("fit", points, "-m", "n", "--algorithm", "kmeans", code=2)
    both = ("--algorithm", "idat", "--metric", "capped")
    assert "--metric does not go with --algorithm idat" in call("watch", points, *both, code=2)


@pytest.mark.parametrize("text", ["", "a,b\n", "a,b"])
@pytest.mark.parametrize("key", [[], ["--key", "a"]])
def test_fit_without_rows_is_an_error_for_there_is_no_model(text, key, tmp_path, monkeypatch, sentence):
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text(text)
    said = sentence("fit", "x.csv", "-m", "m", *key)
    expected = "No rows came from x.csv, so nothing was learnt and m was not written; check the source."
    assert " ".join(said.split()) == expected
    assert not Path("m").exists()


def test_fit_without_rows_leaves_the_model_that_it_was_to_replace(points, call):
    call("fit", points, "-m", "m", "--exclude", "name,kind")
    before = Path("m").read_bytes()
    Path("empty.csv").write_text("")
    assert "m was not written" in call("fit", "empty.csv", "-m", "m", "--force", code=1)
    assert Path("m").read_bytes() == before


@pytest.mark.parametrize("text", ["", "a,b,c,d\n", "a,b,c,d"])
def test_other_commands_may_meet_no_rows(text, points, call):
    call("fit", points, "-m", "m", "--exclude", "name,kind")
    Path("empty.csv").write_text(text)
    assert call("update", "empty.csv", "-m", "m").startswith("0 rows; ")
    assert call("watch", "empty.csv") == ""
    assert call("watch", "empty.csv", "-m", "new") == ""
    assert call("predict", "empty.csv", "-m", "m") == "row,cluster\n"
    assert "nothing to score" in call("score", "empty.csv", "-m", "m", code=1)


def test_version(call):
    assert call("--version") == f"everclust {__version__}\n"


def test_a_mode_that_does_not_exist(points, sentence):
    assert "'squares'" in sentence("fit", points, "-m", "m", "--exclude", "name,kind", "--metric", "squares")


def test_text_is_refused_with_a_hint(points, sentence):
    said = sentence("fit", points, "-m", "m")
    assert "Columns 'name', 'kind' hold no numbers" in said
    assert "--exclude name,kind" in said
    said = sentence("fit", points, "-m", "m", "--exclude", "kind")
    assert "Column 'name' holds string" in said
    assert "--exclude name," in said


def test_a_model_is_not_replaced_by_accident(points, folder, call, sentence):
    arguments = ["fit", points, "-m", "m", "--columns", "a,b"]
    call(*arguments)
    (folder / "p.csv").write_text("precious")
    assert "--force" in sentence(*arguments, "-p", "p.csv")
    assert (folder / "p.csv").read_text() == "precious"
    call(*arguments, "--force")


def test_columns_are_matched_by_name(points, X, folder, call, sentence):
    call("fit", points, "-m", "m", "--columns", "a,b,c,d")
    order = [2, 0, 3, 1]
    table = pa.table({NAMES[k]: X[:, k] for k in order} | {"more": ["text"] * len(X)})
    parquet.write_table(table, folder / "other.parquet")
    call("update", "other.parquet", "-m", "m")
    assert same(load("m"), EverClust().partial_fit(X).partial_fit(X))
    assert list(load("m").feature_names_in_) == NAMES
    parquet.write_table(table.drop_columns(["b"]), folder / "less.parquet")
    assert "learnt the column 'b'" in sentence("update", "less.parquet", "-m", "m")
    np.save(folder / "bare.npy", X)
    call("update", "bare.npy", "-m", "m")
    np.save(folder / "narrow.npy", X[:, :3])
    assert "has learnt 4 columns, but 3 come" in sentence("update", "narrow.npy", "-m", "m")


def test_a_model_without_names_takes_columns_in_their_order(folder, points, X, call):
    np.save(folder / "bare.npy", X)
    call("fit", "bare.npy", "-m", "m")
    assert not hasattr(load("m"), "feature_names_in_")
    call("update", points, "-m", "m", "--id", "name", "--label", "kind")
    assert same(load("m"), EverClust().partial_fit(X).partial_fit(X))
    assert not hasattr(load("m"), "feature_names_in_")


def test_an_update_without_a_model(points, sentence):
    assert "There is no model nowhere" in sentence("update", points, "-m", "nowhere")


def test_predictions_of_a_running_model_are_those_at_the_end_of_each_block(points, X, call, folder):
    call("fit", points, "-m", "m", "--id", "name", "--label", "kind", "-p", "p.csv", "--block", 700)
    model, expected = EverClust(), ["name,cluster"]
    for start in range(0, len(X), 700):
        part = X[start : start + 700]
        found = model.partial_fit(part).predict(part)
        expected += [f"r{start + i:05d},{k}" for i, k in enumerate(found)]
    assert (folder / "p.csv").read_text().splitlines() == expected


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_predict_writes_every_format(kind, points, X, call, folder):
    call("fit", points, "-m", "m", "--columns", "a,b,c,d")
    before = (folder / "m").read_bytes()
    call("predict", points, "-m", "m", "--id", "name", "--similarity", "-o", f"p.{kind}")
    if kind == "csv":
        rows = [line.split(",") for line in (folder / "p.csv").read_text().splitlines()[1:]]
    elif kind == "jsonl":
        rows = [list(json.loads(line).values()) for line in (folder / "p.jsonl").read_text().splitlines()]
    else:
        rows = [list(row.values()) for row in parquet.read_table(folder / "p.parquet").to_pylist()]
    model = load("m")
    assert [row[0] for row in rows] == [f"r{i:05d}" for i in range(len(X))]
    assert [int(row[1]) for row in rows] == model._predict_rows(X).tolist()
    assert [float(row[2]) for row in rows] == model._score_rows(X).tolist()
    assert (folder / "m").read_bytes() == before
    assert not (folder / "p.parquet.part").exists()


def test_predict_numbers_rows_that_have_no_name(folder, call):
    (folder / "x.csv").write_text("a,b\n" + "".join(f"{k % 7},{k % 5}\n" for k in range(50)) + ",1\n3,4\n")
    call("fit", "x.csv", "-m", "m")
    lines = call("predict", "x.csv", "-m", "m").splitlines()
    assert lines[0] == "row,cluster"
    assert [line.split(",")[0] for line in lines[-2:]] == ["50", "52"]


def test_missing_values_are_counted_or_refused(folder, call, record, sentence):
    (folder / "x.csv").write_text("a,b\n" + "".join(f"{k % 7},{k % 5}\n" for k in range(50)) + ",1\n3,4\n")
    told = record("fit", "x.csv", "-m", "m")
    assert (told["rows"], told["skipped"], told["samples"]) == (52, 1, 51)
    said = sentence("fit", "x.csv", "-m", "m2", "--missing", "error")
    assert "Row 51 of what was read has no finite value in column 'a'" in said
    assert load("m2").n_samples_seen_ == 50, "the rows before it are learnt and kept"
    assert "1 skipped" in call("fit", "x.csv", "-m", "m3")


def test_usage_errors_have_a_code_of_their_own(points, call):
    call("fit", points, "-m", "m", "--missing", "perhaps", code=2)
    call("fit", points, "-m", "m", "--every", "soon", code=2)
    call("nonsense", code=2)


def test_a_maximum_of_nodes_is_as_large_as_estimators_ask(points, call):
    words = ["fit", points, "-m", "m", "--exclude", "name,kind", "--max-nodes"]
    assert "--max-nodes" in call(*words, SEED_NODES - 1, code=2)
    with pytest.raises(ValueError, match="max_nodes"):
        EverClust(max_nodes=SEED_NODES - 1).fit([[0.0], [1.0], [2.0]])
    call(*words, SEED_NODES)


def test_errors_can_be_read_by_machines(points, call):
    said = json.loads(call("fit", points, "-m", "m", "--json", code=1))
    assert "Columns 'name', 'kind'" in said["error"]


def test_a_column_that_dominates_is_pointed_out(folder, X, call):
    X = X * [1.0, 1.0, 1000.0, 1.0]
    write_csv(folder / "x.csv", X)
    from typer.testing import CliRunner

    from everclust.cli.app import app

    def warnings(*arguments):
        return CliRunner().invoke(app, ["fit", "x.csv", "--id", "name", "--label", "kind", *arguments]).stderr

    for n, plain in enumerate((["--algorithm", "idat"], ["--metric", "euclidean"])):
        said = warnings("-m", f"plain{n}", *plain)
        assert "Column 'c' makes up 100.0% of all squared distances" in said
        assert "--metric capped" in said
        assert warnings("-m", f"without{n}", "--exclude", "c", *plain) == ""
    assert warnings("-m", "capped") == ""


def test_limit_and_standard_input(points, X, folder):
    """A real pipe, through the real entry point."""
    command = [sys.executable, "-c", "from everclust.cli import main; main()", "fit", "-", "-m", "m"]
    command += ["--id", "name", "--label", "kind", "--limit", "1234", "--json"]
    done = subprocess.run(
        command, input=points.read_bytes(), capture_output=True, cwd=folder, check=True, timeout=300
    )
    assert json.loads(done.stdout)["ended"] == "limit"
    assert done.stderr == b""
    assert same(load("m"), EverClust().partial_fit(X[:1234]))


def test_info(points, call, record):
    call("fit", points, "-m", "m", "--columns", "a,b,c,d")
    told = record("info", "m")
    model = load("m")
    assert (told["samples"], told["nodes"], told["clusters"]) == (3000, model.n_nodes_, model.n_clusters_)
    assert told["columns"] == NAMES
    assert re.search(r"samples +3,000", call("info", "m"))


def test_report(points, call, folder):
    pytest.importorskip("pandas")
    call("fit", points, "-m", "m", "--columns", "a,b,c,d")
    rows = json.loads(call("report", "m", "--json"))
    assert len(rows) == load("m").n_clusters_
    assert {"size", "nodes", "spread", "age", "last_seen"} <= set(rows[0])
    centres = load("m").cluster_centers_
    assert [row["centre"] for row in rows] == centres.tolist()  # all digits
    call("report", "m", "-o", "r.csv")
    heads, *cells = csv.reader((folder / "r.csv").read_text().splitlines())
    assert heads[4:] == ["age", "last_seen", *(f"centre_{name}" for name in NAMES), "differs_by"]
    assert [[float(cell) for cell in row[6:10]] for row in cells] == centres.tolist()
    call("report", "m", "-o", "r.json")
    assert json.loads((folder / "r.json").read_text()) == rows
    assert str(rows[0]["size"]) in call("report", "m")


def test_a_report_says_what_it_has_written(points, call, sentence, record):
    pytest.importorskip("pandas")
    call("fit", points, "-m", "m", "--columns", "a,b,c,d")
    assert call("report", "m", "-o", "r.json") == "Written: r.json\n"
    assert record("report", "m", "-o", "r.csv") == {"written": "r.csv"}
    assert sentence("report", "m", "-o", "r.txt") == "r.txt has the unknown suffix '.txt'; use .csv or .json."
    assert not Path("r.txt").exists()


def test_a_report_of_features_without_names(folder, X, call):
    pytest.importorskip("pandas")
    np.save("x.npy", X)
    call("fit", "x.npy", "-m", "m")
    call("report", "m", "-o", "r.csv")
    assert ",centre_x0,centre_x1,centre_x2,centre_x3," in (folder / "r.csv").read_text()


def test_plot(points, call, folder, sentence):
    pytest.importorskip("matplotlib")
    call("fit", points, "-m", "m", "--columns", "a,b,c,d")
    call("plot", "m", "-o", "bare.svg")
    call("plot", "m", points, "-o", "full.png", "--limit", 500)
    assert (folder / "full.png").read_bytes().startswith(b"\x89PNG")
    assert "component 1" in (folder / "bare.svg").read_text() or (folder / "bare.svg").stat().st_size > 1000
    assert "cannot be drawn" in sentence("plot", "m", "-o", "x.nonsense")


def test_a_plot_names_its_axes(X, folder, call):
    """With samples underneath as without."""
    pytest.importorskip("matplotlib")
    np.savetxt(folder / "x.csv", X[:, :2], delimiter=",", header="width,height", comments="")
    call("fit", "x.csv", "-m", "m")
    call("plot", "m", "-o", "bare.svg")
    call("plot", "m", "x.csv", "-o", "full.svg")
    for name in ("bare.svg", "full.svg"):
        picture = (folder / name).read_text()
        assert "<!-- width -->" in picture
        assert "<!-- height -->" in picture


def test_values_that_are_too_large_are_refused(folder, sentence, call):
    (folder / "x.csv").write_text("a,b\n1,2\n3,-1e150\n")
    said = sentence("fit", "x.csv", "-m", "m", "--on-bad-row", "error")
    assert said.startswith("Row 2 of what was read has a magnitude over 1e+140 in column 'b', '-1e+150';")
    (folder / "y.csv").write_text("a,b\n1,2\n3,1e140\n")
    call("fit", "y.csv", "-m", "m", "--force")


def test_a_report_shows_names_as_they_are(folder, X, call):
    np.savetxt(folder / "x.csv", X[:, :2], delimiter=",", header="rate [/s],load [b]", comments="")
    call("fit", "x.csv", "-m", "m")
    said = call("report", "m")
    assert "rate [/s]" in said
    assert "load [b]" in said


def test_a_report_breaks_no_word_and_shows_times(folder, X, call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    names = ["at", "a_name_longer_than_most_columns_of_a_table", "b"]
    rows = (f"{1_700_000_000 + k},{a},{b}" for k, (a, b) in enumerate(X[:, :2].tolist()))
    (folder / "x.csv").write_text("\n".join([",".join(names), *rows]))
    call("fit", "x.csv", "-m", "m", "--time", "at")
    said = call("report", "m")
    assert names[1] in said
    assert "2023-11-14T22:1" in said
    assert "…" not in said


def test_export(points, call, folder, sentence):
    networkx = pytest.importorskip("networkx")
    call("fit", points, "-m", "m", "--columns", "a,b,c,d")
    model = load("m")
    for name in ("g.graphml", "g.json", "g.csv"):
        call("export", "m", "-o", name)
    graph = networkx.read_graphml(folder / "g.graphml")
    record = json.loads((folder / "g.json").read_text())
    nodes = (folder / "g_nodes.csv").read_text().splitlines()
    edges = (folder / "g_edges.csv").read_text().splitlines()
    assert len(graph) == len(record["nodes"]) == len(nodes) - 1 == model.n_nodes_
    assert graph.number_of_edges() == len(record["edges"]) == len(edges) - 1 == len(model.edges_)
    assert graph.nodes["3"]["b"] == record["nodes"][3]["b"] == model.prototypes_[3, 1]
    assert nodes[0] == "node,cluster,usage,scale,active,a,b,c,d"
    assert "unknown suffix" in sentence("export", "m", "-o", "g.xlsx")


def test_score(points, call, record, X):
    call("fit", points, "-m", "m", "--columns", "a,b,c,d")
    told = record("score", points, "-m", "m", "--label", "kind")
    model = EverClust().partial_fit(X)
    assert told["mean similarity"] == pytest.approx(model.score_samples(X).mean())
    assert told["novel"] == pytest.approx(model.predict_novel(X).mean())
    assert told["classes"] == 3
    assert -0.1 < told["AMI"] < 0.2  # the labels have nothing to do with the groups
    assert "ARI" not in record("score", points, "-m", "m")
    assert re.search(r"reasons +none", call("score", points, "-m", "m"))


def test_watch_says_what_happens(points, X, call):
    model = EverClust().partial_fit(X)
    told = [
        json.loads(line) for line in call("watch", points, "--exclude", "name,kind", "--json").splitlines()
    ]
    assert [(event["sample"], event["kind"]) for event in told] == [
        (event.sample, event.kind) for event in model.events()
    ]
    lines = call("watch", points, "--exclude", "name,kind", "-m", "m").splitlines()
    assert len(lines) == len(told)
    assert lines[0].startswith(f"sample {model.events()[0].sample:,}: 0 is born")
    assert same(load("m"), model)


def test_watch_writes_what_fit_writes(points, call):
    words = ["--id", "name", "--label", "kind", "--algorithm", "idat", "--block", 500, "--novel"]
    call("fit", points, "-m", "m", *words, "-p", "p.csv", "-e", "e.jsonl")
    said = call("watch", points, *words, "-p", "w.csv", "-e", "w.jsonl").splitlines()
    assert Path("w.csv").read_bytes() == Path("p.csv").read_bytes()
    assert Path("w.jsonl").read_bytes() == Path("e.jsonl").read_bytes()
    assert len(said) == len(Path("e.jsonl").read_text().splitlines())
    for more in (["-p", "-"], ["-e", "-"]):
        assert "watch prints events to standard output" in call("watch", points, *words[:4], *more, code=2)


def test_watch_adds_events_to_those_of_its_model(points, X, call):
    words = ["watch", points, "--exclude", "name,kind", "--algorithm", "idat", "-m", "m", "-e", "e.jsonl"]
    call(*words)
    before = Path("e.jsonl").read_text()
    call(*words)
    assert Path("e.jsonl").read_text().startswith(before)
    samples = [json.loads(line)["sample"] for line in Path("e.jsonl").read_text().splitlines()]
    assert samples[-1] > len(X)


@pytest.mark.slow
def test_answers_into_a_closed_pipe(points, call, folder):
    call("fit", points, "-m", "m", "--columns", "a,b,c,d")
    everclust = f"{sys.executable} -c 'from everclust.cli import main; main()'"
    done = subprocess.run(
        f"{everclust} predict points.csv -m m --columns a,b,c,d | head -n 1",
        shell=True,
        cwd=folder,
        capture_output=True,
        timeout=300,
        check=True,
        env=os.environ,
    )
    assert done.stdout == b"row,cluster\n", done.stderr
    assert done.stderr == b""


def test_the_help_shows_every_command_and_the_exit_codes(call):
    said = call("--help")
    for word in ("fit", "update", "predict", "score", "info", "report", "plot", "export", "watch", "bench"):
        assert re.search(rf"\b{word}\b", said)
    assert "Exit codes" in said
    assert "completion" in said


def read_terminal(terminal):
    """All that is shown there until the last one who could write has gone."""
    shown = b""
    with suppress(OSError), os.fdopen(terminal, "rb", buffering=0) as screen:
        while some := screen.read(4096):
            shown += some
    return shown.decode()


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal_only(points, folder):
    """Standard error is a terminal here, so it is told how far it is; elsewhere it is quiet."""
    pty = pytest.importorskip("pty", reason="there are no terminals here")
    ours, theirs = pty.openpty()
    words = [sys.executable, "-c", "from everclust.cli import main; main()", "fit", "points.csv", "-m", "m"]
    process = subprocess.Popen(
        [*words, "--id", "name", "--label", "kind", "-p", "p.csv", "--block", "10"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "160"},
    )
    os.close(theirs)
    shown = read_terminal(ours)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    for word in ("rows", "nodes", "clusters", "interval", "vigilance"):
        assert word in shown
    assert out.startswith(b"3,000 rows; ")


def test_new_rows_are_marked(points, X, call, folder):
    """Before their block is learnt; and by a finished model."""
    call("fit", points, "-m", "m", "--exclude", "name,kind", "--block", 500, "-p", "p.csv", "--novel")
    lines = (folder / "p.csv").read_text().splitlines()
    assert lines[0] == "row,cluster,novel"
    model, expected = EverClust(), []
    for start in range(0, len(X), 500):
        rows = X[start : start + 500]
        expected += model.predict_novel(rows).tolist() if start else [True] * 500
        model.partial_fit(rows)
    assert [line.split(",")[2] for line in lines[1:]] == [str(novel) for novel in expected]
    assert 500 < sum(expected) < 1500
    call("predict", points, "-m", "m", "--exclude", "name,kind", "-o", "q.jsonl", "--novel", "--similarity")
    rows = [json.loads(line) for line in (folder / "q.jsonl").read_text().splitlines()]
    assert [row["novel"] for row in rows] == model.predict_novel(X).tolist()
    assert "there are no --predictions" in call("fit", points, "-m", "n", "--novel", code=2)
