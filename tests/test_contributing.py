"""What contributors read first is true of the repository."""

import re
import tomllib

import pytest

from support.paths import REPOSITORY

PAGE = (REPOSITORY / "CONTRIBUTING.md").read_text()
BLOCKS = re.findall(r"```\w*\n(.*?)```", PAGE, re.DOTALL)
MAP = next(block for block in BLOCKS if block.startswith("src/everclust/"))


def test_layers_are_those_that_are_checked():
    said = next(block for block in BLOCKS if block.startswith("__main__ >"))
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = settings["contracts"][0]["layers"]
    assert " ".join(said.split()) == " > ".join(layers).replace("everclust.", "")


def test_every_folder_of_the_map_is_there():
    named = re.findall(r"(?m)(?:^ *|;  )([\w.]+/|[\w.]+\.py)", MAP.partition("\n")[2])
    package = {path.name for path in (REPOSITORY / "src/everclust").iterdir()}
    root = {path.name for path in REPOSITORY.iterdir()}
    assert len(named) > 15
    assert {name.rstrip("/") for name in named} <= package | root


@pytest.mark.parametrize("name", sorted(p.name for p in (REPOSITORY / "src/everclust").glob("[a-z]*/")))
def test_every_folder_of_the_package_is_on_the_map(name):
    assert f"{name}/" in MAP


def test_commands_are_targets():
    targets = re.findall(r"(?m)^([\w-]+):", (REPOSITORY / "Makefile").read_text())
    assert set(re.findall(r"make ([\w-]+)", "\n".join(BLOCKS))) <= set(targets)


def test_the_page_is_one_page():
    assert len(PAGE.split()) <= 600
