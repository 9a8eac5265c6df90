"""Speed of everclust, printed by `make bench`: one process, one thread, CPU time, best of several runs."""

import os
import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
from pyarrow.csv import write_csv
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_mutual_info_score
from threadpoolctl import threadpool_limits

from benchmarks.speed.data import class_incremental, data_set
from benchmarks.speed.lower_bound import search_blocks, search_rows
from benchmarks.speed.overhead import shares_of_time
from benchmarks.speed.page import N_NODES, chromium, frame_rate
from everclust import IDAT, EverClust
from everclust.cli.options import BadRowOptions, ColumnOptions, RangeOptions
from everclust.cli.setup import job_of
from everclust.core.communities.linked_nodes import base_nodes, links_of
from everclust.core.communities.valleys import base_labels
from everclust.jit.blocks import pack
from everclust.stream.run import run

REPEATS = 9
IRIS = "from sklearn.datasets import load_iris as i; from everclust import IDAT; IDAT().fit_predict(i().data)"

summary: list[str] = []


def summarise(what: str, value: float, aim: float, unit: str = "", *, at_least: bool = False) -> None:
    """Add a figure to the table at the end."""
    met = value >= aim if at_least else value <= aim
    bound = "at least" if at_least else "at most"
    summary.append(f"{what:62} {value:8.2f} {unit:3} ({bound} {aim:g}) {'' if met else 'NOT MET'}")


def cpu_time(task: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """CPU seconds of this process, or seconds of another clock."""
    start = clock()
    task()
    return clock() - start


def best(
    *tasks: Callable[[], object],
    repeats: int = REPEATS,
    clock: Callable[[], float] = time.process_time,
) -> list[float]:
    """Seconds of the fastest run of each task; they take turns, so that a slow spell hits all of them."""
    return np.min([[cpu_time(task, clock) for task in tasks] for _ in range(repeats)], axis=0).tolist()


def in_batches(model: IDAT | EverClust | MiniBatchKMeans, X: np.ndarray, size: int) -> None:
    """Learn X in batches."""
    for start in range(0, len(X), size):
        model.partial_fit(X[start : start + size])


def many_digits() -> np.ndarray:
    """scikit-learn's digits, tiled and shuffled to 100,000 rows."""
    digits = load_digits().data
    X = np.tile(digits, (100_000 // len(digits) + 1, 1))[:100_000]
    return X[np.random.default_rng(0).permutation(len(X))]


def relative_to_mini_batch_k_means() -> None:
    """Samples per second on digits in batches of 100; those of EverClust with ids and events."""
    X = many_digits()
    idat, everclust, theirs = best(
        lambda: in_batches(IDAT(), X, 100),
        lambda: in_batches(EverClust(), X, 100),
        lambda: in_batches(MiniBatchKMeans(n_clusters=8, n_init=1, random_state=0), X, 100),
    )
    print("digits 100,000 x 64 in batches of 100:")
    for name, took, aim in (("IDAT", idat, 3), ("EverClust", everclust, 2)):
        print(f"  {name} {1e5 / took:,.0f} samples/s")
        summarise(f"digits: {name} relative to MiniBatchKMeans(8)", theirs / took, aim, at_least=True)
    print(f"  MiniBatchKMeans(n_clusters=8) {1e5 / theirs:,.0f} samples/s")


def streams_to_predict() -> Iterator[tuple[str, np.ndarray]]:
    """Name and rows."""
    yield "digits", many_digits()
    for name in ("optdigits", "letter"):
        yield name, class_incremental(*data_set(name), seed=0)


def relative_to_k_means() -> None:
    """`predict` relative to KMeans with as many centres as there are nodes to compare with; and `fit`."""
    for name, X in streams_to_predict():
        for model in (IDAT(), EverClust()):
            what = f"{name}, {type(model).__name__}"
            predict_and_k_means(what, model.partial_fit(X), X)
            kind = type(model)
            fit, partial_fit = best(lambda: kind().fit(X), lambda: kind().partial_fit(X), repeats=5)  # noqa: B023
            summarise(f"{what}: fit relative to partial_fit", fit / partial_fit, 1.3)


def predict_and_k_means(what: str, model: IDAT | EverClust, X: np.ndarray) -> None:
    """Compare predictions on one thread, by CPU time, and on two, by the clock."""
    centres = model.snapshot().candidates.node
    start = model.prototypes_[centres]
    theirs = KMeans(n_clusters=len(centres), init=start, n_init=1, max_iter=1).fit(X)
    for n_threads, clock in ((1, time.process_time), (2, time.perf_counter)):
        with threadpool_limits(n_threads), on_cores(n_threads):
            ours_took, theirs_took = best(lambda: model.predict(X), lambda: theirs.predict(X), clock=clock)
        print(
            f"  {what}, {len(centres)} nodes, {n_threads} threads: "
            f"{ours_took * 1e3:.1f} ms, KMeans {theirs_took * 1e3:.1f} ms"
        )
        label = f"{what}: predict relative to KMeans, {n_threads} threads"
        summarise(label, ours_took / theirs_took, 1)


@contextmanager
def on_cores(n: int) -> Iterator[None]:
    """Use no more than so many cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:n])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def node_counts(X: np.ndarray) -> np.ndarray:
    """Number of nodes before each sample of the stream."""
    model, counts = IDAT().partial_fit(X[:1]), [3]
    for i in range(1, len(X)):
        counts.append(max(3, model.n_nodes_))
        model.partial_fit(X[i : i + 1])
    return np.array(counts)


def relative_to_lower_bound() -> None:
    """Learning relative to a loop that only finds the two nearest of as many nodes."""
    print("\nclass by class: learning, and loops that only find the two nearest of as many nodes")
    for name in ("optdigits", "letter", "isolet"):
        X = class_incremental(*data_set(name), seed=0)
        counts = node_counts(X)
        points = X[np.random.default_rng(0).permutation(len(X))[: -(-counts.max() // 64) * 64]].copy()
        blocks, fours = pack(points), -(-counts // 4) * 4
        search_rows(X[:2], points, fours), search_blocks(X[:2], blocks, counts)
        ours, in_rows, in_blocks = best(
            lambda X=X: IDAT().partial_fit(X),
            lambda X=X, p=points, c=fours: search_rows(X, p, c),
            lambda X=X, b=blocks, c=counts: search_blocks(X, b, c),
        )
        print(
            f"  {name:10} {ours * 1e3:6.1f} ms; rows {in_rows * 1e3:.1f} ms, blocks {in_blocks * 1e3:.1f} ms"
        )
        summarise(f"{name}: learning relative to a search alone", ours / min(in_rows, in_blocks), 1.5)


def absolute_times() -> None:
    """CPU time of class-incremental streams."""
    print("\nclass by class: CPU time of learning")
    aims = {"optdigits": 45, "letter": 100, "skin": 400, "shuttle": 400, "isolet": 800}
    for name, aim in aims.items():
        X = class_incremental(*data_set(name), seed=0)
        (took,) = best(lambda X=X: IDAT().partial_fit(X))
        nodes = IDAT().partial_fit(X).n_nodes_
        print(f"  {name:10} {len(X):7,} x {X.shape[1]:<3} {took * 1e3:6.1f} ms, {nodes} nodes")
        summarise(f"{name}: CPU time", took * 1e3, aim, "ms")


def one_at_a_time() -> None:
    """Median latency of a single sample."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(10, 16)) * 10
    X = centres[rng.integers(10, size=30_000)] + rng.normal(size=(30_000, 16))
    model = IDAT()
    for n in range(500, 30_000, 500):  # until there are about a hundred nodes
        if model.partial_fit(X[n - 500 : n]).n_nodes_ >= 95:
            break
    rows, nodes = iter(X[n:]), model.n_nodes_
    batch = np.median(timeit.repeat(lambda: model.partial_fit(next(rows)[None]), number=1, repeat=3000)) * 1e6
    single = np.median(timeit.repeat(lambda: model.learn_one(next(rows)), number=1, repeat=3000)) * 1e6
    print(f"\none row at a time, 16 features, {nodes} nodes:")
    print(f"  partial_fit {batch:.1f} µs, learn_one {single:.1f} µs")
    summarise("one row by partial_fit, median", batch, 40, "µs")
    summarise("one row by learn_one, median", single, 20, "µs")


def overhead() -> None:
    """Hand-over counts and identities, which learning itself does not need."""
    found = shares_of_time()
    print("\noverhead of hand-over counts and identities, as a share of the learning time")
    for part, aim in (("handovers", 3), ("identities", 5)):
        for name, share in found[part].items():
            summarise(f"{name}: overhead of {part}", 100 * share, aim, "%")
    print("  " + ", ".join(f"{name}: {n} events" for name, n in found["events"].items()))


def read_outs() -> None:
    """Read-out of hand-over clusters: a thousand nodes with 64 features."""
    print("\nread-out of hand-over clusters: Gaussians in 8 dimensions, mapped linearly to 64 features")
    rng = np.random.default_rng(0)
    to_features = rng.normal(size=(8, 64))
    for n_clusters in (5, 20):
        read_out(3 * rng.normal(size=(n_clusters, 8)), to_features, rng)


def read_out(centres: np.ndarray, to_features: np.ndarray, rng: np.random.Generator) -> None:
    """Time the read-out of one such model."""

    def samples(n: int) -> np.ndarray:
        return (centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, 8))) @ to_features

    model = EverClust(metric="euclidean")
    while model.partial_fit(samples(5000)).n_nodes_ < 1000:
        pass
    state, rows = model._learner.state, iter(samples(1000))
    base = base_nodes(state)
    labels, after_sample = best(
        lambda: base_labels(state, base, links_of(state, base)),
        lambda: model.learn_one(next(rows)).node_labels_,
        repeats=200,
        clock=time.perf_counter,
    )
    nodes = f"{model.n_nodes_} nodes in {model.n_clusters_} clusters"
    print(
        f"  {nodes}, {len(links_of(state, base)):,} pairs with hand-overs: {labels * 1e3:.1f} ms; "
        f"a sample and its read-out {after_sample * 1e3:.1f} ms"
    )
    summarise(f"{nodes}: read-out", labels * 1e3, 5, "ms")


def from_csv(n_rows: int = 400_000) -> None:
    """Rows per second from a CSV file, as `everclust fit` reads it, relative to rows in memory."""
    rng = np.random.default_rng(0)
    X = 10 * rng.normal(size=(20, 8))[rng.integers(20, size=n_rows)] + rng.normal(size=(n_rows, 8))
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rows.csv"
        write_csv(pa.table({f"x{j}": column for j, column in enumerate(X.T)}), path)
        in_memory, from_file = best(
            lambda: IDAT().partial_fit(X),
            lambda: run(job_of(IDAT(), path, ColumnOptions(), RangeOptions(), BadRowOptions(), warn=print)),
            clock=time.perf_counter,
        )
    print(
        f"\nCSV with 8 columns: {n_rows / from_file:,.0f} rows/s, rows in memory {n_rows / in_memory:,.0f}/s"
    )
    summarise("CSV to model relative to learning alone", in_memory / from_file, 0.6, at_least=True)


def on_two_threads(n_rows: int = 2_000_000) -> None:
    """`EverClust(n_jobs=2)` relative to one thread, by the clock: 20 Gaussians in 16 dimensions."""
    rng = np.random.default_rng(0)
    centres, y = rng.uniform(-10, 10, (20, 16)), rng.integers(20, size=n_rows)
    X = centres[y] + 4 * rng.normal(size=(n_rows, 16))
    one, two = best(
        lambda: EverClust().partial_fit(X),
        lambda: EverClust(n_jobs=2).partial_fit(X),
        repeats=3,
        clock=time.perf_counter,
    )
    some = rng.choice(n_rows, 50_000, replace=False)
    scores = [
        adjusted_mutual_info_score(y[some], EverClust(n_jobs=n_jobs).partial_fit(X).predict(X[some]))
        for n_jobs in (1, 2)
    ]
    print(
        f"\n{n_rows:,} x 16: {n_rows / one:,.0f} rows/s in order, {n_rows / two:,.0f} rows/s on two threads; "
        f"AMI {scores[0]:.3f} and {scores[1]:.3f}"
    )
    summarise("EverClust(n_jobs=2) relative to one thread", one / two, 1.7, at_least=True)
    summarise("AMI of EverClust(n_jobs=2) below that of one thread", scores[0] - scores[1], 0.01)


def cost_over_time() -> None:
    """Cost and memory per node after each million of 5 million samples of 20 Gaussians in 8 dimensions.

    Models of all ages learn the same samples in turns, so that a slow minute hits all of them.
    """
    print("\n20 Gaussians in 8 dimensions, after each million")
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(20, 8)) * 10

    def samples() -> np.ndarray:
        return centres[rng.integers(20, size=100_000)] + rng.normal(size=(100_000, 8))

    model, ages = IDAT(), []
    for _ in range(5):
        for _ in range(10):
            model.partial_fit(samples())
        ages.append(model.copy())
    X = samples()
    took = best(*(lambda old=old: old.copy().partial_fit(X) for old in ages))
    per_node = [seconds / old.n_nodes_ * 1e4 for seconds, old in zip(took, ages, strict=True)]
    for million, old in enumerate(ages):
        memory = sum(array.nbytes for array in old._learner.state) / 1024
        print(
            f"  {million + 1}: {took[million] * 10:.2f} µs a sample, {old.n_nodes_} nodes, "
            f"{per_node[million]:.2f} ns a node, {memory:.0f} KiB, {memory / old.n_nodes_:.2f} KiB per node, "
            f"interval {old.interval_}"
        )
    summarise("cost per node after the first million, relative to it", max(per_node[1:]) / per_node[0], 1.2)


def cold_start() -> None:
    """From `python` to labels of Iris, without and with compiled kernels on disk."""
    with tempfile.TemporaryDirectory() as cache:
        times = []
        for _ in range(3):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", IRIS], env={"NUMBA_CACHE_DIR": cache}, check=True)
            times.append(time.perf_counter() - start)
    print(f"\nfrom python to the labels of Iris: first {times[0]:.1f} s, then {min(times[1:]):.1f} s")
    summarise("first process ever", times[0], 15, "s")
    summarise("later processes", min(times[1:]), 4, "s")


def live_page() -> None:
    """Frame rate of the live page, if Chromium is installed."""
    path = chromium()
    if path is None:
        print("\nnot measured: the live page needs Chromium and playwright")
        return
    rate = frame_rate(path)
    print(f"\nlive page with {N_NODES:,} nodes: {rate:.0f} frames per second")
    summarise(f"live page with {N_NODES:,} nodes, frames per second", rate, 10, at_least=True)


def main() -> None:
    """Measure everything; say what is not measured because a data set is missing."""
    IDAT().fit(np.random.default_rng(0).normal(size=(300, 3)))  # compile or load
    for part in (
        relative_to_mini_batch_k_means,
        relative_to_k_means,
        relative_to_lower_bound,
        absolute_times,
        one_at_a_time,
        overhead,
        read_outs,
        from_csv,
        on_two_threads,
        cost_over_time,
    ):
        try:
            with threadpool_limits(1):
                part()
        except FileNotFoundError as error:
            print(f"\nnot measured: {error}")
    cold_start()
    live_page()
    print("\n" + "\n".join(summary))


if __name__ == "__main__":
    main()
