"""Small algorithms for the tests of the benchmark, registered the way a user's own are: in one file."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from everclust import IDAT
from everclust.benchmark.run.registry import Algorithm, register


class Cut:
    """Two clusters, parted at a value of the first feature."""

    def __init__(self, cut=5.0, seed=0):
        self.cut, self.seed = cut, seed

    def fit(self, X):
        self.labels_ = self.predict(X)
        return self

    partial_fit = fit

    def predict(self, X):
        return (X[:, 0] > self.cut).astype(int)


class Bad(Cut):
    """Has a fault instead of learning."""

    def __init__(self, fault):
        super().__init__()
        self.fault = fault

    def fit(self, X):
        if len(X) == 50 and X.shape[1] == 2:  # the warm-up rows
            return super().fit(X)
        self.fault()
        return super().fit(X)

    partial_fit = fit


def fail():
    raise RuntimeError("no luck today")


def sleep():
    time.sleep(60)


def eat():
    np.ones(2**28).sum()  # 2 GiB


def crash():
    os.kill(os.getpid(), signal.SIGSEGV)


def vanish():
    os.kill(os.getpid(), signal.SIGKILL)


class Logged(IDAT):
    """Takes some time, and writes down that it was run."""

    def partial_fit(self, X, y=None):
        if not self.__sklearn_is_fitted__():
            time.sleep(0.1)
        return super().partial_fit(X)


def make_logged(params, seed):
    log = os.environ.get("EVERCLUST_TEST_LOG")
    if log and seed:  # 0 is the warm-up
        with Path(log).open("a") as file:
            file.write(f"{seed}\n")
    return Logged(**params)


def count_idat(model):
    return model.n_active_nodes_ or model.n_nodes_, model.n_clusters_


TOYS = [
    Algorithm(
        "toy-cut", "Cut", lambda params, seed: Cut(**params), incremental=True, space={"cut": (0.0, 10.0)}
    ),
    Algorithm("toy-logged", "Logged", make_logged, count_idat, incremental=True),
    *(
        Algorithm(f"toy-{name}", name, lambda params, seed, fault=fault: Bad(fault), incremental=True)
        for name, fault in {
            "fail": fail,
            "sleep": sleep,
            "eat": eat,
            "crash": crash,
            "vanish": vanish,
        }.items()
    ),
]
for toy in TOYS:
    register(toy)
