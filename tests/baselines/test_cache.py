"""Compiled kernels outside the core: their cache notices an edit in any file beside theirs."""

import importlib
import sys

import numba
import pytest

from everclust.jit import cache

PART = "from everclust.jit.compile import jit\n\n\n@jit\ndef part(x):\n    return {} * x\n"
ENTRY = (
    "from everclust.jit.compile import kernel\nfrom part import part\n\n\n"
    "@kernel\ndef entry(x):\n    return part(x)\n"
)


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Load both files anew, as another process would, the part with this factor in it."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "entry.py").write_text(ENTRY)

    def load_again(factor):
        (tmp_path / "part.py").write_text(PART.format(factor))
        cache._stamp_of_folder.cache_clear()
        importlib.invalidate_caches()
        for name in ("part", "entry"):
            sys.modules.pop(name, None)
        return importlib.import_module("entry").entry

    yield load_again
    for name in ("part", "entry"):
        sys.modules.pop(name, None)


def test_an_edit_beside_the_kernel_is_noticed(load, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python notices an edit only by length and time
    for factor, n_found in ((2, 0), (2, 1), (3, 0), (2, 1)):
        entry = load(factor)
        assert entry(5) == 5 * factor
        assert sum(entry.stats.cache_hits.values()) == n_found
