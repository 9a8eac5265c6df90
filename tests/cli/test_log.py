"""Logs: with --log-format, one line for each thing that happened, and never a secret."""

import json
import re
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest
from typer.testing import CliRunner

from everclust import __version__
from everclust.cli.app import app
from everclust.stream import reconnect
from everclust.stream.reconnect import Outage
from support import servers

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (INFO|WARNING|ERROR) ([a-z-]+): (.+\.)")


def logged(*words, code=0, format="json"):
    """(Lines of the log, standard output) of a command."""
    done = CliRunner().invoke(app, [*map(str, words), "--log-format", format])
    assert done.exit_code == code, done.output
    return done.stderr.splitlines(), done.stdout


def events(lines):
    return [json.loads(line)["event"] for line in lines]


@pytest.fixture
def holes(folder):
    rows = [f"{k % 7},{k % 5}" for k in range(2_000)]
    rows[10] = ",1"
    (folder / "holes.csv").write_text("\n".join(["a,b", *rows]) + "\n")
    return "holes.csv"


def test_one_line_for_each_thing_that_happened(holes):
    words = ["fit", holes, "-m", "m", "--checkpoint", "kept", "--every", 500]
    lines, out = logged(*words, "--limit", 1_000)
    assert events(lines) == ["start", "skipped", "checkpoint", "checkpoint", "end"]
    start, skipped, checkpoint, *_, end = map(json.loads, lines)
    assert (start["level"], start["source"], start["model"]) == ("info", "holes.csv", "m")
    assert start["version"] == __version__
    assert skipped["level"] == "warning"
    assert skipped["reasons"] == {"no finite value in column 'a'": 1}
    assert "Row 11 was skipped" in skipped["message"]
    assert (checkpoint["rows"], checkpoint["samples"]) == (500, 499)
    assert (end["rows"], end["ended"], end["samples"]) == (1_000, "limit", 999)
    assert out == end["message"] + "\n"
    again = [json.loads(line) for line in logged(*words)[0]]
    assert [line["event"] for line in again][:2] == ["start", "resume"]
    assert "goes on after row 1,000, from its checkpoint in kept" in again[1]["message"]
    assert again[1]["samples"] == 999


def test_text(holes):
    lines, _ = logged("fit", holes, "-m", "m", format="text")
    found = [LINE.fullmatch(line) for line in lines]
    assert all(found), lines
    assert [match[2] for match in found] == ["start", "skipped", "checkpoint", "end"]
    assert [match[1] for match in found] == ["INFO", "WARNING", "INFO", "INFO"]


def test_warnings_and_errors_are_lines(holes, folder):
    logged("fit", holes, "-m", "m")
    lines, out = logged("fit", holes, "-m", "m", code=1)
    (line,) = map(json.loads, lines)
    assert (line["level"], line["event"], out) == ("error", "error", "")
    assert "m exists already" in line["message"]
    (folder / "more.csv").write_text("a,b,c\n1,2,3\n")
    lines, _ = logged("update", "more.csv", "-m", "m")
    assert [json.loads(line)["level"] for line in lines] == ["info", "warning", "info", "info"]
    assert "has not learnt 'c'" in json.loads(lines[1])["message"]


def test_commands_that_only_read_log_too(holes):
    logged("fit", holes, "-m", "m")
    lines, out = logged("predict", holes, "-m", "m", "-o", "-")
    assert events(lines) == ["start", "skipped", "end"]
    assert out.startswith("row,cluster\n")
    assert events(logged("score", holes, "-m", "m")[0]) == ["start", "skipped", "end"]
    lines, out = logged("watch", holes, "-m", "m", "--json")
    assert events(lines) == ["start", "skipped", "checkpoint", "end"]
    assert all("kind" in json.loads(line) for line in out.splitlines()), "events only"


def test_an_unknown_format(holes, call):
    said = call("fit", holes, "-m", "m", "--log-format", "xml", code=2)
    assert "--log-format is 'xml', but it must be text or json" in said


def test_an_outage_is_told_once_and_so_is_its_end(monkeypatch):
    told = []
    monkeypatch.setattr(reconnect, "MAX_OUTAGE", 60.0)
    outage = Outage("redis://host/readings")
    outage.log = lambda event, sentence, level="info", **figures: told.append((event, sentence))
    for _ in range(3):
        outage.check("Connection refused.")
    outage.end()
    outage.end()
    assert [event for event, _ in told] == ["outage", "outage-end"]
    assert told[0][1] == (
        "redis://host/readings does not answer: Connection refused; it is waited for, up to 60 seconds."
    )
    assert told[1][1].startswith("redis://host/readings answers again after 0.")


@pytest.mark.slow
def test_outages_of_a_server_with_a_password(folder):
    """A Redis that goes away and comes back, read with a password that no line holds."""
    port, options = servers.free_port(), ["--requirepass", "sesame-1", "--appendonly", "yes"]
    url = f"redis://:sesame-1@127.0.0.1:{port}/readings"
    words = ["fit", url, "-m", "m", "--limit", "200", "--every", "100", "--checkpoint", "kept"]
    command = [sys.executable, "-c", "from everclust.cli import main; main()", *words, "--log-format", "json"]

    def publish(n_rows):
        import redis

        with redis.Redis(port=port, password="sesame-1") as client:
            for k in range(n_rows):
                client.xadd("readings", {"a": k % 7, "b": k % 5})

    with ExitStack() as stack:
        with servers.valkey(folder, *options, port=port):
            publish(100)
            process = stack.enter_context(
                subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            )
            stack.callback(process.kill)
            deadline = time.monotonic() + 120
            while not (folder / "kept/checkpoint-000000001").exists() and time.monotonic() < deadline:
                time.sleep(0.1)
        time.sleep(1)
        with servers.valkey(folder, *options, port=port):
            publish(100)
            out, lines = process.communicate(timeout=60)
    assert process.returncode == 0, lines
    found = events(lines.splitlines())
    assert found[:4] == ["start", "checkpoint", "outage", "outage-end"]
    assert found[-1] == "end"
    assert "sesame" not in out + lines
