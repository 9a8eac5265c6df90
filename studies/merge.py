"""Study of merging, printed by `python -m studies.merge`: models learnt apart against one that saw all.

AMI on all rows less that of the single model, over nine data sets, and its standard error. *random*: shuffled
rows in equal shards; *class*: rows sorted by class, so that shards see different classes. Arguments: number
of seeds, names of data sets.
"""

import sys
from collections.abc import Iterator

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score

from benchmarks.speed.data import data_set
from everclust import IDAT, EverClust, merge, recount

NAMES = (
    *("msra25_256", "phoneme", "texture", "optdigits", "statlog", "penbased", "letter", "shuttle", "synth2d"),
)
SHARDS = (2, 4, 8, 16)
MOST_BASE, ROWS_A_NODE = 2000, 20  # as docs/merging.md recommends
WAYS = ("first shard alone", "match, no base", "+ 20 rows", "fork", "fork + 20 rows")

Model = type[IDAT] | type[EverClust]
Scores = dict[str, float]


def stream(name: str, order: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and classes, shuffled, or shuffled within classes that come in random order."""
    X, y = data_set(name)
    y = np.unique(y, return_inverse=True)[1]
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))
    if order == "class":
        rank = rng.permutation(int(y.max()) + 1)
        rows = rows[np.argsort(rank[y[rows]], kind="stable")]
    return np.ascontiguousarray(X[rows], float), y[rows]


def compare(X: np.ndarray, y: np.ndarray, model: Model, n_shards: int, seed: int) -> Scores:
    """AMI of each way to learn the rows in shards."""
    shards = np.array_split(X, n_shards)
    n_heads = min(MOST_BASE, len(X) // 4) // n_shards  # the base's rows, evenly from the heads of the shards
    base = model().partial_fit(np.concatenate([shard[:n_heads] for shard in shards]))
    forks = [base.fork().partial_fit(shard[n_heads:]) for shard in shards]
    apart = [model().partial_fit(shard) for shard in shards]
    merged = {"fork": merge(forks, base), "match, no base": merge(apart)}
    rng = np.random.default_rng(seed)
    scores = {"first shard alone": score(apart[0], X, y)}
    for way, found in merged.items():
        n_rows = min(ROWS_A_NODE * found.n_nodes_, len(X))
        again = recount(found, X[rng.choice(len(X), n_rows, replace=False)])
        scores[way] = score(found, X, y)
        scores["fork + 20 rows" if way == "fork" else "+ 20 rows"] = score(again, X, y)
    return scores


def score(model: IDAT | EverClust, X: np.ndarray, y: np.ndarray) -> float:
    """AMI on all rows."""
    return adjusted_mutual_info_score(y, model.predict(X))


def runs(names: list[str], seeds: range) -> Iterator[tuple[str, str, int, Scores]]:
    """(estimator, order, shards, differences to the single model) of every run."""
    for seed in seeds:
        for name in names:
            for order in ("random", "class"):
                X, y = stream(name, order, seed)
                for model in (EverClust, IDAT):
                    single = score(model().partial_fit(X), X, y)
                    yield model.__name__, order, 1, {"single": single}
                    for n_shards in SHARDS:
                        found = compare(X, y, model, n_shards, seed)
                        differences = {way: ami - single for way, ami in found.items()}
                        cells = " ".join(f"{differences[way]:+.3f}" for way in WAYS)
                        print(name, order, seed, model.__name__, n_shards, f"{single:.3f}", cells, flush=True)
                        yield model.__name__, order, n_shards, differences


def mean_and_error(values: list[float]) -> str:
    """A mean and its standard error."""
    return f"{np.mean(values):+.3f} ± {np.std(values, ddof=1) / len(values) ** 0.5:.3f}"


def main(n_seeds: int = 2, *names: str) -> None:
    """Run all and print a table of means for each estimator."""
    found = list(runs(list(names or NAMES), range(n_seeds)))
    for model in ("EverClust", "IDAT"):
        print(f"\n| {model} | {' | '.join(WAYS)} |\n|---|{'---|' * len(WAYS)}")
        for order in ("random", "class"):
            these = [run for run in found if run[:2] == (model, order)]
            single = np.mean([scores["single"] for *_, n, scores in these if n == 1])
            for n_shards in SHARDS:
                rows = [scores for *_, n, scores in these if n == n_shards]
                cells = " | ".join(mean_and_error([row[way] for row in rows]) for way in WAYS)
                print(f"| {order} {n_shards} (single {single:.3f}) | {cells} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])  # type: ignore[arg-type]
