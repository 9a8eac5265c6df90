"""What was asked for is in the report: as done, as failed or as not run."""

import re

import pytest

from everclust.benchmark.report.formats.markdown import markdown
from everclust.benchmark.report.outcomes import NOT_RUN, gather
from everclust.benchmark.report.report import reference_table, report_on, write_report
from everclust.benchmark.run.jobs import Job, Result
from everclust.benchmark.run.registry import ALGORITHMS, Algorithm
from everclust.benchmark.run.runner import run
from everclust.benchmark.run.store import Store
from support.paths import TESTS

IRIS = ("idat", "iris", "stationary")


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "results.sqlite") as store:
        yield store


def statuses(store, place=IRIS):
    return [(run["seed"], run["status"]) for run in gather(store.results(), store.asked())[place]]


def done(seed, params="{}", **changes):
    return Result(
        Job(*IRIS, seed, params), **({"status": "ok", "ari": 0.5, "ami": 0.5, "nodes": 3} | changes)
    )


def test_a_run_that_was_never_made_is_reported(store):
    store.ask([Job(*IRIS, seed) for seed in (1, 2, 3)])
    store.add(done(1))
    store.add(done(2, status="failed", error="no luck", ari=None, ami=None, nodes=None))
    assert statuses(store) == [(1, "ok"), (2, "failed"), (3, NOT_RUN)]
    text = markdown(report_on(store.results(), store.asked()))
    assert "| Iris | IDAT | stationary | 1 of 3 | asked for, but not run yet |" in text
    assert "| Iris | IDAT | stationary | 1 of 3 | failed | no luck |" in text
    assert "1 ok, 1 failed, 1 not run" in text


def test_a_place_that_was_never_begun_is_a_row(store):
    store.ask([Job(*IRIS, 1), Job("idat", "seeds", "stationary", 1)])
    store.add(done(1))
    text = markdown(report_on(store.results(), store.asked()))
    assert "| Seeds | 3 | N/A |" in text


def test_running_asks(store, monkeypatch):
    monkeypatch.setattr("everclust.benchmark.run.runner.results", lambda jobs, **options: iter([]))
    run([Job(*IRIS, 1)], store)
    assert statuses(store) == [(1, NOT_RUN)]


def test_the_parameters_last_asked_for_count(store):
    printed, fitted = '{"a": 1}', '{"a": 2}'
    for params in (printed, fitted, printed):  # there and back: what was run is not run again
        store.ask([Job(*IRIS, seed, params) for seed in (1, 2)])
        store.add(done(1, params))
    found = gather(store.results(), store.asked())[IRIS]
    assert [(run["seed"], run["status"], run["params_json"]) for run in found] == [
        (1, "ok", printed),
        (2, NOT_RUN, printed),
    ]


def test_a_search_that_is_not_finished_leaves_its_runs_open(store):
    store.ask([Job(*IRIS, 1)], are_tuned=False)
    assert statuses(store) == [(1, NOT_RUN)]
    store.add(Result(Job(*IRIS, 1), "timeout", "Only 2 of 25 trials finished within 60 s."))
    assert statuses(store) == [(1, "timeout")]


# Titles of one's own algorithms, and extensions


def test_the_report_uses_the_titles_of_ones_own_algorithms(store, tmp_path, monkeypatch):
    monkeypatch.setitem(ALGORITHMS, "mine", Algorithm("mine", "My Own", make=lambda params, seed: None))
    store.ask([Job("mine", "iris", "stationary", 1)])
    store.add(Result(Job("mine", "iris", "stationary", 1), "ok", ari=0.5, ami=0.5, clusters=3))
    monkeypatch.delitem(ALGORITHMS, "mine")  # another process, which has not imported the file
    write_report(store.path, tmp_path / "report.html", tmp_path / "report.md")
    assert "My Own" in (tmp_path / "report.md").read_text()
    assert "mine" not in (tmp_path / "report.md").read_text()


def test_references_of_ones_own_keep_their_kind(store, monkeypatch):
    mine = Algorithm("mine", "My Own", make=lambda params, seed: None, kind="references", told="secrets")
    monkeypatch.setitem(ALGORITHMS, "mine", mine)
    for name in ("mine", "idat"):
        job = Job(name, "iris", "stationary", 1)
        store.ask([job])
        store.add(Result(job, "ok", ari=0.5, ami=0.5, clusters=3, train_seconds=1, train_cpu_seconds=1))
    monkeypatch.delitem(ALGORITHMS, "mine")
    assert "| My Own | secrets | 0.500 |" in reference_table(store.path)


def test_everclust_alone_is_reported(store):
    job = Job("everclust", "iris", "stationary", 1)
    store.add(Result(job, "ok", ari=0.4321, ami=0.5, clusters=3, nodes=9))
    text = markdown(report_on(store.results()))
    assert "## Beyond the paper" in text
    assert "| Iris | 0.432 |" in text


def test_reports_are_built_and_not_committed():
    root = TESTS.parent
    assert not list((root / "docs").glob("*report*"))
    written = re.findall(r"--(?:html|markdown) (\S+)", (root / "Makefile").read_text())
    assert len(written) == 4
    assert all(path.startswith("build/") for path in written)
