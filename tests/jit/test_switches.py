"""Without any of the tricks, whatever the reason, everything works and gives the same bits, only slower."""

import json
import os
import subprocess
import sys

import pytest

from everclust.jit import prefetch, switches
from everclust.jit.compile import Direct
from support.paths import REPOSITORY, TESTS
from support.slow import others_slow

LEARN = """
import hashlib, json
import numpy as np
import everclust.core.learn as core
from everclust.core.communities.linked_nodes import base_nodes, links_of
from everclust.core.communities.valleys import base_labels
from everclust.core.serialise import export
from everclust.core.state import new_state
from everclust.core.variants import CAPPED
from everclust.jit import switches
from everclust.jit.compile import jit, kernel

rng = np.random.default_rng(0)
digest = hashlib.sha256()
for variant in (core.PUBLISHED, CAPPED):
    X = rng.normal(size=(4, 9))[rng.integers(4, size=600)] * 4 + rng.normal(size=(600, 9))
    state = core.learn(new_state(9, variant), X, variant)
    scalars, arrays = export(state)
    digest.update(json.dumps(scalars).encode())
    for name in sorted(arrays):
        digest.update(arrays[name].tobytes())
    base = base_nodes(state)
    digest.update(base_labels(state, base, links_of(state, base)).tobytes())
print(json.dumps({"digest": digest.hexdigest(), "off": switches.reasons()}))
"""
IMPORT = """
import json
import everclust.core.learn
from everclust.jit import switches
print(json.dumps({"off": switches.reasons()}))
"""
#: What numba might do to each of the tricks: a private name that is no longer there.
SURPRISES = {
    "cache": "import numba.core.caching as m; del m.CompileResultCacheImpl",
    "linking": "import numba.core.codegen as m; del m.JITCodeLibrary",
    "nrt": "import numba.core.options as m; del m.DefaultOptions._nrt",
    "reference": "import numba.core.types.containers as m; del m.BaseNamedTuple",
    "overloads": "from numba.core.types import BaseFunction as m; f = m.get_call_type\n"
    "m.get_call_type = lambda *arguments: f(*arguments)",
    "simd": "import numba, llvmlite.ir as m; del m.VectorType",
}
OTHER_VERSION = "import numba; numba.version_info = numba.version_info._replace(short=(9, 9))"


def run(script, folder, before="", **environment):
    """Run a script in a new process, with its own empty cache, and return what it prints."""
    shown = {
        **os.environ,
        "PYTHONPATH": str(REPOSITORY / "src"),
        "NUMBA_CACHE_DIR": str(folder),
        **environment,
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{before}\n{script}"],
        env=shown,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("trick", others_slow(SURPRISES, now=["reference"]))
def test_a_missing_name_switches_one_trick_off(trick, tmp_path):
    assert list(run(IMPORT, tmp_path, SURPRISES[trick])["off"]) == [trick]


def test_another_version_of_numba_switches_all_tricks_off(tmp_path):
    off = run(IMPORT, tmp_path, OTHER_VERSION)["off"]
    assert off == dict.fromkeys(switches.TRICKS, "numba 9.9 was not tried")


@pytest.mark.parametrize("named", others_slow(["simd, cache", "all"], now=["simd, cache"]))
def test_tricks_are_switched_off_by_name(named, tmp_path):
    expected = switches.TRICKS if named == "all" else ["simd", "cache"]
    assert set(run(IMPORT, tmp_path, EVERCLUST_JIT_OFF=named)["off"]) == set(expected)


@pytest.fixture
def reasons(monkeypatch):
    """Why tricks are off, as if none were."""
    found = {}
    monkeypatch.setattr(switches, "_reasons", found)
    return found


def test_a_kernel_without_an_entry_point_is_called_as_usual(reasons):
    def double(x):
        return 2 * x

    double.overloads = {"the only one": object()}
    direct = Direct(double)
    assert [direct.run(1), direct.run(2)] == [2, 4]
    assert list(reasons) == ["direct"]


def test_a_second_process_that_cannot_start_is_done_without(reasons, monkeypatch):
    def refuse(*_, **__):
        raise OSError("no more processes")

    monkeypatch.setattr(prefetch, "_can_start", lambda: True)
    monkeypatch.setattr(prefetch, "_process", None)
    monkeypatch.setattr(prefetch, "_expected", [("everclust.core.precompile", "components")])
    monkeypatch.setattr(prefetch.subprocess, "Popen", refuse)
    prefetch.start()
    assert reasons == {"prefetch": "OSError: no more processes"}
    assert not prefetch._awaited


def test_every_trick_meets_a_surprise():
    assert {*SURPRISES, "direct", "prefetch"} == set(switches.TRICKS)


def test_a_trick_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="EVERCLUST_JIT_OFF names 'magic'; choose from cache"):
        switches.switch_off("magic", "EVERCLUST_JIT_OFF")


def test_all_tricks_are_on_here():
    """The numba of the test environment was tried."""
    assert switches.reasons() == dict.fromkeys(_named_off(), "EVERCLUST_JIT_OFF")


def _named_off():
    named = os.environ.get("EVERCLUST_JIT_OFF", "").replace(",", " ").split()
    return switches.TRICKS if "all" in named else named


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return run(LEARN, tmp_path_factory.mktemp("fast"))


@pytest.mark.slow
@pytest.mark.parametrize("trick", SURPRISES)
def test_results_are_the_same_without_a_trick(trick, tmp_path, expected):
    found = run(LEARN, tmp_path, SURPRISES[trick])
    assert list(found["off"]) == [trick]
    assert found["digest"] == expected["digest"]


@pytest.mark.slow
def test_results_are_the_same_without_calling_kernels_directly(tmp_path, expected):
    found = run(LEARN, tmp_path, EVERCLUST_JIT_OFF="direct")
    assert found["digest"] == expected["digest"]


@pytest.mark.slow
def test_golden_traces_without_any_trick(tmp_path):
    """With the plain compiler, on a version of numba that was never tried."""
    shown = {**os.environ, "EVERCLUST_JIT_OFF": "all", "PYTHONPATH": str(REPOSITORY / "src")}
    command = [sys.executable, "-m", "pytest", "-q", str(TESTS / "test_golden.py")]
    done = subprocess.run(command, env=shown, capture_output=True, text=True, check=False, cwd=REPOSITORY)
    assert done.returncode == 0, done.stdout[-3000:]
