"""The package of the compared algorithms: all are there, and none is imported before it is asked for."""

import subprocess
import sys

import pytest

from everclust import rivals

SCRIPT = """
import sys
import everclust.rivals
loaded = [name for name in sys.modules if name.startswith("everclust.rivals.") or name == "torch"]
assert not loaded, loaded
everclust.rivals.GNG
assert "everclust.rivals.gng" in sys.modules and "everclust.rivals.soinn_plus" not in sys.modules
"""


def test_importing_the_package_imports_no_algorithm():
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=120)


def test_every_name_is_listed():
    assert len(set(rivals.__all__)) == 10
    assert set(rivals.__all__) == set(rivals._MODULES) <= set(dir(rivals))


@pytest.mark.parametrize("name", ["GNG", "SOINNPlus"])
def test_names_are_classes(name):
    assert getattr(rivals, name).__name__ == name


def test_other_names_are_unknown():
    with pytest.raises(AttributeError, match="KMeans"):
        rivals.KMeans  # noqa: B018
