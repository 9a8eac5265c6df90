"""Study of novelty scores, printed by `make novelty`: AUC for anomalies in a stream and for unseen classes.

Stream: Shuttle in stored order and in three shuffles; every block of rows is scored, then learnt. The
majority class is normal, all others are anomalies; class "High" (15 % of the rows) is in the stream or left
out, a common variant. Unseen classes: a model learns four fifths of all classes but one in random order; the
other fifth is held against the class that it never saw. docs/novelty.md has the results.
"""

import sys
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from benchmarks.speed.data import data_set
from everclust import IDAT, EverClust
from everclust.model.novelty import are_novel, take_known

BLOCK, REFIT = 100, 1000  # rows that are scored before they are learnt; after so many others are fitted anew
LATEST = 5000  # rows that LocalOutlierFactor is fitted on: it keeps them all
ORDERS = (None, 0, 1, 2)  # stored order, and seeds of shuffles
HIGH = 3  # Shuttle's second class
FEWEST = 5  # rows of a class that is left out
CHOSEN_ON = [
    "image_segmentation",
    "semeion",
    "texture",
    "optdigits",
    "statlog",
    "penbased",
    "letter",
    "yeast",
]
CONFIRMED_ON = [
    *("iris", "seeds", "dermatology", "mice_protein_uci"),
    *("binalpha", "msra25_256", "anuran_calls", "isolet"),
]

Scores = Iterator[np.ndarray]


def everclust() -> EverClust:
    """The estimator that is shown first; scores do not depend on its clusters."""
    return EverClust()


def score(model: EverClust | IDAT, X: np.ndarray) -> np.ndarray:
    """Low means novel."""
    return model.score_samples(X)


def score_then_learn(new: Callable[[], EverClust | IDAT], X: np.ndarray) -> Scores:
    """Scores of all blocks but the first."""
    model = new().partial_fit(X[:BLOCK])
    for start in range(BLOCK, len(X), BLOCK):
        yield score(model, X[start : start + BLOCK])
        model.partial_fit(X[start : start + BLOCK])


def score_then_refit(new: Callable[[], IsolationForest], n_latest: int | None, X: np.ndarray) -> Scores:
    """The same of an estimator that is fitted on the past, or the latest rows of it, now and then."""
    for start in range(BLOCK, len(X), BLOCK):
        if start == BLOCK or start % REFIT == 0:
            past = X[:start] if n_latest is None else X[max(0, start - n_latest) : start]
            model = new().fit(past)
        yield model.score_samples(X[start : start + BLOCK])


def half_space_trees(X: np.ndarray) -> Scores:
    """River's HalfSpaceTrees behind its MinMaxScaler, as its documentation shows it."""
    from river.anomaly import HalfSpaceTrees
    from river.preprocessing import MinMaxScaler

    model = MinMaxScaler() | HalfSpaceTrees(seed=0)
    for i, values in enumerate(X.tolist()):
        row = dict(enumerate(values))
        if i >= BLOCK:
            yield np.array([-model.score_one(row)])
        model.learn_one(row)


STREAM: dict[str, Callable[[np.ndarray], Scores]] = {
    "EverClust": lambda X: score_then_learn(everclust, X),
    "IDAT": lambda X: score_then_learn(IDAT, X),
    "HalfSpaceTrees": half_space_trees,
    "IsolationForest": lambda X: score_then_refit(lambda: IsolationForest(random_state=0), None, X),
    "LocalOutlierFactor": lambda X: score_then_refit(lambda: LocalOutlierFactor(novelty=True), LATEST, X),
}


def study_stream(names: list[str]) -> None:
    """AUC for Shuttle's anomalies."""
    X, y = data_set("shuttle")
    for title, rows in (
        ("without class High", np.flatnonzero(y != HIGH)),
        ("all classes", np.arange(len(y))),
    ):
        for name in names:
            found = []
            for seed in ORDERS:
                order = rows if seed is None else rows[np.random.default_rng(seed).permutation(len(rows))]
                scores = np.concatenate(list(STREAM[name](X[order])))
                found.append(roc_auc_score(y[order[BLOCK:]] != 0, -scores))
            print(f"  {title:20} {name:20}", *(f"{auc:.3f}" for auc in found), flush=True)


def split(X: np.ndarray, y: np.ndarray, unseen: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows to learn, rows to score, and whether these are of the unseen class."""
    known = np.random.default_rng(1000 * seed + unseen).permutation(np.flatnonzero(y != unseen))
    n_learnt = len(known) * 4 // 5
    scored = np.concatenate([known[n_learnt:], np.flatnonzero(y == unseen)])
    return X[known[:n_learnt]], X[scored], y[scored] == unseen


def standardised_lof(learnt: np.ndarray, X: np.ndarray) -> np.ndarray:
    """LocalOutlierFactor on features of equal spread."""
    scaler = StandardScaler().fit(learnt)
    return lof(scaler.transform(learnt), scaler.transform(X))


def lof(learnt: np.ndarray, X: np.ndarray) -> np.ndarray:
    """LocalOutlierFactor, which keeps all rows."""
    return LocalOutlierFactor(novelty=True).fit(learnt).score_samples(X)


UNSEEN: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "EverClust": lambda learnt, X: score(everclust().partial_fit(learnt), X),
    "IDAT": lambda learnt, X: score(IDAT().partial_fit(learnt), X),
    "IsolationForest": lambda learnt, X: IsolationForest(random_state=0).fit(learnt).score_samples(X),
    "LocalOutlierFactor": lof,
    "the same, standardised": standardised_lof,
}


def study_unseen(names: list[str], sets: list[str], seed: int) -> None:
    """Mean AUC over the classes of each set."""
    print(" ", *sets)
    for name in names:
        found = []
        for data in sets:
            X, y = data_set(data)
            aucs = []
            for unseen in np.flatnonzero(np.bincount(y) >= FEWEST):
                learnt, scored, is_unseen = split(X.astype(float), y, int(unseen), seed)
                aucs.append(roc_auc_score(is_unseen, -UNSEEN[name](learnt, scored)))
            found.append(np.mean(aucs))
        print(f"  {name:24}", *(f"{auc:.3f}" for auc in found), f"mean {np.mean(found):.3f}", flush=True)


def study_novel(sets: list[str], seed: int) -> None:
    """Share of the rows that `are_novel` tells, of known classes and of the unseen one."""
    for data in sets:
        X, y = data_set(data)
        shares = []
        for unseen in np.flatnonzero(np.bincount(y) >= FEWEST):
            learnt, scored, is_unseen = split(X.astype(float), y, int(unseen), seed)
            told = are_novel(take_known(everclust().partial_fit(learnt)._learner.state), scored)
            shares.append((told[~is_unseen].mean(), told[is_unseen].mean()))
        known, new = 100 * np.mean(shares, axis=0)
        print(f"  {data:20} known {known:.1f} %, unseen {new:.1f} %", flush=True)


if __name__ == "__main__":
    wanted = sys.argv[1:]  # names of methods; without any, all
    print("Shuttle, score then learn, AUC: stored order, three shuffles")
    study_stream([name for name in STREAM if not wanted or name in wanted])
    chosen = [name for name in UNSEEN if not wanted or name in wanted]
    print("\nUnseen classes, mean AUC: sets that the score was chosen on")
    study_unseen(chosen, CHOSEN_ON, seed=0)
    print("\nUnseen classes, mean AUC: other sets")
    study_unseen(chosen, CONFIRMED_ON, seed=5)
    print("\nRows that would found a node (EverClust)")
    study_novel(CHOSEN_ON + CONFIRMED_ON, seed=0)
