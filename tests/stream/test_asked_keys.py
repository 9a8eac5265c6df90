"""Models by key that are asked: predict and score take the model of each row's key, info shows one."""

import json
from pathlib import Path

import numpy as np
import pytest

from everclust import ModelSet
from everclust.many_models.saved_models import SavedModels
from support.stream_fixtures import NAMES

KEYS = ["pump", "fan", "7"]


@pytest.fixture
def keys(X):
    return np.random.default_rng(3).choice(KEYS, len(X), p=[0.6, 0.25, 0.15])


def write(path, keys, X, labels=None):
    lines = [",".join(["machine", *NAMES, "kind"])]
    labels = ["k"] * len(X) if labels is None else labels
    for key, row, label in zip(keys, X, labels, strict=True):
        lines.append(",".join([key, *map(repr, map(float, row)), label]))
    Path(path).write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def models(folder, X, keys, call):
    call("fit", write("x.csv", keys, X), "-m", "set", "--key", "machine", "--label", "kind")
    with ModelSet("set") as models:
        return {key: models[key] for key in models}


KEYED = ["-m", "set", "--key", "machine", "--label", "kind"]


def test_each_row_is_asked_of_the_model_of_its_key(models, X, keys, call):
    said = call("predict", "x.csv", *KEYED, "-o", "p.csv", "--similarity", "--novel")
    assert said.startswith("3,000 rows; 3 models in set; ")
    head, *rows = [line.split(",") for line in Path("p.csv").read_text().splitlines()]
    assert head == ["row", "machine", "cluster", "similarity", "novel"]
    rows = np.array(rows)
    assert list(rows[:, 1]) == list(keys)
    for key, model in models.items():
        is_ours = keys == key
        assert rows[is_ours, 2].astype(int).tolist() == model._predict_rows(X[is_ours]).tolist()
        assert np.array_equal(rows[is_ours, 3].astype(float), model._score_rows(X[is_ours]))
        assert (rows[is_ours, 4] == "True").tolist() == model._novel_rows(X[is_ours]).tolist()


def test_rows_of_unknown_keys_are_counted_and_said(models, X, call, sentence):
    from typer.testing import CliRunner

    from everclust.cli.app import app

    write("new.csv", ["fan", "gate", "gate", "door"], X[:4])
    words = ["predict", "new.csv", *KEYED, "-o", "p.csv", "--similarity", "--novel"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0
    assert result.stdout.startswith("4 rows, 3 of keys without a model; 3 models in set; ")
    assert result.stderr.count("There is no model of the key 'gate' in set") == 1
    assert "the cluster -1, the similarity 0, and are novel" in result.stderr
    rows = Path("p.csv").read_text().splitlines()[2:]
    assert rows == ["2,gate,-1,0.0,True", "3,gate,-1,0.0,True", "4,door,-1,0.0,True"]
    assert json.loads(call(*words, "--json").splitlines()[-1])["without_model"] == 3


def test_asking_changes_no_file_and_needs_no_lock(models, call):
    before = {path: path.read_bytes() for path in Path("set").iterdir()}
    with ModelSet("set"):  # as a run that learns
        call("predict", "x.csv", *KEYED, "-o", "p.csv", "--keys-in-memory", 1)
        call("score", "x.csv", *KEYED)
        call("info", "set")
    after = {path: path.read_bytes() for path in Path("set").iterdir()}
    del before[Path("set/models.json")], after[Path("set/models.json")]
    assert after == before


def test_models_that_are_saved_meanwhile_are_read_again(models, X, keys):
    saved = SavedModels(Path("set"), 10)
    with ModelSet("set") as learning:
        learning._learn_rows(keys.tolist(), X, None, wants_events=False)
    assert saved.model("fan").n_samples_seen_ == 2 * (keys == "fan").sum()
    with ModelSet("set") as learning:
        learning._learn_rows(keys.tolist(), X, None, wants_events=False)
        del learning["pump"]
    with pytest.raises(ValueError, match="model of key 'pump' in set is missing"):
        saved.model("pump")


def test_integers_are_found_by_their_text(folder, X, call):
    with ModelSet("set") as models:
        models.partial_fit([7] * 500 + [-8] * 500, X[:1000])
        models.save("mine")
    write("new.csv", ["7", "-8", "07"], X[:3])
    call("predict", "new.csv", *KEYED, "-o", "p.csv", "--columns", "a,b,c,d")
    rows = Path("p.csv").read_text().splitlines()[1:]
    assert [row.endswith(",-1") for row in rows] == [False, False, True]


def test_clusters_of_two_models_are_different_ones(folder, X, record):
    keys, X = np.array(["pump", "fan"] * 300), X[:600]
    with ModelSet("set") as models:
        models.partial_fit(keys, X)
        labels = [f"{key}{id}" for key, id in zip(keys, models.predict(keys, X), strict=True)]
        similarity = models.score_samples(keys, X)
    told = record("score", write("y.csv", keys, X, labels), *KEYED)
    assert (told["classes"], told["ARI"], told["without model"]) == (len(set(labels)), 1.0, 0)
    assert told["mean similarity"] == pytest.approx(similarity.mean())


def test_info_of_a_folder_and_of_one_model(models, call, record, sentence):
    told = record("info", "set")
    assert told["models"] == 3
    assert told["keys"] == sorted(KEYS)
    assert (told["samples"], told["rows"], told["source"], told["features"]) == (3000, 3000, "x.csv", 4)
    assert told["--algorithm"] == "everclust"
    assert told["bytes"] == sum(path.stat().st_size for path in Path("set").glob("*.everclust"))
    assert record("info", "set", "--of", "fan")["samples"] == models["fan"].n_samples_seen_
    assert "7, fan, pump" in call("info", "set")


def test_info_names_the_first_of_many_keys(folder, call):
    with ModelSet("set") as models:
        models.partial_fit([f"k{k}" for k in range(12)], np.random.default_rng(0).normal(size=(12, 2)))
    assert "k0, k1, k10, k11, k2, k3, k4, k5, and 4 more" in call("info", "set")


def test_one_model_of_a_folder_is_shown(models, folder, call, sentence):
    assert "set holds 3 models by key; choose one with --of KEY, which may be '7', 'fan', 'pump'" in sentence(
        "report", "set"
    )
    n_clusters = models["fan"].n_clusters_
    assert len(json.loads(call("report", "set", "--of", "fan", "--json"))) == n_clusters
    call("export", "set", "--out", "fan.json", "--of", "fan")
    assert len(json.loads(Path("fan.json").read_text())["nodes"]) == models["fan"].n_nodes_
    assert "none of 'door'; choose one with --of KEY" in sentence("plot", "set", "--of", "door")
    models["fan"].save(folder / "one")
    assert "--of chooses from a folder of models, but one is none" in sentence("info", "one", "--of", "fan")


def test_a_plot_of_one_model_shows_the_rows_of_its_key(models, X, keys, call, sentence, monkeypatch):
    pytest.importorskip("matplotlib")
    from everclust.cli import model as commands

    drawn, draw = [], commands._drawn
    monkeypatch.setattr(commands, "_drawn", lambda known, X, out: drawn.append(X) or draw(known, X, out))
    words = ["plot", "set", "x.csv", "--of", "fan", "--label", "kind", "-o", "fan.png"]
    call(*words)
    assert np.array_equal(drawn[-1], X[keys == "fan"])
    call(*words, "--limit", 50)
    assert np.array_equal(drawn[-1], X[keys == "fan"][:50])
    write("pumps.csv", ["pump"] * 9, X[:9])
    said = sentence("plot", "set", "pumps.csv", "--of", "fan", "--label", "kind")
    assert "pumps.csv has no rows of the key 'fan' in column 'machine' to draw" in said
    assert "--key names the column" in call("plot", "set", "--of", "fan", "--key", "machine", code=2)


def test_the_column_of_the_keys_is_named_where_the_models_do_not_say_it(folder, X, call, sentence):
    pytest.importorskip("matplotlib")
    with ModelSet("set") as models:
        models.partial_fit([7] * 100 + [8] * 100, X[:200])
    write("x.csv", ["7", "8"] * 50, X[:100])
    words = ["plot", "set", "x.csv", "--of", "7", "--columns", "a,b,c,d"]
    assert "name it with --key" in sentence(*words)
    call(*words, "--key", "machine")


def test_folders_and_files_are_told_apart(models, folder, sentence, call):
    models["fan"].save(folder / "one")
    words = ["predict", "x.csv", "--key", "machine", "--label", "kind"]
    assert "one is a file, but --key needs a folder" in sentence(*words, "-m", "one")
    assert "none does not exist, but --key needs a folder" in sentence(*words, "-m", "none")
    (folder / "empty").mkdir()
    assert "There are no saved models in empty" in sentence(*words, "-m", "empty")
    assert "--checkpoint does not go with --key" in call(*words, "-m", "set", "--checkpoint", "c", code=2)
