"""The command line, as users meet it."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from everclust import cli
from everclust.benchmark.data.catalogue import CATALOGUE
from everclust.benchmark.run.plan import plan
from everclust.benchmark.run.registry import ALGORITHMS
from everclust.benchmark.run.runner import run
from everclust.benchmark.run.store import Store
from support.paths import TESTS

pytest.importorskip("typer")
from typer.testing import CliRunner

from everclust.cli.app import app

TOY_FILE = TESTS / "support/toy_algorithms.py"
IRIS = load_iris()
SCORES = ("ari", "ami", "step_ari", "step_ami", "nodes", "clusters", "history")


pytestmark = pytest.mark.usefixtures("toys")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EVERCLUST_DATA", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "iris.npz", X=IRIS.data, y=IRIS.target)
    return tmp_path


def call(*arguments, code=0):
    """Run the command here; returns what it says, on stderr if something is wrong."""
    result = CliRunner().invoke(app, ["bench", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.stderr if code else result.stdout


def sentence(*arguments):
    """What is said when something is wrong: one sentence."""
    said = call(*arguments, code=1).strip()
    assert len(said.splitlines()) == 1
    assert said.endswith(".")
    return said


def rows(path):
    with Store(path, create=False) as store:
        return store.results()


def bench(*arguments, **environment):
    """The real command, in a process group of its own."""
    command = [sys.executable, "-c", "from everclust.cli import main; main()", "bench", *map(str, arguments)]
    return subprocess.Popen(
        command,
        env=os.environ | environment,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# run

SMALL = ("--algorithms", "idat", "--datasets", "iris", "--jobs", 1)


def test_run_writes_what_was_asked_for(folder):
    said = call("run", *SMALL, "--settings", "both", "--seeds", 2)
    assert re.fullmatch(r"4 ok; 0 done before; \d+\.\d s\.\n", said)
    found = {(row["setting"], row["seed"]) for row in rows("everclust_bench.sqlite")}
    assert found == {(setting, seed) for setting in ("stationary", "nonstationary") for seed in (1, 2)}
    assert call("run", *SMALL, "--seeds", 3).startswith("2 ok; 4 done before; ")


def test_missing_data_sets_under_all_are_not_available(folder):
    said = call("run", "--algorithms", "idat", "--settings", "stationary", "--seeds", 1, "--jobs", 1)
    assert "1 ok" in said
    assert "23 missing" in said
    states = {row["dataset"]: row["status"] for row in rows("everclust_bench.sqlite")}
    assert states.pop("iris") == "ok"
    assert set(states.values()) == {"missing"}


def test_names_can_be_given_with_commas_or_one_by_one():
    call("run", *SMALL, "--algorithms", "idat-500,idat-without-both", "--seeds", 1)
    found = {row["algorithm"] for row in rows("everclust_bench.sqlite")}
    assert found == {"idat", "idat-500", "idat-without-both"}


def test_the_paper_is_everything(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "everclust.benchmark.run.plan.plan", lambda *names, **more: asked.append((names, more)) or []
    )
    call("run", "--paper", "--seeds", 2)
    assert asked == [((["all", "ablation", "extensions"], ["all"], ["both"], 30), {"shuffles": 4})]


def test_limits_are_passed_on(monkeypatch):
    asked = {}
    real = run
    monkeypatch.setattr(
        "everclust.benchmark.run.runner.run", lambda *a, **more: asked.update(more) or real([], a[1])
    )
    call("run", *SMALL, "--limit", 2, "--memory", 0.5, "--retry")
    assert (asked["limit_seconds"], asked["limit_memory"], asked["retry"]) == (2.0, 2**29, True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--algorithms", "nonsense"], "There is no algorithm called 'nonsense'; choose from idat,"),
        (["--datasets", "nonsense"], "There is no data set called 'nonsense'"),
        (["--datasets", "seeds"], "Seeds is not available: run `everclust bench fetch seeds`, or put"),
        (["--settings", "nonsense"], "There is no setting called 'nonsense'"),
        (["--seeds", "0"], "There must be at least 1 seed"),
        (["--with", "nowhere.py"], "There is no file nowhere.py"),
        (["--datasets", "gaps"], "gaps holds 12 cells that are NaN or infinite"),
        (["--store", "iris.npz"], "iris.npz is not a store of results, or damaged"),
        (["--limit", "0"], "--limit is 0, but it must be more than 0 seconds"),
        (["--memory", "0"], "--memory is 0, but it must be more than 0 GiB"),
        (["--search-limit", "0"], "--search-limit is 0, but it must be more than 0 seconds"),
        (["--as-in-paper", "--fitted"], "--as-in-paper and --fitted exclude each other"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(folder, options, words):
    np.savez(folder / "gaps.npz", X=np.where(IRIS.data > 7, np.nan, IRIS.data), y=IRIS.target)
    assert words in sentence("run", *SMALL[:4], *options)


def test_a_missing_package_has_a_code_of_its_own(monkeypatch):
    def fail(*names, **more):
        raise ImportError('tuning needs optuna: pip install "everclust[bench]"')

    monkeypatch.setattr("everclust.benchmark.run.plan.plan", fail)
    assert "pip install" in call("run", *SMALL, code=3)


def test_failed_jobs_are_an_error_in_the_end():
    said = call("run", "--algorithms", "toy-fail", "--datasets", "iris", "--seeds", 1, "--jobs", 1, code=1)
    assert "iris: RuntimeError: no luck today (2 jobs)" in said
    assert "Traceback" not in said


def test_ctrl_c_keeps_what_is_done(monkeypatch):
    real = run

    def interrupted(jobs, store, **options):
        real(jobs[:1], store)
        raise KeyboardInterrupt

    monkeypatch.setattr("everclust.benchmark.run.runner.run", interrupted)
    assert "the same command continues from here" in call("run", *SMALL, code=130)
    assert len(rows("everclust_bench.sqlite")) == 1


def test_progress_is_logged_without_a_terminal(monkeypatch):
    monkeypatch.setattr("everclust.cli.bench_progress.LOG_SECONDS", 0.0)
    result = CliRunner().invoke(
        app, ["bench", "run", *map(str, SMALL), "--settings", "stationary", "--seeds", "2"]
    )
    lines = result.stderr.splitlines()
    assert len(lines) == 2
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d 1 of 2 jobs; the last one was idat, iris, stationary, seed 1", lines[0]
    )
    assert "2 of 2 jobs" in lines[1]


@pytest.mark.parametrize(("option", "take"), [("--as-in-paper", "printed"), ("--fitted", "fitted")])
def test_parameters_are_chosen(option, take, monkeypatch):
    asked = {}
    monkeypatch.setattr("everclust.benchmark.run.tuning.tuned", lambda *a, **more: asked.update(more) or [])
    call("run", *SMALL, option)
    assert asked["take"] == take


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [[], ["--limit", 100]])
def test_sigterm_ends_with_one_line(folder, limit):
    arguments = [
        "run",
        "--with",
        TOY_FILE,
        "--algorithms",
        "toy-cut,toy-sleep",
        "--datasets",
        "iris",
        "--seeds",
        2,
    ]
    path = folder / "ended.sqlite"
    process = bench(*arguments, "--trials", 1, "--jobs", 2, "--store", path, *limit)
    wait_for(lambda: path.exists() and len(rows(path)) >= 1)
    process.send_signal(signal.SIGTERM)
    try:
        _, wrong = process.communicate(timeout=20)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 143
    logged = [line for line in wrong.splitlines() if not re.match(r"\d\d:\d\d:\d\d ", line)]
    assert logged == ["Stopped; the same command continues from here."]


@pytest.mark.slow
def test_kill_9_loses_nothing_and_nothing_is_run_twice(folder):
    arguments = ["run", "--with", TOY_FILE, "--algorithms", "toy-logged", "--datasets", "iris", "--seeds", 6]
    path, log = folder / "killed.sqlite", folder / "log"
    process = bench(*arguments, "--jobs", 2, "--store", path, EVERCLUST_TEST_LOG=str(log))
    try:
        wait_for(lambda: path.exists() and len(rows(path)) >= 4)
        process.kill()
        process.communicate(timeout=20)  # so its workers, which have the same stdout, ended soon after it
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    before = rows(path)
    assert 4 <= len(before) < 12
    started = len(log.read_text().split())
    process = bench(*arguments, "--jobs", 1, "--store", path, EVERCLUST_TEST_LOG=str(log))
    said, wrong = process.communicate(timeout=60)
    assert process.returncode == 0, wrong
    assert f"{12 - len(before)} ok; {len(before)} done before" in said
    assert len(log.read_text().split()) == started + 12 - len(before)
    after = rows(path)
    assert after[: len(before)] == before  # to the last bit, times included
    with Store(folder / "whole.sqlite") as store:
        run(plan(["idat"], ["iris"], ["both"], 6), store)  # the same algorithm
    assert scores(after) == scores(rows(folder / "whole.sqlite"))


def scores(found):
    return {(row["setting"], row["seed"]): [row[name] for name in SCORES] for row in found}


# The other commands


def test_list():
    said = call("list")
    for words in ("iris", "150 × 4", "can be fetched", "stl10", "idat-without-growth-500", "toy-cut"):
        assert words in said
    for words in ("  seeds: UCI 236; licence: CC BY 4.0 (UCI)\n", "  caea: lambda_, a_max\n"):
        assert words in said


def test_the_tables_of_list_fit_into_80_columns_and_cut_nothing_off(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    said = call("list")
    assert "…" not in said
    for name, entry in CATALOGUE.items():
        assert re.search(rf"^  {name} +{entry.shape} ", said, flags=re.M), name
    for name, algorithm in ALGORITHMS.items():
        assert re.search(rf"^  {name} +{re.escape(algorithm.title.split()[0])}", said, flags=re.M), name
    assert max(len(line) for line in said.split("\n") if ": " not in line) <= 80


def test_every_command_but_compare_takes_ones_own_file():
    assert "There is no file nowhere.py" in sentence("list", "--with", "nowhere.py")
    for command in (["report"], ["export"], ["table"], ["fetch", "iris"]):
        assert "There is no file nowhere.py" in sentence(*command, "--with", "nowhere.py"), command


def test_a_data_set_of_ones_own_is_fetched(folder, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (folder / "own_petals.py").write_text(
        "from sklearn.datasets import load_iris\n"
        "from everclust.benchmark.data.datasets import DataSet, Recipe, register\n"
        "def petals(files):\n"
        "    return load_iris().data[:, 2:], load_iris().target\n"
        "register(DataSet('petals', 'Petals', 150, 2, 3, recipe=Recipe('', (), petals)))\n"
    )
    try:
        assert "petals.npz" in call("fetch", "petals", "--with", "own_petals.py", "--no-progress")
    finally:
        CATALOGUE.pop("petals", None)
    assert np.load(folder / "petals.npz")["X"].shape == (150, 2)


def test_fetch(folder):
    (folder / "iris.npz").unlink()
    assert "iris.npz" in call("fetch", "iris", "--no-progress").replace("\n", "")
    assert (folder / "iris.npz").exists()
    assert "STL10 has no public address" in sentence("fetch", "stl10")


def test_compare(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    for store, seeds in (("a.sqlite", 1), ("b.sqlite", 3), ("c.sqlite", 1)):
        call("run", *SMALL, "--settings", "stationary", "--seeds", seeds, "--store", store)
    assert call("compare", "a.sqlite", "c.sqlite") == "0 of 4 means differ.\n"
    said = call("compare", "a.sqlite", "b.sqlite")
    means = [np.mean([row["ari"] for row in rows(store)]) for store in ("a.sqlite", "b.sqlite")]
    for words in ("iris", "stationary", f"{means[0]:.4g}", f"{means[1]:.4g}", f"{means[1] - means[0]:+.4g}"):
        assert words in said
    assert "of 5 means differ" in call("compare", "a.sqlite", "c.sqlite", "--times")
    assert "There is no store at nowhere" in sentence("compare", "a.sqlite", "nowhere")


def test_report(folder, monkeypatch):
    written = []
    fake = type(sys)("everclust.benchmark.report.report")
    fake.write_report = lambda *paths: written.append(paths)
    monkeypatch.setitem(sys.modules, "everclust.benchmark.report.report", fake)
    assert "There is no store at everclust_bench.sqlite" in sentence("report")
    call("run", *SMALL, "--seeds", 1)
    call("report", "--html", "page.html", "--markdown", "page.md")
    assert written == [(Path("everclust_bench.sqlite"), Path("page.html"), Path("page.md"))]


def test_table():
    assert "There is no store at everclust_bench.sqlite" in sentence("table")
    names = "everclust,idat,k-means,birch"
    call("run", "--algorithms", names, "--datasets", "iris", "--seeds", 1, "--jobs", 1)
    said = call("table")
    assert "| Algorithm | is told | ARI | AMI | CPU s |" in said
    assert re.search(r"^\| k-means, raw features \| number of classes \| 0\.\d+ \|", said, flags=re.M)
    chosen = call("table", "--algorithms", "birch,idat")
    assert re.findall(r"^\| (\w+)", chosen, flags=re.M) == ["Algorithm", "Birch", "IDAT"]


def test_what_is_not_installed_is_left_out_with_a_word(monkeypatch):
    monkeypatch.setitem(sys.modules, "river", None)
    result = CliRunner().invoke(
        app,
        [
            "bench",
            "run",
            "--algorithms",
            "references,streams",
            "--datasets",
            "iris",
            "--seeds",
            "1",
            "--jobs",
            "1",
        ],
    )
    assert result.exit_code == 0
    assert result.stdout.startswith("8 ok; ")
    said = " ".join(result.stderr.split())
    assert "Left out: DBSTREAM (river), DenStream (river), CluStream (river), STREAMKMeans (river)" in said
    assert 'river is not installed: pip install "everclust[bench]"' in said
    assert 'pip install "everclust[bench]"' in call("run", "--algorithms", "clustream", code=3)


@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_typer_or_rich(package, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 'The command line needs Typer and Rich: pip install "everclust[cli]"'


@pytest.mark.slow
def test_the_installed_command():
    script = Path(sys.executable).with_name("everclust")
    done = subprocess.run(
        [script, "bench", "run", "--algorithms", "x"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("There is no algorithm called 'x'")
    assert "Traceback" not in done.stderr
