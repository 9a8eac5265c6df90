"""The compiled kernels on the disk: made once, found again, never out of date, and not needed."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import everclust

PACKAGE = Path(everclust.__file__).parent
SCRIPT = """
import json, time
started = time.perf_counter()
from sklearn.datasets import load_iris
import everclust
from everclust import IDAT
from everclust.core.learn import learn_rows
model = IDAT().fit(load_iris().data)
print(json.dumps({
    "seconds": time.perf_counter() - started,
    "n_compiled": sum(learn_rows.stats.cache_misses.values()),
    "n_found": sum(learn_rows.stats.cache_hits.values()),
    "labels": model.labels_.tolist(),
    "usage": model.usage_.tolist(),
    "file": everclust.__file__,
}))
"""


# One small kernel instead of all that learning needs
SMALL_SCRIPT = """
import json
import numpy as np
import everclust
from everclust.core.readout import ReadOut, assign
from everclust.jit.blocks import pack
nodes, X = np.eye(3), np.array([[1.0, 2.0, 4.0]])
winner, nearness = np.empty(1, np.int64), np.empty(1)
assign(ReadOut(pack(nodes), np.ones(64), np.arange(3), np.empty(0)), X, winner, nearness)
print(json.dumps({
    "n_found": sum(assign.stats.cache_hits.values()),
    "winner": winner[0].item(),
    "nearness": nearness[0].item(),
    "file": everclust.__file__,
}))
"""


def first_run(folder, script=SCRIPT, **environment):
    """Run a script in a new process, with the package that lies in the folder; by default it fits Iris."""
    shown = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(folder),
        "HOME": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",  # Python, too, notices an edit only by length and time
    } | environment
    run = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", script],
        env=shown,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    assert Path(answer["file"]).is_relative_to(folder)
    return answer


def cache_files(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb[ci]")}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder with a fresh copy of the package and nothing compiled."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(PACKAGE, folder / "everclust", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture(scope="module")
def expected():
    from sklearn.datasets import load_iris

    return everclust.IDAT().fit(load_iris().data).labels_.tolist()


@pytest.fixture(scope="module")
def cold(site):
    """The very first fit, with an empty cache folder."""
    (site / "cache").mkdir()
    return first_run(site, NUMBA_CACHE_DIR=str(site / "cache"))


@pytest.mark.slow
def test_the_first_fit_compiles_and_the_second_process_does_not(site, cold, expected):
    assert cold["labels"] == expected
    assert (cold["n_compiled"], cold["n_found"]) == (1, 0)
    before = cache_files(site / "cache")
    assert len(before) >= 4  # code and index of two kernels: learning and assigning
    warm = first_run(site, NUMBA_CACHE_DIR=str(site / "cache"))
    assert warm["labels"] == expected
    assert (warm["n_compiled"], warm["n_found"]) == (0, 1)
    assert warm["seconds"] < cold["seconds"] / 2
    assert cache_files(site / "cache") == before
    assert cache_files(site / "everclust") == {}


HANDOVER_SCRIPT = SCRIPT.replace("IDAT", "EverClust").replace(
    "core.learn import learn_rows", "core.communities.valleys import find_clusters as learn_rows"
)


@pytest.mark.slow
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one core only")
def test_hand_over_kernels_are_compiled_by_another_process_meanwhile(site):
    (site / "meanwhile").mkdir()
    found = first_run(site, HANDOVER_SCRIPT, NUMBA_CACHE_DIR=str(site / "meanwhile"))
    assert (found["n_compiled"], found["n_found"]) == (0, 1)
    (site / "alone").mkdir()
    alone = first_run(
        site, HANDOVER_SCRIPT, NUMBA_CACHE_DIR=str(site / "alone"), EVERCLUST_JIT_OFF="prefetch"
    )
    assert (alone["n_compiled"], alone["n_found"]) == (1, 0)
    assert alone["labels"] == found["labels"]


@pytest.mark.slow  # compiles in processes of its own
def test_an_edit_anywhere_in_the_core_is_noticed(site):
    """numba by itself looks at the file of the entry function only, and this is not that file.

    The edited file keeps its length and its time of change.
    """

    def run():
        return first_run(site, SMALL_SCRIPT, NUMBA_CACHE_DIR=str(site / "small"))

    (site / "small").mkdir()
    source = site / "everclust" / "jit" / "blocks.py"
    text, before = source.read_text(), source.stat()
    assert text.count("= d = splat(0.0)") == 1
    squares = 1 + 4 + 9
    assert run()["nearness"] == squares**0.5
    try:
        source.write_text(text.replace("= d = splat(0.0)", "= d = splat(2.0)"))
        os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert source.stat().st_size == before.st_size
        edited = run()
        assert (edited["n_found"], edited["nearness"]) == (0, (squares + 2) ** 0.5)
    finally:
        source.write_text(text)


@pytest.mark.slow  # compiles in a process of its own
def test_without_any_folder_to_write_to_it_works_all_the_same(site):
    """Neither NUMBA_CACHE_DIR, nor the package's own folder, nor the home folder can be written to."""
    for folder in ("everclust", "everclust/core"):
        shutil.rmtree(site / folder / "__pycache__", ignore_errors=True)
        (site / folder / "__pycache__").write_text("a file where a folder should be")
    nowhere = "/dev/null/nowhere"
    answer = first_run(site, SMALL_SCRIPT, NUMBA_CACHE_DIR=nowhere, HOME=nowhere, XDG_CACHE_HOME=nowhere)
    assert (answer["winner"], answer["n_found"]) == (2, 0)


# A kernel small enough to be compiled many times


class Workshop:
    """A module with one kernel that adds a number, and the cache beside it."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.monkeypatch = folder, monkeypatch
        monkeypatch.setattr(numba.config, "CACHE_DIR", "")

    def add(self, number, stamp):
        """Write the module, as it is in a version with that stamp, import it anew, and add to 10."""
        source = self.folder / "small.py"
        source.write_text(
            f"from everclust.jit.compile import kernel\n@kernel\ndef add(x):\n    return x + {number}\n"
        )
        self.monkeypatch.setattr("everclust.jit.cache._STAMP", stamp)
        module = {"__name__": "small", "__file__": str(source)}
        exec(compile(source.read_text(), source, "exec"), module)
        return module["add"](10), sum(module["add"].stats.cache_hits.values())

    def files(self):
        return sorted(self.folder.rglob("*.nb[ci]"))


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    return Workshop(tmp_path, monkeypatch)


def test_the_small_kernel_is_cached(workshop):
    assert workshop.add(1, "a" * 64) == (11, 0)
    assert workshop.add(1, "a" * 64) == (11, 1)
    assert workshop.add(2, "b" * 64) == (12, 0)
    assert workshop.add(2, "b" * 64) == (12, 1)


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", [b"", b"\0", b"garbage", b"\x80\x04\x95"])
def test_damaged_files_are_as_good_as_none(kind, damage, workshop):
    assert workshop.add(1, "a" * 64) == (11, 0)
    for path in workshop.files():
        if path.suffix == f".{kind}":
            path.write_bytes(damage)
    assert workshop.add(1, "a" * 64) == (11, 0)
    assert workshop.add(1, "a" * 64) == (11, 1), "the damage is mended"


def test_truncated_files_are_as_good_as_none(workshop):
    workshop.add(1, "a" * 64)
    for path in workshop.files():
        whole = path.read_bytes()
        for length in (1, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:length])
            assert workshop.add(1, "a" * 64) == (11, 0)


@pytest.mark.parametrize("step", ["_save_index", "_save_data"])
def test_what_a_full_disk_leaves_behind_is_not_taken_for_new(step, workshop):
    """numba writes the index first: with the data missing, it must not point at those of an old version."""

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    assert workshop.add(1, "a" * 64) == (11, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"numba.core.caching.IndexDataCacheFile.{step}", full)
        assert workshop.add(2, "b" * 64) == (12, 0)
    assert workshop.add(2, "b" * 64)[0] == 12
    assert workshop.add(2, "b" * 64) == (12, 1)


def test_a_kernel_from_the_cache_can_be_part_of_another_one(workshop):
    """Its IR is not read before."""
    workshop.add(1, "a" * 64)
    assert workshop.add(1, "a" * 64) == (11, 1)
    module = {"__name__": "small", "__file__": str(workshop.folder / "small.py")}
    exec(compile((workshop.folder / "small.py").read_text(), module["__file__"], "exec"), module)
    add = module["add"]
    assert (add(10), sum(add.stats.cache_hits.values())) == (11, 1)

    @numba.njit
    def twice(x):
        return add(add(x))

    assert (twice(10), twice(20)) == (12, 22)
