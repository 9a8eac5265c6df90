"""One model for each key of a stream: each as if alone, saved together, each row learnt once."""

import json
from pathlib import Path

import numpy as np
import pytest

from everclust import IDAT, EverClust, ModelSet
from everclust.stream.sinks.events import numbered
from support.stream_fixtures import NAMES, clouds

KEYS = ["pump", "fan", "7", "gate"]


@pytest.fixture
def keys(X):
    return np.random.default_rng(3).choice(KEYS, len(X), p=[0.6, 0.2, 0.15, 0.05])


@pytest.fixture
def machines(folder, X, keys):
    lines = [",".join(["machine", *NAMES])]
    lines += [",".join([key, *map(repr, map(float, row))]) for key, row in zip(keys, X, strict=True)]
    (folder / "x.csv").write_text("\n".join(lines) + "\n")
    return "x.csv"


def as_bytes(model, path):
    model.save(path)
    return path.read_bytes()


def alone(X, keys, key, model=None):
    model = EverClust() if model is None else model
    model.feature_names_in_ = np.array(NAMES, dtype=object)
    model._learn_rows(np.ascontiguousarray(X[keys == key]))
    return model


def lines(path):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def check_models(folder, X, keys, tmp_path):
    with ModelSet(folder) as models:
        assert set(models) == set(keys)
        for key in set(keys):
            expected = as_bytes(alone(X, keys, key), tmp_path / "alone")
            assert as_bytes(models[key], tmp_path / "ours") == expected


@pytest.mark.parametrize("in_memory", [2, 100])
def test_each_model_learns_the_rows_of_its_key(machines, X, keys, call, tmp_path, in_memory):
    said = call("fit", machines, "-m", "set", "--key", "machine", "--keys-in-memory", in_memory)
    assert said.startswith("3,000 rows; 4 models in set; ")
    check_models("set", X, keys, tmp_path)


def test_events_and_predictions_carry_the_key(machines, X, keys, call):
    words = ["fit", machines, "--key", "machine", "--algorithm", "idat"]
    call(*words, "-m", "set", "-e", "e.jsonl", "-p", "p.csv", "--block", 250, "--novel")
    found = lines("e.jsonl")
    for key in KEYS:
        ours = [{k: v for k, v in e.items() if k not in ("key", "total")} for e in found if e["key"] == key]
        assert ours == numbered(alone(X, keys, key, IDAT()).events())
        places = np.flatnonzero(keys == key)
        assert [e["total"] for e in found if e["key"] == key] == [places[e["sample"] - 1] + 1 for e in ours]
    totals = [(event["total"], event["number"]) for event in found]
    assert totals == sorted(set(totals))
    head, *rows = Path("p.csv").read_text().splitlines()
    assert head == "row,machine,cluster,novel"
    assert [row.split(",")[1] for row in rows] == list(keys)
    first = [row.split(",")[3] for row in rows[:250]]
    assert set(first) == {"True"}, "no model had learnt anything"
    call(*words, "-m", "other", "-e", "other.jsonl")
    assert lines("other.jsonl") == found, "whatever the blocks are"


def test_watch_prints_the_key(machines, call):
    said = call("watch", machines, "-m", "set", "--key", "machine", "--algorithm", "idat").splitlines()
    assert all(line.split(", sample ")[0] in KEYS for line in said)
    assert len({line.split(",")[0] for line in said}) == 4
    (event, *_) = call("watch", machines, "-m", "more", "--key", "machine", "--json").splitlines()
    assert json.loads(event)["key"] in KEYS


def test_the_same_command_resumes(machines, X, keys, call, tmp_path):
    words = ["fit", machines, "-m", "set", "--key", "machine", "--every", 500, "-e", "e.jsonl", "-p", "p.csv"]
    call(*words, "--limit", 2_000)
    assert "2,000 of them before" in call(*words)
    check_models("set", X, keys, tmp_path)
    whole = [
        word.replace("set", "whole").replace("e.jsonl", "w.e").replace("p.csv", "w.csv")
        for word in map(str, words)
    ]
    call(*whole)
    assert Path("e.jsonl").read_bytes() == Path("w.e").read_bytes()
    assert Path("p.csv").read_bytes() == Path("w.csv").read_bytes()
    assert "3,000 rows, 3,000 of them before" in call(*words)


def test_update_continues_with_another_source(machines, folder, X, keys, call, sentence, tmp_path):
    call("fit", machines, "-m", "set", "--key", "machine", "-e", "e.jsonl", "--algorithm", "idat")
    n_events = len(lines("e.jsonl"))
    (folder / "more.csv").write_text(Path(machines).read_text())
    assert "another source already" in sentence("fit", "more.csv", "-m", "set", "--key", "machine")
    call("update", "more.csv", "-m", "set", "--key", "machine", "-e", "e.jsonl")
    with ModelSet("set") as models:
        for key in KEYS:
            model = alone(X, keys, key, IDAT())
            model._learn_rows(np.ascontiguousarray(X[keys == key]))
            assert as_bytes(models[key], tmp_path / "a") == as_bytes(model, tmp_path / "b")
    assert len(lines("e.jsonl")) > n_events
    assert "There are no models in nowhere" in sentence(
        "update", machines, "-m", "nowhere", "--key", "machine"
    )


def test_rows_without_a_key_are_bad_rows(folder, record):
    (folder / "x.csv").write_text("k,a,b\n" + "p,1,2\n,3,4\nq,5,6\n" * 20)
    told = record("fit", "x.csv", "-m", "set", "--key", "k")
    assert told["reasons"] == {"no key in column 'k'": 20}
    assert (told["samples"], told["models"]) == (40, 2)


def test_times_of_keys(folder, call):
    rows = [f"{'pq'[k % 2]},{1_790_000_000 + k},{k % 7},{k % 5}" for k in range(600)]
    (folder / "x.csv").write_text("\n".join(["k,t,a,b", *rows]) + "\n")
    words = ["--key", "k", "--time", "t", "--algorithm", "idat", "-e", "e.jsonl"]
    call("fit", "x.csv", "-m", "set", *words)
    found = lines("e.jsonl")
    assert found
    start = np.datetime64("2026-09-21T14:13:20")
    for event in found:
        assert np.datetime64(event["time"].removesuffix("Z")) - start == np.timedelta64(
            event["total"] - 1, "s"
        )
    with ModelSet("set") as models:
        assert "born_at" in models["p"].cluster_report()
        models._learn_rows(["p"] * 9, np.ones((9, 2)), np.full(9, 1_790_001_000.0), wants_events=False)
        times = models._models.loaded["p"]._times
        assert times.of(309) == 1_790_001_000.0
        assert not times._recent, "thousands of models keep marks only"


def test_what_does_not_go_with_keys(machines, folder, points, call, sentence):
    words = ["fit", machines, "-m", "set", "--key", "machine"]
    assert "--jobs does not go with --key" in call(*words, "--jobs", 2, code=2)
    assert "the folder of the models holds the position" in call(*words, "--checkpoint", "kept", code=2)
    assert "--force does not go with --key" in call(*words, "--force", code=2)
    assert "--key needs --model" in call("watch", machines, "--key", "machine", code=2)
    assert not (folder / "set").exists()
    call("fit", points, "-m", "one", "--columns", "a,b")
    assert "one is a file, but --key needs a folder" in sentence(
        "fit", machines, "-m", "one", "--key", "machine"
    )
    call(*words)
    assert "set is a folder; if it holds models by key" in sentence("update", points, "-m", "set")
    for words in (
        ["score", points, "-m", "set"],
        ["predict", points, "-m", "set"],
        ["live", points, "-m", "set"],
    ):
        assert "set is a folder; if it holds models by key, name the column" in sentence(*words)
    assert "were made with key 'machine'" in sentence("update", machines, "-m", "set", "--key", "a")
    with ModelSet("own") as models:
        models.partial_fit("fan", np.eye(4))
        models.save(17)
    said = sentence("update", machines, "-m", "own", "--key", "machine")
    assert "were saved by a program of its own, with the position 17" in said


@pytest.mark.parametrize(
    ("option", "code"),
    [
        (["--columns", "unknown"], 1),
        (["--missing", "maybe"], 2),
        (["--novel"], 2),
        (["--every", "now"], 2),
        (["--metrics", "nowhere:1"], 1),
        (["-p", "x.csv"], 1),
        (["-p", "nowhere/p.csv"], 4),
    ],
)
def test_what_is_refused_leaves_nothing(machines, folder, call, option, code):
    pytest.importorskip("prometheus_client")
    call("fit", machines, "-m", "set", "--key", "machine", *option, code=code)
    assert [path.name for path in folder.iterdir()] == ["x.csv"]
    (folder / "set").mkdir()
    call("fit", machines, "-m", "set", "--key", "machine", *option, code=code)
    assert list((folder / "set").iterdir()) == [], "the folder was there before"


def test_metrics_of_many_models(machines, call, folder):
    pytest.importorskip("prometheus_client")
    from everclust.stream import Columns, Run, open_source
    from everclust.stream.keyed import KeyedModels
    from everclust.stream.metrics import served
    from everclust.stream.run import run
    from stream.test_metrics import HERE, samples

    columns, models = Columns(NAMES, key="machine"), ModelSet(folder / "set")
    job = Run(models._template, open_source(machines, columns), columns, keyed=KeyedModels(models))
    with served(job, HERE) as url:
        run(job)
        found = samples(url)
    assert found["everclust_models"] == 4
    assert found["everclust_rows_learnt_total"] == 3_000
    assert 4 <= found["everclust_nodes_founded_total"] < 3_000
    assert found["everclust_events_total", "born"] >= 4
    assert "everclust_nodes" not in found


@pytest.mark.slow
def test_ten_thousand_keys_of_which_few_are_in_memory(folder, call, tmp_path):
    X, _ = clouds(30_000)
    keys = np.arange(30_000) // 3 % 10_000
    lines = [
        "k,a,b,c,d",
        *(f"k{key}," + ",".join(map(repr, map(float, row))) for key, row in zip(keys, X, strict=True)),
    ]
    (folder / "x.csv").write_text("\n".join(lines) + "\n")
    said = call("fit", "x.csv", "-m", "set", "--key", "k", "--keys-in-memory", 100, "--every", 30_000)
    assert said.startswith("30,000 rows; 10,000 models in set; ")
    with ModelSet("set") as models:
        for key in (0, 4_321, 9_999):
            expected = alone(X, keys, key)
            assert as_bytes(models[f"k{key}"], tmp_path / "a") == as_bytes(expected, tmp_path / "b")
