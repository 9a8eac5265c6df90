"""What users see first: names, documents, messages, packages."""

import doctest
import importlib
import inspect
import os
import re
import subprocess
import sys
import tarfile
import textwrap
import zipfile

import pytest

import everclust
from everclust import IDAT, History, learn
from support.paths import REPOSITORY
from support.processes import printed
from support.spark_session import environment

ROOT = REPOSITORY
OPTIONAL = (
    "matplotlib",
    "networkx",
    "pandas",
    "polars",
    "tqdm",
    "torch",
    "rich",
    "IPython",
    "hypothesis",
    "pytest",
)
WITH_EXAMPLES = sorted(
    ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "src").rglob("*.py")
    if ">>> " in path.read_text()
)


def run(code, folder=None, **environment):
    """Run code in a new process and return what it prints."""
    return printed(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=folder,
        env=os.environ | {"MPLBACKEND": "agg"} | environment,
    )


# Names


def test_public_names():
    assert {"IDAT", "load", "__version__"} <= set(everclust.__all__)
    assert len(set(everclust.__all__)) == len(everclust.__all__)
    for name in everclust.__all__:
        assert getattr(everclust, name) is not None
    assert set(everclust.__all__) <= set(dir(everclust))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        everclust.nonsense  # noqa: B018


def test_star_import():
    names = {}
    exec("from everclust import *", names)
    assert set(everclust.__all__) <= set(names)


def test_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+([a-z]+\d+)?", everclust.__version__)
    assert everclust.__version__ == importlib.metadata.version("everclust")


@pytest.mark.slow  # a process that imports everything
def test_importing_everclust_imports_nothing_optional():
    """scikit-learn imports some of them where it finds them. Here it finds none, and everclust seeks none."""
    code = f"""
        import sys

        class Hide:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] not in {OPTIONAL!r}:
                    return
                frame = sys._getframe(1)
                while "importlib" in frame.f_code.co_filename:
                    frame = frame.f_back
                if frame.f_globals["__name__"].startswith("everclust"):
                    print(name)
                raise ModuleNotFoundError(name)

        sys.meta_path.insert(0, Hide())
        import everclust
        everclust.learn, everclust.TopologyDisplay
        everclust.IDAT().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]]).predict([[0.0, 0.0]])
        print("done")
    """
    assert run(code) == "done\n"


# Docstrings


def public_objects():
    """(name, object) of everything public: functions, classes, and their methods and properties."""
    for name in everclust.__all__:
        thing = getattr(everclust, name)
        if not callable(thing):
            continue
        yield name, thing
        if inspect.isclass(thing):
            ours = [part for part in reversed(thing.__mro__) if part.__module__.startswith("everclust")]
            fields = getattr(thing, "_fields", ())  # of a named tuple: its own docstring explains them
            for method, member in (pair for part in ours for pair in vars(part).items()):
                if not method.startswith("_") and method not in fields:
                    yield f"{name}.{method}", getattr(member, "__func__", member)


PUBLIC = dict(public_objects())


def test_the_list_of_public_objects_is_complete():
    assert {"IDAT", "IDAT.fit", "IDAT.n_nodes_", "IDAT.learn_one", "load", "learn", "History.record"} <= set(
        PUBLIC
    )
    assert {"IDAT.events", "IDAT.on_event", "IDAT.cluster_report", "IDAT.cluster_profile"} <= set(PUBLIC)
    assert "TopologyDisplay.from_estimator" in PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_docstrings(name):
    thing = PUBLIC[name]
    text = inspect.getdoc(thing)
    assert text, "there is none"
    assert text.split("\n")[0].rstrip().endswith((".", "?")), "the first line is a sentence"
    if isinstance(thing, property):
        return
    for parameter in parameters_of(thing):
        assert re.search(rf"^(\w+, )*(\*\*)?{parameter}(, \w+)* ?:", text, re.MULTILINE), (
            f"{parameter} is not explained"
        )
    if parameters_of(thing):
        assert "Parameters\n----------" in text
    if not inspect.isclass(thing) and returns_something(thing):
        assert "Returns\n-------" in text


def parameters_of(thing):
    try:
        names = list(inspect.signature(thing).parameters)
    except ValueError:
        return []
    return [name for name in names if name not in ("self", "cls", "args", "kwargs")]


def returns_something(function):
    return inspect.signature(function).return_annotation not in (None, "None", inspect.Signature.empty)


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_docstring_examples(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    results = doctest.testmod(importlib.import_module(module))
    assert results.failed == 0
    assert results.attempted


def test_the_main_names_have_examples():
    for name in ("IDAT", "learn", "History"):
        assert doctest.DocTestFinder(recurse=False).find(getattr(everclust, name))[0].examples


# Documents

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def code_blocks():
    """(place, code, what it must print or None) of every Python block in the documents that runs by itself.

    tests/test_site.py runs the pages that read as one program.
    """
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        if path.parent.name == "tutorials" or path.name == "get_started.md":
            continue
        text = path.read_text()
        blocks = list(BLOCK.finditer(text))
        for i, block in enumerate(blocks):
            if block[1] in ("python", "py", "python3", "pycon"):
                line = text.count("\n", 0, block.start()) + 1
                follower = blocks[i + 1] if i + 1 < len(blocks) else None
                is_output = (
                    follower and follower[1] == "text" and not text[block.end() : follower.start()].strip()
                )
                yield f"{path.relative_to(ROOT)}:{line}", block[2], follower[2] if is_output else None


BLOCKS = {place: (code, output) for place, code, output in code_blocks()}
SEPARATE = ("dask", "ray")  # packages that `make distributed-test` installs


def test_the_readme_shows_code():
    assert any(place.startswith("README.md") for place in BLOCKS)
    assert any(output for _, output in BLOCKS.values())


def needing_spark(place):
    return pytest.param(place, marks=pytest.mark.spark) if place.startswith("docs/spark.md") else place


@pytest.mark.parametrize("place", [needing_spark(place) for place in BLOCKS])
def test_code_in_documents_runs_and_prints_what_they_say(place, tmp_path, monkeypatch, capsys):
    code, output = BLOCKS[place]
    assert not code.startswith("# not run")
    for package in SEPARATE:
        if re.search(rf"^(import|from) {package}\b", code, re.MULTILINE):
            pytest.importorskip(package, reason=f"{package} is not installed: make distributed-test")
    if place.startswith("docs/spark.md"):
        printed = run(code, tmp_path, **environment())
    else:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("MPLBACKEND", "agg")
        exec(compile(code, place, "exec"), {"__name__": "__main__"})
        printed = capsys.readouterr().out
    assert printed == (output or printed)


def test_links_in_documents_lead_somewhere():
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for target in re.findall(r"\]\(([^)#\s]+)", path.read_text()):
            is_drawn = "figures/" in target or "gallery/" in target  # by `make docs`: see tests/test_site.py
            assert target.startswith("http") or is_drawn or (path.parent / target).exists(), (
                f"{path}: {target}"
            )


# What is not installed


@pytest.mark.parametrize(
    ("package", "extra", "call"),
    [
        ("networkx", 'pip install "everclust[graph]"', lambda model: model.to_networkx()),
        (
            "tqdm",
            'pip install "everclust[progress]"',
            lambda model: learn(model, [[[1.0, 2.0]]], progress=True),
        ),
        (
            "matplotlib",
            'pip install "everclust[plot]"',
            lambda model: everclust.TopologyDisplay.from_estimator(model),
        ),
        ("pandas", 'pip install "everclust[report]"', lambda model: History().to_frame()),
        ("pandas", 'pip install "everclust[report]"', lambda model: model.cluster_report()),
        ("pandas", 'pip install "everclust[report]"', lambda model: model.cluster_profile()),
    ],
)
def test_a_missing_extra_says_how_to_get_it(package, extra, call, monkeypatch):
    model = IDAT().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=re.escape(extra)):
        call(model)
    assert model.n_samples_seen_ == 3


def test_the_extras_are_those_that_the_messages_name():
    extras = importlib.metadata.metadata("everclust").get_all("Provides-Extra")
    sources = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r"everclust\[(\w+)\]", sources))
    assert named
    assert named <= set(extras)


# Packages


@pytest.mark.slow
def test_packages(tmp_path):
    """The wheel holds the package and nothing else; the sdist holds the tests too."""
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(tmp_path), str(ROOT)],
        check=True,
        capture_output=True,
        timeout=300,
    )
    (wheel,), (sdist,) = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
    assert "everclust/py.typed" in names
    assert "everclust/core/learn.py" in names
    assert {name.split("/")[0] for name in names} == {
        "everclust",
        f"everclust-{everclust.__version__}.dist-info",
    }
    sources = {
        f"everclust/{path.relative_to(ROOT / 'src/everclust')}" for path in (ROOT / "src").rglob("*.py")
    }
    assert sources <= set(names)
    assert not [name for name in names if name.endswith((".pyc", ".nbc", ".nbi", ".everclust", ".npz"))]
    assert "License-Expression: MIT" in metadata
    assert any(name.endswith("LICENSE") for name in names)
    with tarfile.open(sdist) as archive:
        held = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    expected = {
        "src/everclust/py.typed",
        "tests/test_surface.py",
        "tests/data/model_v2.everclust",
        "README.md",
        "LICENSE",
    }
    assert expected <= held
    assert not [name for name in held if name.endswith((".pyc", ".nbc", ".nbi"))]
