"""The examples of deployment: their commands are commands, and what they protect is protected."""

import configparser
import re
import shlex
import shutil
import subprocess
import tomllib

import pytest

pytest.importorskip("typer", reason="the command line needs Typer")
from typer.main import get_command

from everclust.cli.app import app
from support.paths import REPOSITORY

DEPLOY = REPOSITORY / "examples/deploy"
MONITORING = REPOSITORY / "examples/monitoring"


def parse(words):
    """The values of the options of a command, as the command line reads them; unknown ones are errors."""
    command = get_command(app).commands[words[0]]
    return command.make_context(words[0], list(words[1:])).params


def read_yaml(path):
    return pytest.importorskip("yaml", reason="PyYAML reads YAML").safe_load(path.read_text())


def unit():
    """The sections of the systemd unit."""
    parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    parser.optionxform = str
    parser.read(DEPLOY / "everclust.service")
    return parser


def docker_lines(verb):
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    return [line.split(maxsplit=1)[1] for line in text.splitlines() if line.startswith(f"{verb} ")]


def test_a_wrong_option_would_be_found():
    with pytest.raises(Exception, match="No such option"):  # some versions of Typer have a click of their own
        parse(["watch", "redis://localhost/readings", "--metricks=1"])


def test_the_command_of_the_unit():
    program, *words = shlex.split(unit()["Service"]["ExecStart"])
    assert program.endswith("/bin/everclust")
    found = parse(words)
    assert found["metrics"] == "127.0.0.1:9464"  # not open to the network
    assert str(found["checkpoint"]) == "saved"


def test_the_unit_waits_for_a_notification():
    service = unit()["Service"]
    assert service["Type"] == "notify"
    assert int(service["TimeoutStartSec"]) > 60, "a run waits a minute for its server"
    assert int(service["WatchdogSec"]) > 60
    assert "AF_UNIX" in service["RestrictAddressFamilies"]


def test_the_unit_is_hardened_and_lets_numba_compile():
    service = unit()["Service"]
    for name in ("DynamicUser", "NoNewPrivileges", "PrivateTmp", "ProtectHome", "RestrictNamespaces"):
        assert service[name] == "yes", name
    assert service["ProtectSystem"] == "strict"
    assert service["CapabilityBoundingSet"] == ""
    assert "MemoryDenyWriteExecute" not in service
    assert f"NUMBA_CACHE_DIR=/var/cache/{service['CacheDirectory']}" in service["Environment"]
    assert service["WorkingDirectory"] == f"/var/lib/{service['StateDirectory']}"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_systemd_accepts_the_unit(tmp_path):
    text = (DEPLOY / "everclust.service").read_text()
    path = tmp_path / "everclust.service"
    path.write_text(text.replace("/opt/everclust/bin/everclust", "/bin/true"))  # which must exist
    done = subprocess.run(["systemd-analyze", "verify", path], capture_output=True, text=True, check=False)
    assert (done.returncode, [line for line in done.stderr.splitlines() if "everclust.service" in line]) == (
        0,
        [],
    )


def test_the_command_of_the_compose_file():
    services = read_yaml(DEPLOY / "compose.yml")["services"]
    ours = services["everclust"]
    found = parse(ours["command"])
    assert "//redis:" in found["source"]
    assert "redis" in services
    assert ours["read_only"] is True
    assert ours["cap_drop"] == ["ALL"]
    assert all(port.startswith("127.0.0.1:") for port in ours["ports"])
    folders = [volume.split(":")[1] for volume in ours["volumes"]]
    for path in (found["model"], found["checkpoint"]):
        assert any(str(path).startswith(f"{folder}/") for folder in folders), "it must be kept, and writable"


def test_compose_and_image_agree_on_folders():
    ours = read_yaml(DEPLOY / "compose.yml")["services"]["everclust"]
    assert (DEPLOY / ours["build"]["context"] / ours["build"]["dockerfile"]).samefile(DEPLOY / "Dockerfile")
    kept = docker_lines("VOLUME")[0]
    for volume in ours["volumes"]:
        assert f'"{volume.split(":")[1]}"' in kept
    cache = re.search(r"NUMBA_CACHE_DIR=(\S+)", " ".join(docker_lines("ENV")))
    assert f'"{cache[1]}"' in kept


def test_the_image():
    assert docker_lines("USER")[-1] not in ("0", "root")
    assert docker_lines("ENTRYPOINT") == ['["everclust"]']
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = re.search(r'/src\[([\w,]+)\]"', docker_lines("RUN")[0])[1].split(",")
    assert set(extras) <= set(project["optional-dependencies"])
    context = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    for name in ("src", "pyproject.toml", project["readme"], *project["license-files"]):
        assert f"!{name}" in context
        assert (REPOSITORY / name).exists()
    warm = next(line for line in docker_lines("COPY") if "warm_kernels" in line).split()[1]
    assert (REPOSITORY / warm).exists()
    assert f"!{warm}" in context


def test_prometheus_files_are_yaml():
    config = read_yaml(MONITORING / "prometheus.yml")
    assert [(MONITORING / name).exists() for name in config["rule_files"]] == [True]
    rules = [rule for group in read_yaml(MONITORING / "alerts.yml")["groups"] for rule in group["rules"]]
    assert all({"alert", "expr", "annotations"} <= set(rule) for rule in rules)
    assert config["scrape_configs"][0]["job_name"] in next(r["expr"] for r in rules if "up{" in r["expr"])
