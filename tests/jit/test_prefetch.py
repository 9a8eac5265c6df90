"""Two processes share the kernels of a first start: what one of them compiles, the other can use."""

import os
import sys
import threading
import time
import types

import numpy as np
import pytest

from everclust import IDAT, EverClust
from everclust.core import coarse, handovers, pair_table, precompile, readout
from everclust.core.communities import (
    coarse_vote,
    homogeneity,
    linked_nodes,
    matching,
    newcomers,
    valleys,
    voting,
)
from everclust.jit import prefetch

PLANNED = (
    *(coarse.assign_coarsely, handovers.insert_rows, pair_table.rehash, readout.assign),
    *(coarse_vote.vote_coarsely, linked_nodes.gather, newcomers.group_newcomers),
    *(homogeneity.compare_intervals, homogeneity.find_wins),
    *(matching.match_groups, matching.report_nodes, matching.count_arrivals),
    *(valleys.find_clusters, voting.vote, voting.vote_weights),
)


@pytest.mark.skipif(not hasattr(readout.assign, "signatures"), reason="nothing is compiled")
@pytest.mark.parametrize("estimator", [IDAT, EverClust])
def test_kernels_are_compiled_for_the_types_that_learning_uses(estimator, capsys):
    """Another type would be compiled a second time, when it is needed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5, 3))[rng.integers(5, size=2500)] * 6 + rng.normal(size=(2500, 3))
    precompile.compile_there(estimator._clusters)
    precompile.compile_here(estimator._clusters)
    before = _n_types()
    model = estimator().fit(X)
    model.predict(X)
    model.predict(X[:9])
    assert _n_types() == before


def _n_types():
    return {kernel.__name__: len(kernel.signatures) for kernel in PLANNED}


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    """A module with two plans that another process can import, and nothing under way."""
    (tmp_path / "workshop.py").write_text(
        "import sys, time\n"
        "THERE = {'slow': ('first', 'second'), 'broken': ('first',)}\n"
        "compiled_here = []\n"
        "def compile_there(plan):\n"
        "    if plan == 'broken': raise SystemExit(1)\n"
        "    for name in THERE[plan]:\n"
        "        time.sleep(0.3)\n"
        "        print(name, flush=True)\n"
        "    time.sleep(60)\n"
        "def compile_here(plan): compiled_here.append(plan)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(prefetch, "_process", None)
    monkeypatch.setattr(prefetch, "_can_start", lambda: True)
    for name in ("_expected", "_own_share"):
        monkeypatch.setattr(prefetch, name, [])
    monkeypatch.setattr(prefetch, "_awaited", set())
    yield
    prefetch._end()
    for thread in threading.enumerate():
        if thread.name == "everclust-prefetch":
            thread.join(30)
    sys.modules.pop("workshop", None)


def wait_for(name):
    started = time.perf_counter()
    with prefetch.meanwhile(types.SimpleNamespace(__name__=name)):
        return time.perf_counter() - started


def test_a_kernel_of_the_other_process_is_awaited_and_the_time_used(workshop):
    prefetch.expect("workshop", "slow")
    prefetch.start()
    assert wait_for("second") > 0.3
    assert sys.modules["workshop"].compiled_here == ["slow"]
    assert wait_for("first") < 0.3


def test_a_kernel_that_is_not_in_the_plan_is_not_awaited(workshop):
    prefetch.expect("workshop", "slow")
    prefetch.start()
    assert wait_for("third") < 0.2
    assert sys.modules["workshop"].compiled_here == []


def test_a_process_that_has_failed_is_not_waited_for(workshop):
    prefetch.expect("workshop", "broken")
    prefetch.start()
    waiting = threading.Thread(target=wait_for, args=("first",), daemon=True)
    waiting.start()
    waiting.join(30)
    assert not waiting.is_alive()


def test_a_forked_process_does_not_wait_for_what_it_cannot_hear(workshop, monkeypatch):
    prefetch.expect("workshop", "slow")
    prefetch.start()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert wait_for("second") < 0.2


def test_nothing_is_started_that_is_not_expected(workshop):
    prefetch.start()
    assert prefetch._process is None
