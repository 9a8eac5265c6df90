"""A small stream in a file, and the command line called in this process."""

import json
from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="streams need pyarrow")
pytest.importorskip("typer", reason="the command line needs Typer")
from typer.testing import CliRunner

NAMES = ["a", "b", "c", "d"]


def clouds(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of five groups, in an order that drifts, and the group of each."""
    random = np.random.default_rng(seed)
    group = (np.arange(n_rows) * 8 // n_rows + random.integers(0, 3, n_rows)) % 5
    centres = np.random.default_rng(99).normal(0.0, 4.0, (5, 4))
    return np.round(centres[group] + random.normal(0.0, 0.3, (n_rows, 4)), 4), group


@pytest.fixture(scope="session")
def X() -> np.ndarray:  # noqa: N802
    return clouds(3_000)[0]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def write_csv(path, X, delimiter=",", n_names=None):
    """Rows with a name in front and a label behind."""
    lines = [delimiter.join(["name", *NAMES, "kind"])]
    lines += [
        delimiter.join([f"r{i:05d}", *map(repr, map(float, row)), f"k{i % 3}"]) for i, row in enumerate(X)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def points(folder, X):
    return write_csv(folder / "points.csv", X)


@pytest.fixture(scope="session")
def call() -> Callable[..., str]:
    """Run a command in this process; returns what it prints, on stderr if it fails."""
    from everclust.cli.app import app

    def invoke(*arguments, code=0, feed=None):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=feed)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result.stderr if code else result.stdout

    return invoke


@pytest.fixture(scope="session")
def sentence(call) -> Callable[..., str]:
    """The error message of a command: one sentence."""

    def invoke(*arguments, code=1):
        said = call(*arguments, code=code).strip()
        assert len(said.splitlines()) == 1, said
        assert said.endswith("."), said
        return said

    return invoke


@pytest.fixture(scope="session")
def record(call) -> Callable[..., dict]:
    """The JSON that a command prints."""

    def invoke(*arguments):
        return json.loads(call(*arguments, "--json").splitlines()[-1])

    return invoke
