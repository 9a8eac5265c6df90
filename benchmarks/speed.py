"""How fast is everclust? `make bench` prints this: one process, one thread, CPU time, best of several."""

import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable

import numpy as np
from data import class_incremental, data_set
from floor import in_lanes, in_rows
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from everclust import IDAT
from everclust.core.lanes import pack

REPEATS = 7


def best(task: Callable[[], object], repeats: int = REPEATS) -> float:
    """CPU seconds of the fastest run."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return min(times)


def in_batches(model: IDAT | MiniBatchKMeans, X: np.ndarray, size: int) -> None:
    """Learn X in batches of a size."""
    for start in range(0, len(X), size):
        model.partial_fit(X[start : start + size])


def against_mini_batch_k_means() -> None:
    """Samples per second on digits, tiled and shuffled to 100,000 rows, in batches of 100."""
    digits = load_digits().data
    X = np.tile(digits, (100_000 // len(digits) + 1, 1))[:100_000]
    X = X[np.random.default_rng(0).permutation(len(X))]
    ours = best(lambda: in_batches(IDAT(), X, 100), 3)
    theirs = best(lambda: in_batches(MiniBatchKMeans(n_clusters=8, n_init=1, random_state=0), X, 100), 3)
    nodes = IDAT().partial_fit(X).n_nodes_
    print(f"digits 100,000 x 64, batches of 100: IDAT {1e5 / ours:,.0f} samples/s ({nodes} nodes),")
    print(f"  MiniBatchKMeans(8) {1e5 / theirs:,.0f} samples/s: {theirs / ours:.2f} times as fast (aim: 3)")


def node_counts(X: np.ndarray) -> np.ndarray:
    """Number of nodes that each sample of the stream meets."""
    model, counts = IDAT().partial_fit(X[:1]), [3]
    for i in range(1, len(X)):
        counts.append(max(3, model.n_nodes_))
        model.partial_fit(X[i : i + 1])
    return np.array(counts)


def against_the_floor() -> None:
    """Whole learning against a loop that only searches as many nodes."""
    print("\nclass by class, whole learning against a loop that only finds the two nearest (aim: 1.5 or less)")
    for name in ("optdigits", "letter", "isolet"):
        X = class_incremental(*data_set(name), seed=0)
        counts = node_counts(X)
        points = X[np.random.default_rng(0).permutation(len(X))[: -(-counts.max() // 64) * 64]].copy()
        blocks, fours = pack(points), -(-counts // 4) * 4
        in_rows(X[:2], points, fours), in_lanes(X[:2], blocks, counts)
        ours, rows, lanes = [], [], []
        for _ in range(REPEATS):  # interleaved, so that a slow spell of the machine hits all three
            ours.append(best(lambda X=X: IDAT().partial_fit(X), 1))
            rows.append(best(lambda X=X, p=points, c=fours: in_rows(X, p, c), 1))
            lanes.append(best(lambda X=X, b=blocks, c=counts: in_lanes(X, b, c), 1))
        floor = min(min(rows), min(lanes))
        print(f"  {name:10} {min(ours) * 1e3:7.1f} ms, floor {floor * 1e3:7.1f} ms: {min(ours) / floor:.2f} times")


def absolute_times() -> None:
    """CPU time of class-incremental streams."""
    print("\nclass by class, CPU time of whole learning")
    aims = {"optdigits": 0.045, "letter": 0.1, "skin": 0.4, "shuttle": 0.4, "isolet": 0.8}
    for name, aim in aims.items():
        X = class_incremental(*data_set(name), seed=0)
        took = best(lambda X=X: IDAT().partial_fit(X), 5)
        nodes = IDAT().partial_fit(X).n_nodes_
        print(f"  {name:10} {len(X):7,} x {X.shape[1]:<3} {took * 1e3:7.1f} ms (aim: {aim * 1e3:.0f}), {nodes} nodes")


def one_at_a_time() -> None:
    """Median latency of a single sample."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(10, 16)) * 10
    X = centres[rng.integers(10, size=30_000)] + rng.normal(size=(30_000, 16))
    model = IDAT()
    for n in range(500, 30_000, 500):  # stop where the stream has made about a hundred nodes
        if model.partial_fit(X[n - 500 : n]).n_nodes_ >= 95:
            break
    rows, nodes = iter(X[n:]), model.n_nodes_
    batch = np.median(timeit.repeat(lambda: model.partial_fit(next(rows)[None]), number=1, repeat=2000)) * 1e6
    single = np.median(timeit.repeat(lambda: model.learn_one(next(rows)), number=1, repeat=2000)) * 1e6
    print(f"\none sample at a time, 16 features, {nodes} nodes, median")
    print(f"  partial_fit(X[i:i+1]) {batch:.1f} µs (aim: 40), learn_one(x) {single:.1f} µs (aim: 20)")


def no_hidden_growth() -> None:
    """20 Gaussians in 8 dimensions for 5 million samples: cost and memory per node."""
    print("\n20 Gaussians in 8 dimensions, per million samples")
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(20, 8)) * 10
    model, ratios = IDAT(), []
    for million in range(1, 6):
        took = 0.0
        nodes = []
        for _ in range(10):
            X = centres[rng.integers(20, size=100_000)] + rng.normal(size=(100_000, 8))
            start = time.process_time()
            model.partial_fit(X)
            took += time.process_time() - start
            nodes.append(model.n_nodes_)
        ratios.append(took / np.mean(nodes) * 1e3)
        memory = sum(array.nbytes for array in model._learner.state) / 2**20
        print(
            f"  {million}: {took:.2f} µs/sample, {nodes[-1]} nodes, {ratios[-1]:.2f} ns/sample/node, "
            f"{memory:.2f} MiB, interval {model.interval_}"
        )
    worst = max(ratios[1:]) / ratios[0]
    print(f"  cost per node against the first million: at most {worst:.2f} times (aim: 1.2)")


def cold_start() -> None:
    """From `python` to labels of Iris, without and with compiled code on the disk."""
    code = "from sklearn.datasets import load_iris; from everclust import IDAT; IDAT().fit_predict(load_iris().data)"
    with tempfile.TemporaryDirectory() as cache:
        times = []
        for _ in range(3):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], env={"NUMBA_CACHE_DIR": cache}, check=True)
            times.append(time.perf_counter() - start)
    print(f"\nfrom python to the labels of Iris: first {times[0]:.1f} s (aim: 15), then {min(times[1:]):.1f} s (aim: 4)")


def main() -> None:
    """All of it."""
    IDAT().fit(np.random.default_rng(0).normal(size=(300, 3)))  # compile or load
    with threadpool_limits(1):
        against_mini_batch_k_means()
        against_the_floor()
        absolute_times()
        one_at_a_time()
        no_hidden_growth()
    cold_start()


if __name__ == "__main__":
    main()
