"""What Windows and macOS lack: everclust neither imports nor calls it.

The workflows test on these systems; here a process without what Windows lacks stands for them.
"""

import os
import sys
import textwrap

import pytest

from everclust.benchmark.run import meter
from support.paths import REPOSITORY
from support.processes import printed

pytest.importorskip("pyarrow", reason="streams need pyarrow")
pytest.importorskip("pandas", reason="reports need pandas")
pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs Linux")

ROWS = "a;b\n" + "".join(f"{i % 7},5;{i % 3}\n" for i in range(60))
COMMAND = "from everclust.cli import main; import sys; sys.argv[1:] = {words!r}; main()"


def on_windows(code, folder, feed="", **environment):
    """Run code in a process that lacks what Windows lacks, interpreted, because compiling takes longer."""
    return printed(
        [
            sys.executable,
            "-X",
            "warn_default_encoding",
            "-c",
            "import support.windows\n" + textwrap.dedent(code),
        ],
        cwd=folder,
        env=os.environ
        | {
            "NUMBA_DISABLE_JIT": "1",
            "PYTHONPATH": os.pathsep.join([str(REPOSITORY / "src"), str(REPOSITORY / "tests")]),
        }
        | environment,
        input=feed,
    )


def command(*words):
    return COMMAND.format(words=list(words))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("windows")
    (folder / "rows.csv").write_text(ROWS)
    return folder


@pytest.mark.slow  # as the next ones: a process that imports everything
def test_every_module_can_be_imported(folder):
    """Except those that need packages which are not here."""
    code = """
        import importlib, pkgutil, everclust
        for module in pkgutil.walk_packages(everclust.__path__, "everclust."):
            try:
                importlib.import_module(module.name)
            except ImportError as error:
                assert error.name.split(".")[0] in ("torch", "pyspark", "river"), module.name
        print("done")
    """
    assert on_windows(code, folder).endswith("done\n")


@pytest.mark.slow
def test_commands_learn_a_file_resume_and_read_standard_input(folder):
    words = ("fit", "-m", "m.everclust", "--delimiter", ";", "--decimal", ",", "--checkpoint", "saved")
    words += ("--every", "20", "-p", "p.csv", "-e", "e.jsonl")
    on_windows(command(*words, "rows.csv"), folder)
    on_windows(command(*words, "rows.csv"), folder)
    assert (folder / "p.csv").read_text().count("\n") == 61
    assert not list(folder.glob(".*")), "no lock stays"
    answer = command("predict", "-", "-m", "m.everclust", "--delimiter", ";", "--decimal", ",")
    assert on_windows(answer, folder, ROWS).count("\n") == 61


@pytest.mark.slow
def test_names_that_the_output_cannot_encode_are_escaped(folder):
    """On Windows, what is redirected to a file has an encoding of the country."""
    (folder / "greek.csv").write_text("Λ,ρ\n1,2\n3,4\n5,9\n", encoding="utf-8")
    on_windows(command("fit", "greek.csv", "-m", "greek.everclust"), folder)
    for words in (["report", "greek.everclust"], ["info", "greek.everclust"]):
        assert r"\u039b" in on_windows(command(*words), folder, PYTHONIOENCODING="cp1252")


@pytest.mark.slow
def test_sets_of_models_are_saved_and_locked(folder):
    code = """
        import support.windows
        from everclust import ModelSet
        with ModelSet(folder="set") as models:
            models.partial_fit("a", [[0.0, 1.0], [2.0, 3.0], [4.0, 9.0]])
            models.save()
        print(len(support.windows.LOCKED), sorted(ModelSet(folder="set")))
    """
    assert on_windows(code, folder) == "1 ['a']\n"


@pytest.mark.slow
def test_a_queue_of_events_replaces_its_file(folder):
    code = """
        from pathlib import Path
        from everclust.stream.sinks.event_queue import EventQueue
        queue = EventQueue(Path("queue.jsonl"))
        queue.append([{"sample": sample, "number": 0} for sample in range(9)])
        queue.drop_after(4, 0)
        queue.drop(2)
        queue.close()
        print(len(EventQueue(Path("queue.jsonl"))))
    """
    assert on_windows(code, folder) == "3\n"


def test_the_peak_of_memory_is_in_bytes_on_macos(monkeypatch):
    """There, ru_maxrss counts bytes, elsewhere kilobytes."""
    on_linux = meter._highest()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert 0 < meter._highest() < on_linux / 500
