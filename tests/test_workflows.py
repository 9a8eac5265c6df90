"""Workflow files are thin: they call make targets, and these exist."""

import re
import shutil
import subprocess

import pytest

from support.paths import REPOSITORY

WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (REPOSITORY / "Makefile").read_text(encoding="utf-8")


def called(text):
    """Make targets that a workflow calls, those of a matrix included."""
    return {*re.findall(r"run: make ([\w-]+)", text), *re.findall(r"^ +target: ([\w-]+)", text, re.MULTILINE)}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_targets_that_exist(path):
    targets = called(path.read_text(encoding="utf-8"))
    assert targets
    assert targets <= set(re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE))


def test_every_system_and_version_is_tested():
    text = (REPOSITORY / ".github/workflows/test.yml").read_text(encoding="utf-8")
    for system in ("ubuntu-24.04,", "ubuntu-24.04-arm", "macos-", "windows-"):
        assert system in text
    project = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    for version in re.findall(r"Python :: (3\.\d+)", project):
        assert f'"{version}"' in text


def test_the_oldest_python_tries_the_lowest_dependencies():
    """Newer ones have no wheels of them: a release would try to compile SciPy."""
    oldest = re.search(r'requires-python = ">=(3\.\d+)"', (REPOSITORY / "pyproject.toml").read_text())[1]
    release = (REPOSITORY / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert f'python-version: "{oldest}"' in release
    versions = (REPOSITORY / ".github/workflows/versions.yml").read_text(encoding="utf-8")
    assert f'python: "{oldest}"\n            target: lowest-test' in versions


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="actionlint is not installed")
def test_actionlint_finds_nothing():
    done = subprocess.run(["actionlint", *WORKFLOWS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
