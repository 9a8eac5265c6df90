"""`everclust live SOURCE`, as a process of its own."""

import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from everclust import IDAT, EverClust, load

pytest.importorskip("typer", reason="the command line needs Typer")
pytest.importorskip("pyarrow", reason="streams are read through pyarrow")

pytestmark = pytest.mark.slow

COMMAND = "import typer; from everclust.cli.live import live; typer.run(live)"


class Process:
    """A running command and the URL that it printed."""

    def __init__(self, *arguments):
        words = [sys.executable, "-c", COMMAND, *map(str, arguments)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.line = self.process.stdout.readline()
        found = re.search(r"http://\S+?/(\?token=[\w-]+)?(?=[.\"\s])", self.line)
        assert found, self.line + self.process.stderr.read()
        self.url = found[0]

    def end(self, number=signal.SIGTERM):
        """Stop it; returns exit code, output and errors."""
        if number:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


@pytest.fixture
def start():
    started = []

    def begin(*arguments):
        started.append(Process(*arguments))
        return started[-1]

    yield begin
    for one in started:
        one.process.kill()
        one.process.communicate()


@pytest.fixture
def table(tmp_path, merging):
    path = tmp_path / "points.csv"
    np.savetxt(path, merging, delimiter=",", header="width,height,depth", comments="", fmt="%.17g")
    return path


def test_it_waits_learns_and_saves_the_model(start, table, merging, follow, tmp_path):
    command = start(table, "--model", tmp_path / "m.everclust", "--algorithm", "idat")  # it has mergers
    assert "begins when it is opened" in command.line
    time.sleep(0.3)
    follower = follow(command.url)
    follower.read_until(lambda seen: seen.known.get("status") == "ended")
    follower.read_until(lambda seen: seen.known.get("n") == len(merging))
    assert follower.known["features"] == ["width", "height", "depth"]
    assert follower.known["title"] == str(table)
    assert any(event[1] == "merged" for event in follower.events)
    code, out, err = command.end()
    assert (code, err) == (0, "")
    assert "6,000 rows" in out
    follower.read_until(lambda seen: seen.kinds[-1] == "stopped")
    np.testing.assert_array_equal(
        load(tmp_path / "m.everclust").prototypes_, IDAT().partial_fit(merging).prototypes_
    )


def test_it_can_be_paused_and_stepped(start, table, follow, ask):
    command = start(table, "--speed", "500")
    follower = follow(command.url)
    follower.read_until(lambda seen: seen.known.get("n", 0) > 50)
    assert ask(command.url, "/pause", "POST").json() == {"status": "paused", "speed": 500.0}
    time.sleep(0.3)
    ask(command.url, "/step?rows=1", "POST")
    follower.read_until(lambda seen: seen.known["status"] == "paused")
    time.sleep(0.4)
    n = _latest(follower, ask, command.url)
    for k in (1, 2):
        ask(command.url, "/step?rows=1", "POST")
        follower.read_until(lambda seen, k=k: seen.known["n"] == n + k)
    ask(command.url, "/step?rows=100", "POST")
    follower.read_until(lambda seen: seen.known["n"] == n + 102)
    assert ask(command.url, "/speed?rows=", "POST").json()["speed"] is None
    ask(command.url, "/go", "POST")
    follower.read_until(lambda seen: seen.known["n"] == 6000)


def _latest(follower, ask, url):
    """Read everything up to the answer to a command."""
    ask(url, "/speed?rows=501", "POST")
    follower.read_until(lambda seen: seen.known["speed"] == 501)
    return follower.known["n"]


def test_a_signal_saves_what_was_learnt(start, table, merging, follow, tmp_path):
    command = start(table, "--model", tmp_path / "m.everclust", "--speed", "500", "--no-wait")
    follow(command.url).read_until(lambda seen: seen.known.get("n", 0) > 100)
    code, _, err = command.end()
    assert (code, err) == (143, "")
    kept = load(tmp_path / "m.everclust")
    assert 100 < kept.n_samples_seen_ < 6000
    twin = EverClust().partial_fit(merging[: kept.n_samples_seen_])
    np.testing.assert_array_equal(kept.prototypes_, twin.prototypes_)


def test_it_can_end_with_the_stream(start, table):
    command = start(table, "--no-wait", "--leave", "--json")
    assert list(json.loads(command.line)) == ["url"]
    code, out, err = command.end(None)
    assert (code, err) == (0, "")
    assert json.loads(out)["samples"] == 6000


def test_other_hosts_get_a_token(start, table, ask):
    command = start(table, "--host", "0.0.0.0")
    assert "?token=" in command.url
    assert ask(command.url, "/").status == 403
    assert ask(command.url, "/?" + command.url.split("?")[1]).status == 303


def test_predictions_and_events_are_written(start, table, tmp_path, merging):
    paths = tmp_path / "p.csv", tmp_path / "e.jsonl"
    command = start(table, "--no-wait", "--leave", "--algorithm", "idat", "-p", paths[0], "-e", paths[1])
    assert command.end(None)[0] == 0
    assert len(paths[0].read_text().splitlines()) == len(merging) + 1
    samples = [json.loads(line)["sample"] for line in paths[1].read_text().splitlines()]
    assert samples == [event.sample for event in IDAT().partial_fit(merging).events()]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.csv"], "nowhere.csv"),
        (["--port", "1", "--host", "256.0.0.1"], "Port 1 of 256.0.0.1 cannot be used"),
    ],
)
def test_errors_are_one_sentence(table, arguments, sentence):
    source = [] if arguments[0].endswith("csv") else [str(table)]
    words = [sys.executable, "-c", COMMAND, *source, *arguments]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_stream_of_which_nothing_was_learnt_is_an_error(start, tmp_path):
    (tmp_path / "holes.csv").write_text("a,b\n" + "1,\n" * 20)
    code, out, err = start(tmp_path / "holes.csv", "--no-wait").end(None)
    assert (code, out) == (1, "")
    assert (
        "Nothing was learnt, because all 20 rows were skipped: 20 with no finite value in column 'b'" in err
    )
