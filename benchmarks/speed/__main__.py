"""How fast is everclust? `make bench` prints this: one process, one thread, CPU time, best of several."""

import subprocess
import sys
import tempfile
import time
import timeit
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from pyarrow.csv import write_csv
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

from benchmarks.speed.data import class_incremental, data_set
from benchmarks.speed.lower_bound import in_lanes, in_rows
from benchmarks.speed.overhead import costs
from everclust import IDAT
from everclust.cli.options import ColumnOptions, RangeOptions
from everclust.cli.setup import job_of
from everclust.core.communities.communities import base_nodes, links_of
from everclust.core.communities.valleys import base_labels
from everclust.jit.blocks import pack
from everclust.stream.run import run

REPEATS = 9
IRIS = "from sklearn.datasets import load_iris as i; from everclust import IDAT; IDAT().fit_predict(i().data)"

summary: list[str] = []


def conclude(what: str, value: float, aim: float, unit: str = "", *, at_least: bool = False) -> None:
    """Keep a figure for the table at the end."""
    met = value >= aim if at_least else value <= aim
    bound = "at least" if at_least else "at most"
    summary.append(f"{what:62} {value:8.2f} {unit:3} ({bound} {aim:g}) {'' if met else 'NOT MET'}")


def cpu_time(task: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Seconds of this process, or of another clock."""
    start = clock()
    task()
    return clock() - start


def best(
    *tasks: Callable[[], object],
    repeats: int = REPEATS,
    clock: Callable[[], float] = time.process_time,
) -> list[float]:
    """CPU seconds of the fastest run of each; taken in turns, so that a slow spell hits all of them."""
    return np.min([[cpu_time(task, clock) for task in tasks] for _ in range(repeats)], axis=0).tolist()


def in_batches(model: IDAT | MiniBatchKMeans, X: np.ndarray, size: int) -> None:
    """Learn X in batches of a size."""
    for start in range(0, len(X), size):
        model.partial_fit(X[start : start + size])


def against_mini_batch_k_means() -> None:
    """Samples per second on digits, tiled and shuffled to 100,000 rows, in batches of 100."""
    digits = load_digits().data
    X = np.tile(digits, (100_000 // len(digits) + 1, 1))[:100_000]
    X = X[np.random.default_rng(0).permutation(len(X))]
    ours, theirs = best(
        lambda: in_batches(IDAT(), X, 100),
        lambda: in_batches(MiniBatchKMeans(n_clusters=8, n_init=1, random_state=0), X, 100),
    )
    nodes = IDAT().partial_fit(X).n_nodes_
    print(f"digits 100,000 x 64 in batches of 100: {1e5 / ours:,.0f} samples/s with {nodes} nodes,")
    print(f"  MiniBatchKMeans(n_clusters=8) {1e5 / theirs:,.0f} samples/s")
    conclude("digits: speed relative to MiniBatchKMeans(8)", theirs / ours, 3, at_least=True)


def node_counts(X: np.ndarray) -> np.ndarray:
    """Number of nodes that each sample of the stream meets."""
    model, counts = IDAT().partial_fit(X[:1]), [3]
    for i in range(1, len(X)):
        counts.append(max(3, model.n_nodes_))
        model.partial_fit(X[i : i + 1])
    return np.array(counts)


def against_the_floor() -> None:
    """Whole learning against a loop that only searches as many nodes."""
    print("\nclass by class: whole learning against loops that only find the two nearest of as many nodes")
    for name in ("optdigits", "letter", "isolet"):
        X = class_incremental(*data_set(name), seed=0)
        counts = node_counts(X)
        points = X[np.random.default_rng(0).permutation(len(X))[: -(-counts.max() // 64) * 64]].copy()
        blocks, fours = pack(points), -(-counts // 4) * 4
        in_rows(X[:2], points, fours), in_lanes(X[:2], blocks, counts)
        ours, rows, lanes = best(
            lambda X=X: IDAT().partial_fit(X),
            lambda X=X, p=points, c=fours: in_rows(X, p, c),
            lambda X=X, b=blocks, c=counts: in_lanes(X, b, c),
        )
        print(f"  {name:10} {ours * 1e3:6.1f} ms; in rows {rows * 1e3:.1f} ms, abreast {lanes * 1e3:.1f} ms")
        conclude(f"{name}: learning relative to the faster of the two floors", ours / min(rows, lanes), 1.5)


def absolute_times() -> None:
    """CPU time of class-incremental streams."""
    print("\nclass by class: CPU time of whole learning")
    aims = {"optdigits": 45, "letter": 100, "skin": 400, "shuttle": 400, "isolet": 800}
    for name, aim in aims.items():
        X = class_incremental(*data_set(name), seed=0)
        (took,) = best(lambda X=X: IDAT().partial_fit(X))
        nodes = IDAT().partial_fit(X).n_nodes_
        print(f"  {name:10} {len(X):7,} x {X.shape[1]:<3} {took * 1e3:6.1f} ms, {nodes} nodes")
        conclude(f"{name}: CPU time", took * 1e3, aim, "ms")


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
    batch = np.median(timeit.repeat(lambda: model.partial_fit(next(rows)[None]), number=1, repeat=3000)) * 1e6
    single = np.median(timeit.repeat(lambda: model.learn_one(next(rows)), number=1, repeat=3000)) * 1e6
    print(f"\none row at a time, 16 features, {nodes} nodes:")
    print(f"  partial_fit {batch:.1f} µs, learn_one {single:.1f} µs")
    conclude("one row by partial_fit, median", batch, 40, "µs")
    conclude("one row by learn_one, median", single, 20, "µs")


def passengers() -> None:
    """Hand-overs and identities, which learning itself does not need."""
    found = costs()
    print("\nwhat is recorded besides, as a share of the learning time")
    for part, aim in (("handovers", 3), ("identities", 5)):
        for name, share in found[part].items():
            conclude(f"{name}: {part}", 100 * share, aim, "%")
    print("  " + ", ".join(f"{name}: {n} events" for name, n in found["events"].items()))


def read_outs() -> None:
    """Hand-over clusters of a thousand nodes with 64 features, and all that a model shows after a sample."""
    print("\nhand-over clusters: Gaussians in 8 dimensions, laid into 64 features")
    rng = np.random.default_rng(0)
    into = rng.normal(size=(8, 64))
    for n_clusters in (5, 20):
        read_out(3 * rng.normal(size=(n_clusters, 8)), into, rng)


def read_out(centres: np.ndarray, into: np.ndarray, rng: np.random.Generator) -> None:
    """One such model."""

    def samples(n: int) -> np.ndarray:
        return (centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, 8))) @ into

    model = IDAT(clusters="handover")
    while model.partial_fit(samples(5000)).n_nodes_ < 1000:
        pass
    state, rows = model._learner.state, iter(samples(1000))
    base = base_nodes(state)
    labels, picture = best(
        lambda: base_labels(state, base, links_of(state, base)),
        lambda: model.learn_one(next(rows)).node_labels_,
        repeats=200,
        clock=time.perf_counter,
    )
    nodes = f"{model.n_nodes_} nodes in {model.n_clusters_} clusters"
    print(
        f"  {nodes}, {len(links_of(state, base)):,} pairs with hand-overs: {labels * 1e3:.1f} ms; "
        f"with all that a model shows {picture * 1e3:.1f} ms"
    )
    conclude(f"{nodes}: read-out", labels * 1e3, 5, "ms")


def the_pipe(n_rows: int = 400_000) -> None:
    """A file of 8 columns to a model, as `everclust fit` does it, against the same rows in memory."""
    rng = np.random.default_rng(0)
    X = 10 * rng.normal(size=(20, 8))[rng.integers(20, size=n_rows)] + rng.normal(size=(n_rows, 8))
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rows.csv"
        write_csv(pa.table({f"x{j}": column for j, column in enumerate(X.T)}), path)
        learner, pipe = best(
            lambda: IDAT().partial_fit(X),
            lambda: run(job_of(IDAT(), path, ColumnOptions(), RangeOptions())),
            clock=time.perf_counter,
        )
    print(f"\nCSV with 8 columns: {n_rows / pipe:,.0f} rows/s, rows in memory {n_rows / learner:,.0f}/s")
    conclude("CSV to model relative to learning alone", learner / pipe, 0.6, at_least=True)


def no_hidden_growth() -> None:
    """20 Gaussians in 8 dimensions for 5 million samples: cost and memory per node after each million.

    Models of all ages take turns with the same samples: a slow minute of the machine slows all of them.
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
    conclude("cost per node after the first million, relative to it", max(per_node[1:]) / per_node[0], 1.2)


def cold_start() -> None:
    """From `python` to labels of Iris, without and with compiled code on the disk."""
    with tempfile.TemporaryDirectory() as cache:
        times = []
        for _ in range(3):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", IRIS], env={"NUMBA_CACHE_DIR": cache}, check=True)
            times.append(time.perf_counter() - start)
    print(f"\nfrom python to the labels of Iris: first {times[0]:.1f} s, then {min(times[1:]):.1f} s")
    conclude("first process ever", times[0], 15, "s")
    conclude("later processes", min(times[1:]), 4, "s")


def main() -> None:
    """All of it; what needs a data set that is not there is passed over and says so."""
    IDAT().fit(np.random.default_rng(0).normal(size=(300, 3)))  # compile or load
    for part in (
        against_mini_batch_k_means,
        against_the_floor,
        absolute_times,
        one_at_a_time,
        passengers,
        read_outs,
        the_pipe,
        no_hidden_growth,
    ):
        try:
            with threadpool_limits(1):
                part()
        except FileNotFoundError as error:
            print(f"\nnot measured: {error}")
    cold_start()
    print("\n" + "\n".join(summary))


if __name__ == "__main__":
    main()
