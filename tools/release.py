"""Build a release, try it in clean environments, and say what remains to be done: `make release`.

    python tools/release.py [TAG]

Needs the package `build`. Writes dist/; publishes nothing. A release raises the version in `version.py`,
`CITATION.cff` and `.zenodo.json` (a test compares them); pushing its tag publishes it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
OLDEST = (3, 11)  # the Python for which the lowest dependencies have wheels
# What a stranger does first, in Python and on the command line.
FIRST_STEPS = """
import everclust
from sklearn.datasets import load_iris
X = load_iris().data
model = everclust.EverClust().fit(X)
model.save("iris.everclust")
assert (everclust.load("iris.everclust").predict(X) == model.labels_).all()
assert everclust.IDAT().fit(X).n_clusters_ >= 1
with open("iris.csv", "w") as file:
    print("a,b,c,d", *(",".join(map(str, row)) for row in X), sep="\\n", file=file)
"""


def main() -> None:
    """Stop at the first thing that is wrong."""
    version = read_version()
    check_names(version, sys.argv[1] if len(sys.argv) > 1 and sys.argv[1] else None)
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT))
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    for package, extra, bounds in (
        (wheel, "", "newest"),
        (wheel, "[cli]", "newest"),
        (wheel, "[cli]", "lowest"),
        (sdist, "", "newest"),
    ):
        if bounds == "newest" or sys.version_info[:2] == OLDEST:
            try_out(package, extra, bounds)
    say(f"\neverclust {version} is ready in {DIST.name}/. What remains to be done:")
    for line in remaining(version):
        say(f"  - {line}")


def read_version() -> str:
    """The version that the package says it has."""
    found = re.search(r'__version__ = "(.+)"', (ROOT / "src/everclust/version.py").read_text())
    if found is None:
        sys.exit("src/everclust/version.py has no __version__.")
    return found[1]


def check_names(version: str, tag: str | None) -> None:
    """Tag, changelog and version must agree."""
    if tag is not None and tag != f"v{version}":
        sys.exit(f"The tag is {tag}, but the version is {version}; tag v{version}, or edit version.py.")
    if f"\n## {version}" not in (ROOT / "CHANGELOG.md").read_text():
        sys.exit(f"CHANGELOG.md has no heading for {version}; write down what changed.")


def try_out(package: Path, extra: str, bounds: str) -> None:
    """Install a package in an environment of its own, far from the sources, and take the first steps."""
    say(f"{package.name}{extra}, {bounds} dependencies")
    with tempfile.TemporaryDirectory() as folder:
        venv.create(f"{folder}/env", with_pip=True)
        binaries = Path(folder, "env", "Scripts" if os.name == "nt" else "bin")
        python = str(binaries / "python")
        limits = Path(folder, "limits.txt")
        limits.write_text(lowest() if bounds == "lowest" else "")
        run(python, "-m", "pip", "install", "--quiet", "--constraint", str(limits), f"{package}{extra}")
        run(python, "-c", FIRST_STEPS, folder=folder)
        if extra:
            run(str(binaries / "everclust"), "fit", "iris.csv", "-m", "of_csv.everclust", folder=folder)


def lowest() -> str:
    """Constraints for pip: every dependency in its lowest version."""
    return subprocess.run(
        [sys.executable, str(ROOT / "tools/lowest.py")], check=True, capture_output=True, text=True
    ).stdout


def remaining(version: str) -> list[str]:
    """What a person has to do, or has to look at."""
    todo = []
    changes = (ROOT / "CHANGELOG.md").read_text()
    if f"## {version} (unreleased)" in changes:
        todo.append(f"put the date beside {version} in CHANGELOG.md")
    if git("status", "--porcelain"):
        todo.append("commit or drop what `git status` shows: the packages hold it")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    if "urls" not in project:
        todo.append("name the repository and the site in pyproject.toml, [project.urls]")
    if re.search(r"\]\((?!https?:|#)", (ROOT / "README.md").read_text()):
        todo.append(
            "begin the links and the picture of README.md with the URL of the repository: PyPI has no files "
            "beside it"
        )
    if sys.version_info[:2] != OLDEST:
        todo.append("try the lowest dependencies too: make release PYTHON=python3.11 VENV=.venv-oldest")
    todo.append("register the workflow as a trusted publisher on PyPI, once")
    if f"v{version}" not in git("tag", "--list").split():
        todo.append(f"git tag v{version} && git push --tags: the workflow `release` publishes it")
    return [*todo, "archive the tag for a DOI"]


def git(*words: str) -> str:
    """What git answers."""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout


def run(*words: str, folder: str | None = None) -> None:
    """Run a command; its output is shown if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words[:6])} failed:\n{done.stdout}{done.stderr}")


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
