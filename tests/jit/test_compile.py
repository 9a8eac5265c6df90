import errno
import importlib.util
import io
import shutil
import sys
import time

import numba
import numpy as np
import pytest

from everclust.jit import cache
from everclust.jit import compile as jit


@pytest.fixture
def load(tmp_path, compiling, monkeypatch):
    """Load a module with a kernel anew, as another process would; its cache is next to it."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    path = tmp_path / "kernels.py"
    path.write_text(
        "from everclust.jit.compile import kernel\n\n\n@kernel\ndef double(x):\n    return 2 * x\n"
    )

    def load_again():
        spec = importlib.util.spec_from_file_location("kernels", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.double

    return load_again


def hits(compiled):
    return sum(compiled.stats.cache_hits.values())


def test_machine_code_is_kept_on_disk(load, tmp_path):
    first = load()
    assert (first(3), hits(first)) == (6, 0)
    assert list(tmp_path.rglob("*.nbi"))
    assert list(tmp_path.rglob("*.nbc"))
    second = load()
    assert (second(3), hits(second)) == (6, 1)


def test_types_are_looked_at_once(load):
    double = load()
    direct = jit.Direct(double)
    assert [direct.run(3), direct.run(4)] == [6, 8]
    assert direct.run(2.5) == 4  # who is not looked at is taken for a whole number
    assert len(double.overloads) == 1


def test_types_are_looked_at_where_there_are_several(load):
    double = load()
    assert double(2.5) == 5
    direct = jit.Direct(double)
    assert [direct.run(3), direct.run(2.5)] == [6, 5]


def test_a_function_that_is_not_compiled_is_just_called():
    direct = jit.Direct(lambda x: 2 * x)
    assert [direct.run(3), direct.run(2.5)] == [6, 5]


def test_another_stamp_is_another_cache(load, monkeypatch):
    load()(3)
    monkeypatch.setattr(cache, "_STAMP", "after an edit")
    later = load()
    assert (later(3), hits(later)) == (6, 0)


def test_stamp_changes_with_any_file(tmp_path):
    folders = [shutil.copytree(cache.PACKAGE / name, tmp_path / name) for name in ("jit", "core")]
    core = folders[1]
    before = cache.source_stamp(*folders)
    assert before == cache.source_stamp(*folders) == cache._STAMP
    (core / "spread.py").write_text((core / "spread.py").read_text() + "# edited\n")
    edited = cache.source_stamp(*folders)
    (core / "deeper").mkdir()
    (core / "deeper" / "another.py").touch()
    added = cache.source_stamp(*folders)
    (core / "deeper" / "another.py").rename(core / "deeper" / "renamed.py")
    assert len({before, edited, added, cache.source_stamp(*folders)}) == 4


def test_kernels_of_other_folders_change_with_their_own_files_too(tmp_path):
    """The baselines' kernels are built upon those of the core."""

    def stamp(path):
        stamped = cache._Stamped()
        stamped._py_file = str(path)
        return stamped.get_source_stamp()

    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.py").write_text(f"# {name}\n")
    one, other = (stamp(tmp_path / name / "kernel.py") for name in ("one", "other"))
    assert len({one, other, stamp(jit.__file__)}) == 3
    assert stamp(jit.__file__) == stamp(tmp_path / "nowhere.py")


def test_a_trick_that_is_off_is_another_cache(monkeypatch):
    stamped = cache._Stamped()
    stamped._py_file = jit.__file__
    with_all = stamped.get_source_stamp()
    monkeypatch.setattr(cache.switches, "reasons", lambda: {"simd": "for a test"})
    assert stamped.get_source_stamp() != with_all


def test_without_a_writable_folder_kernels_work_all_the_same(load, monkeypatch, tmp_path):
    monkeypatch.setattr(cache._Impl, "_locator_classes", [])
    assert load()(3) == 6
    assert not list(tmp_path.rglob("*.nb?"))


@pytest.mark.parametrize("content", [b"", b"garbage"])
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_an_unreadable_cache_is_as_good_as_none(content, suffix, load, tmp_path):
    load()(3)
    (file,) = tmp_path.rglob(f"*.{suffix}")
    file.write_bytes(content)
    later = load()
    assert (later(3), hits(later)) == (6, 0)


def test_a_full_disk_is_no_reason_to_fail(load, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(numba.core.caching.IndexDataCacheFile, "_save_index", refuse)
    kernel = load()
    assert kernel(3) == 6
    assert kernel(3.5) == 7  # for another type the cache is not asked again


def test_a_save_that_broke_off_does_not_revive_old_code(load, monkeypatch, tmp_path):
    # The disk fills up after the new index was written and before the new machine code is.
    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    assert load()(3) == 6
    source = tmp_path / "kernels.py"
    # Longer than before: within the same second, Python knows an edited module by its size alone.
    source.write_text(source.read_text().replace("2 * x", "(1 + 2) * x"))
    monkeypatch.setattr(cache, "_STAMP", "after an edit")
    with monkeypatch.context() as patch:
        patch.setattr(numba.core.caching.IndexDataCacheFile, "_save_data", refuse)
        assert load()(3) == 9
    assert load()(3) == 9


def test_parts_are_compiled_strictly(compiling):
    def add(a, b, c):
        return a + b + c

    part = jit.jit(add)
    assert part.targetoptions["fastmath"] is False
    assert part.targetoptions["nogil"] is True
    # A division by zero is infinite, as in NumPy, not an error.
    inverse = jit.kernel(lambda x: 1.0 / x)
    assert inverse(0.0) == np.inf


def test_rows_have_named_fields(monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    rows = np.zeros(1, jit.record(("count", np.int64)))
    rows[0].count = 3
    assert rows["count"][0] == 3
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)
    assert jit.record(("count", np.int64)) == np.dtype([("count", np.int64)])
    assert jit.record(("count", np.int64)).type is np.void


def test_parts_that_make_arrays(compiling):
    zeros = jit.jit_allocating(lambda n: np.zeros(n))
    assert jit.kernel(lambda n: zeros(n).sum())(3) == 0


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "seconds", "said"), [(Terminal, 0.01, 1), (Terminal, 60.0, 0), (io.StringIO, 0.01, 0)]
)
def test_compiling_that_takes_long_is_announced_on_a_terminal_once(stream, seconds, said, monkeypatch):
    monkeypatch.setattr(jit, "NOTICE_SECONDS", seconds)
    monkeypatch.setattr(jit, "_was_notified", False)
    monkeypatch.setattr("sys.stderr", stream())
    for _ in range(2):
        with jit._with_notice():
            time.sleep(0.2)
    assert sys.stderr.getvalue() == said * jit.NOTICE
