"""Constraints for pip: every package that everclust needs, in the lowest version it allows."""

import sys
import tomllib
from itertools import chain
from pathlib import Path

with (Path(__file__).parents[1] / "pyproject.toml").open("rb") as file:
    project = tomllib.load(file)["project"]
for words in chain(project["dependencies"], *project["optional-dependencies"].values()):
    package, bound, version = words.partition(">=")
    if bound:
        sys.stdout.write(f"{package}=={version}\n")
