"""The available memory under the tightest limit, and the check before an allocation."""

import subprocess
import sys

import pytest

from everclust.baselines import memory

STATUS = "Name:\tpython\nVmSize:\t 1000 kB\nVmData:\t  400 kB\n"


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A made-up machine: write its files."""
    monkeypatch.setattr(memory, "_PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "_CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr("resource.getrlimit", lambda limit: (-1, -1))

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    write(proc__meminfo="MemTotal: 9 kB\nMemAvailable:  5000 kB\n", proc__self__status=STATUS)
    return write


def test_of_the_machine(system):
    assert memory.available_memory() == 5000 * 1024


def test_of_a_container(system):
    system(
        proc__self__cgroup="0::/\n",
        cgroup__memory_dot_max="3000000\n",
        cgroup__memory_dot_current="2500000\n",
        cgroup__memory_dot_stat="anon 7\ninactive_file 100000\n",
    )
    assert memory.available_memory() == 600_000  # files that are only kept in memory count as free


def test_of_a_group_below(system):
    system(
        proc__self__cgroup="0::/job/7\n",
        cgroup__memory_dot_max="max\n",
        cgroup__memory_dot_current="1\n",
        cgroup__job__7__memory_dot_max="900\n",
        cgroup__job__7__memory_dot_current="1000\n",
    )
    assert memory.available_memory() == 0


def test_of_an_old_container(system):
    system(
        proc__self__cgroup="5:cpu:/x\n4:memory:/deep/inside\n",
        cgroup__memory__memory_dot_limit_in_bytes="5000\n",
        cgroup__memory__memory_dot_usage_in_bytes="2000\n",
        cgroup__memory__memory_dot_stat="inactive_file 1\ntotal_inactive_file 300\n",
    )
    assert memory.available_memory() == 3300


@pytest.mark.parametrize(("limited", "left"), [("RLIMIT_AS", 1000), ("RLIMIT_DATA", 1600)])
def test_of_the_process(system, monkeypatch, limited, left):
    resource = pytest.importorskip("resource", reason="Windows has no such limits")
    limits = {getattr(resource, limited): (2000 * 1024, -1)}
    monkeypatch.setattr("resource.getrlimit", lambda limit: limits.get(limit, (-1, -1)))
    assert memory.available_memory() == left * 1024


def test_unknown(system, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_PROC", tmp_path / "nowhere")
    monkeypatch.setattr(memory.os, "sysconf", lambda name: {"SC_PHYS_PAGES": 7, "SC_PAGE_SIZE": 4096}[name])
    assert memory.available_memory() == 7 * 4096

    def fail(name):
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr(memory.os, "sysconf", fail)
    assert memory.available_memory() is None
    memory.refuse_beyond_memory(10**30, "It", "give up")


def test_refusal_is_one_sentence_with_both_sizes(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 1_234_000_000)
    memory.refuse_beyond_memory(1_234_000_000, "It", "give up")
    expected = "^It would take 5\\.00 GB of memory, but only 1\\.23 GB are available; give up\\.$"
    with pytest.raises(MemoryError, match=expected):
        memory.refuse_beyond_memory(5_000_000_000, "It", "give up")


@pytest.mark.slow  # a process of its own
def test_limit_of_a_real_process():
    pytest.importorskip("resource")
    code = (
        "import resource, numpy as np\n"
        "from everclust.baselines import TorqueClustering\n"
        "TorqueClustering().fit(np.zeros((3, 1)))\n"
        "used = int(next(l for l in open('/proc/self/status') if l.startswith('VmData')).split()[1]) * 1024\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (used + 300_000_000, -1))\n"
        "try:\n"
        "    TorqueClustering().fit(np.zeros((10_000, 1)))\n"
        "except MemoryError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(
        "The distances between 10000 samples would take 0.80 GB of memory, but only 0."
    )
