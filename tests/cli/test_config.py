"""Options from a TOML file, and secrets that neither arguments nor messages nor checkpoints hold."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from everclust import load
from everclust.stream import secrets
from everclust.stream.batch import StreamError
from everclust.stream.secrets import expanded, masked
from support import servers
from support.webhook import receiving


def write(folder, text):
    (folder / "run.toml").write_text(text)
    return ["--config", "run.toml"]


def plain(said):
    """What Typer says, without its frame."""
    return " ".join(said.replace("│", " ").split())


def test_every_kind_of_option_can_come_from_a_file(points, folder, call):
    words = write(
        folder,
        """
        source = "points.csv"
        model = "m"
        columns = ["a", "b", "c"]
        max-nodes = 50
        algorithm = "idat"
        limit = 2000
        header = true
        events = ["e.jsonl", "f.jsonl"]
        predictions = "p.csv"
        novel = true
        every = "1h"
        block = 500
        """,
    )
    call("fit", *words)
    model = load("m")
    assert (model.n_samples_seen_, list(model.feature_names_in_)) == (2_000, ["a", "b", "c"])
    assert model.get_params()["max_nodes"] == 50
    assert Path("e.jsonl").read_bytes() == Path("f.jsonl").read_bytes() != b""
    assert Path("p.csv").read_text().startswith("row,cluster,novel\n")


def test_the_command_line_counts_more(points, folder, call):
    words = write(folder, 'model = "other"\nlimit = 10\ncolumns = "a,b"\nevents = "e.jsonl"\n')
    call("fit", points, "-m", "m", *words, "--limit", 70, "-e", "f.jsonl")
    assert load("m").n_samples_seen_ == 70
    assert list(load("m").feature_names_in_) == ["a", "b"]
    assert not Path("other").exists()
    assert not Path("e.jsonl").exists()


def test_other_commands_take_files_too(points, folder, call, record):
    call("fit", points, "-m", "m", "--columns", "a,b")
    words = write(folder, 'model = "m"\nsource = "points.csv"\n')
    assert call("predict", *words).startswith("row,cluster\n")
    assert record("score", *words)["rows"] == 3_000
    assert call("update", *words).startswith("3,000 rows; ")
    assert "\n" in call("watch", *words, "-m", "new", "--columns", "a,b", "--algorithm", "idat")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_nodes = 3", "unknown option 'max_nodes'; did you mean max-nodes?"),
        ("modell = 'm'", "unknown option 'modell'; did you mean model?"),
        ("zzz = 1", "unknown option 'zzz'; there are alert-on, "),
        ("config = 'more.toml'", "unknown option 'config'"),
        ("[watch]\nlimit = 1", "unknown option 'watch'"),
        ("limit = [1]", "gives limit the value [1], which it does not take"),
        ("novel = 'yes'", "gives novel the value 'yes', which it does not take"),
        ("algorithm = true", "gives algorithm the value True, which it does not take"),
        ("limit = 'many'", "Invalid value for '--limit'"),
        ("limit = ", "run.toml is no valid TOML: "),
    ],
)
def test_wrong_files(points, folder, call, text, message):
    said = plain(call("fit", points, "-m", "m", *write(folder, text), code=2))
    assert message in said
    assert not Path("m").exists()
    assert "nowhere.toml cannot be read: No such file" in plain(
        call("fit", "--config", "nowhere.toml", code=2)
    )


# Secrets


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    monkeypatch.setattr(secrets, "_known", {})


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://:${KEY}@host/s", "redis://:p%40s%2Fs%3A%25@host/s"),
        ("nats://${KEY}@host/s", "nats://p%40s%2Fs%3A%25@host/s"),
        ("kafka://host/t?sasl.password=${KEY}", "kafka://host/t?sasl.password=p%40s%2Fs%3A%25"),
        ("https://hooks.example.com/${PATH_KEY}", "https://hooks.example.com/T0/B1"),
        ("${WHOLE}", "redis://:x@host/s"),
        ("data/${KEY}.csv", "data/${KEY}.csv"),
        ("redis://host/$KEY", "redis://host/$KEY"),
    ],
)
def test_where_secrets_stand(url, expected, monkeypatch):
    for name, value in {"KEY": "p@s/s:%", "PATH_KEY": "T0/B1", "WHOLE": "redis://:x@host/s"}.items():
        monkeypatch.setenv(name, value)
    assert expanded(url) == expected


def test_secrets_from_files(tmp_path, monkeypatch):
    (tmp_path / "key").write_text("from a file\n")
    monkeypatch.setenv("KEY_FILE", str(tmp_path / "key"))
    assert expanded("redis://:${KEY}@host/s") == "redis://:from%20a%20file@host/s"
    assert masked("was from a file, from%20a%20file") == "was ${KEY}, ${KEY}"
    monkeypatch.setenv("KEY_FILE", str(tmp_path / "none"))
    with pytest.raises(StreamError, match="none, which KEY_FILE names, cannot be read: No such file"):
        expanded("redis://:${KEY}@host/s")
    monkeypatch.delenv("KEY_FILE")
    with pytest.raises(StreamError, match="neither the environment variable KEY nor KEY_FILE"):
        expanded("redis://:${KEY}@host/s")


def test_webhooks_with_secrets(points, folder, call, monkeypatch):
    words = ["fit", points, "-m", "m", "--columns", "a,b", "--algorithm", "idat", "--checkpoint", "kept"]
    with receiving() as receiver:
        monkeypatch.setenv("HOOK", receiver.url.removeprefix("http://").replace("/hook", "/secret-path"))
        url = "http://${HOOK}"
        log = ["--log-format", "json"]
        call(*words, "-e", url, "--alert-on", "born", "--alert-to", url, *log)
    assert receiver.events
    kept = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert not any(b"secret-path" in text for text in kept)


def test_messages_show_the_name_of_a_secret(points, folder, call, sentence, monkeypatch):
    monkeypatch.setenv("PLACE", "hidden-place")
    said = sentence("fit", "redis://127.0.0.1/${PLACE}?wrong=1", "-m", "m")
    assert "hidden-place" not in said
    assert "${PLACE}" in said
    assert "neither the environment variable NONE" in sentence("fit", "redis://:${NONE}@x/y", "-m", "m")


@pytest.mark.slow
def test_the_list_of_processes_the_log_and_the_checkpoints_hold_no_secret(folder, tmp_path_factory):
    secret = tmp_path_factory.mktemp("secrets") / "redis"
    secret.write_text("open-sesame\n")
    with servers.valkey(tmp_path_factory.mktemp("valkey"), "--requirepass", "open-sesame") as port:
        import redis

        with redis.Redis(port=port, password="open-sesame") as client:
            for k in range(100):
                client.xadd("readings", {"a": k % 7, "b": k % 5})
        write(
            folder,
            f"source = 'redis://:${{KEY}}@127.0.0.1:{port}/readings'\nmodel = 'm'\ncheckpoint = 'kept'",
        )
        words = ["fit", "--config", "run.toml", "--every", "50", "--log-format", "json"]
        words += ["-e", f"redis://:${{KEY}}@127.0.0.1:{port}/events"]
        process = subprocess.Popen(
            [sys.executable, "-c", "from everclust.cli import main; main()", *words],
            env={**os.environ, "KEY_FILE": str(secret)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            deadline = time.monotonic() + 120
            while not (folder / "kept/checkpoint-000000001").exists() and time.monotonic() < deadline:
                time.sleep(0.1)
            shown = Path(f"/proc/{process.pid}/cmdline").read_text()
        finally:
            process.terminate()
            out, log = process.communicate(timeout=60)
    assert process.returncode == 143, log
    assert json.loads(log.splitlines()[0])["event"] == "start"
    kept = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert "sesame" not in shown + out + log
    assert b"sesame" not in kept
