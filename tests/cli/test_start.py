"""Help, version and shell completion answer at once, because they do not import NumPy or what needs it."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("typer", reason="the command line needs Typer")

HEAVY = {
    "numpy",
    "numba",
    "scipy",
    "sklearn",
    "pandas",
    "pyarrow",
    "matplotlib",
    "networkx",
    "joblib",
    "redis",
}
COMMAND = "import sys; sys.argv[0] = 'everclust'; from everclust.cli import main; main()"


def imported(*arguments, **environment):
    """(What the command prints, the packages that it imports)."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", COMMAND, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    return done.stdout, {line.split("|")[-1].strip().split(".")[0] for line in lines}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--help"], "Exit codes"),
        (["--version"], "everclust "),
        (["fit", "--help"], "--max-nodes"),
        pytest.param(["live", "--help"], "--speed", marks=pytest.mark.slow),
        pytest.param(["bench", "--help"], "compare", marks=pytest.mark.slow),
        pytest.param(["bench", "run", "--help"], "--trials", marks=pytest.mark.slow),
    ],
)
def test_help_and_version(arguments, said):
    out, packages = imported(*arguments)
    assert said in out
    assert "everclust" in packages  # so the list is one
    assert packages.isdisjoint(HEAVY)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [(["--version"], 0, "everclust "), (["fit"], 2, "python -m everclust fit")],
)
def test_the_package_is_a_command(arguments, code, said):
    """Where the folder of scripts is not on the PATH."""
    command = [sys.executable, "-m", "everclust", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code, done.stderr
    assert said in done.stdout + done.stderr


def test_completion():
    out, packages = imported(_EVERCLUST_COMPLETE="complete_bash", COMP_WORDS="everclust f", COMP_CWORD="1")
    assert out.split() == ["fit"]
    assert packages.isdisjoint({*HEAVY, "rich"})


@pytest.mark.slow  # processes of their own
def test_commands_that_learn_and_answer_import_what_they_need_and_no_more(tmp_path):
    """scikit-learn and pandas take longer to import than everything else together."""
    (tmp_path / "x.csv").write_text("a,b\n1,2.5\n3,4.5\n2,3.5\n")
    rows, model = str(tmp_path / "x.csv"), str(tmp_path / "m")
    for arguments in (
        ["fit", rows, "-m", model],
        ["update", rows, "-m", model, "--checkpoint", str(tmp_path / "c"), "-e", str(tmp_path / "e")],
        ["predict", rows, "-m", model, "-o", str(tmp_path / "p.csv")],
        ["info", model],
    ):
        _, packages = imported(*arguments)
        assert {"numpy", "numba"} <= packages
        assert packages.isdisjoint({"sklearn", "pandas", "matplotlib", "joblib"}), arguments


def test_importing_everclust_imports_no_estimator():
    code = "import sys, everclust; print(*{name.split('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert set(done.stdout.split()).isdisjoint(HEAVY)
