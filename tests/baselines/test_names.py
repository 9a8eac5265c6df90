"""The package of the compared algorithms: all are there, and none is imported before it is asked for."""

import subprocess
import sys

import pytest

from everclust import baselines

NONE = """
import sys
import everclust.baselines
loaded = [name for name in sys.modules if name.startswith("everclust.baselines.") or name == "torch"]
assert not loaded, loaded
"""
ONE = """
import sys
import everclust.baselines
everclust.baselines.GNG
assert "everclust.baselines.neural_gas.gng" in sys.modules
assert "everclust.baselines.neural_gas.soinn_plus" not in sys.modules
"""


def test_importing_the_package_imports_no_algorithm():
    subprocess.run([sys.executable, "-c", NONE], check=True, timeout=120)


@pytest.mark.slow  # a process that imports everything
def test_a_name_imports_its_own_algorithm_only():
    subprocess.run([sys.executable, "-c", ONE], check=True, timeout=120)


def test_every_name_is_listed():
    assert len(set(baselines.__all__)) == 10
    assert set(baselines.__all__) == set(baselines._MODULES) <= set(dir(baselines))


@pytest.mark.parametrize("name", ["GNG", "SOINNPlus"])
def test_names_are_classes(name):
    assert getattr(baselines, name).__name__ == name


def test_other_names_are_unknown():
    with pytest.raises(AttributeError, match="KMeans"):
        baselines.KMeans  # noqa: B018
