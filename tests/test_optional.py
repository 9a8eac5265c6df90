"""Packages that are missing: every error prints a pip command that installs them."""

import ast
import re
import sys
import tomllib

import pytest

from everclust.benchmark.run.plan import ALGORITHMS
from everclust.optional import require
from support.paths import REPOSITORY

DISTRIBUTIONS = {
    "confluent_kafka": "confluent-kafka",
    "nats": "nats-py",
    "paho": "paho-mqtt",
    "prometheus_client": "prometheus-client",
}


def calls():
    """(module, extra) of every call of `require` in the package, and of every algorithm of the benchmark."""
    for algorithm in ALGORITHMS.values():
        if algorithm.needs:
            yield algorithm.needs, algorithm.extra
    for path in sorted((REPOSITORY / "src/everclust").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "require":
                words = {word.arg: word.value for word in node.keywords}
                module, extra = node.args[0], words["extra"]
                if isinstance(extra, ast.Constant):  # else that of an algorithm
                    yield (
                        module.value if isinstance(module, ast.Constant) else "pyarrow",  # `import_pyarrow`
                        extra.value,
                    )


def installed_by(extra):
    """Names of the distributions that an extra installs, those of other extras of ours included."""
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    found = set()
    for requirement in extras[extra]:
        name, _, others = re.match(r"([\w-]+)(\[([\w,]+)\])?", requirement).groups()
        found |= {name} if others is None else set().union(*map(installed_by, others.split(",")))
    return found


@pytest.mark.parametrize(("module", "extra"), sorted(set(calls())))
def test_every_extra_exists_and_installs_the_package(module, extra):
    package = module.split(".")[0]
    assert DISTRIBUTIONS.get(package, package) in installed_by(extra)


def test_no_other_way_to_say_so():
    """Messages that were written by hand named extras that did not exist."""
    for path in sorted((REPOSITORY / "src/everclust").rglob("*.py")):
        assert not re.search(r"raise ImportError\(f?\"", path.read_text()), path


def test_the_module_comes_back():
    assert require("json.decoder", extra="cli", purpose="tests") is sys.modules["json.decoder"]


def test_what_is_missing_is_named_even_if_it_is_something_else(tmp_path, monkeypatch):
    (tmp_path / "half_there.py").write_text("import not_there_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError) as raised:
        require("half_there", extra="report", purpose="tests")
    assert str(raised.value) == (
        "No module named 'not_there_at_all', needed for tests; pip install \"everclust[report]\""
    )
    assert raised.value.name == "not_there_at_all"
