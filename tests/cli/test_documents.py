"""Commands that documents show have the options that documents give them."""

import re

import pytest
from typer.main import get_command

from everclust.cli.app import app
from support.paths import REPOSITORY

COMMAND = re.compile(r"\beverclust (fit|update|watch|predict|score|info|report|plot|export|live)\b([^`|#]*)")
CODE = re.compile(r"^```\w*\n(.*?)^```$|`([^`]+)`", re.MULTILINE | re.DOTALL)


def commands():
    """(page, command, its options) of every command of the documents, in blocks and within sentences."""
    for path in [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]:
        for block, word in CODE.findall(path.read_text()):
            for line in (block or word).replace("\\\n", " ").split("\n"):
                for name, rest in COMMAND.findall(line):
                    options = tuple(re.findall(r"(?<!\S)--?[a-z][a-z-]*", rest))
                    yield str(path.relative_to(REPOSITORY)), name, options


SHOWN = sorted(set(commands()))


def test_the_documents_show_commands():
    assert ("docs/tutorials/sensors.md", "watch", ("--max-nodes",)) in SHOWN
    assert len(SHOWN) > 15


@pytest.mark.parametrize(("page", "name", "options"), SHOWN)
def test_options_in_documents_exist(page, name, options):
    known = {option for parameter in get_command(app).commands[name].params for option in parameter.opts}
    assert set(options) <= known | {"--help"}
