"""Record what hand-over clusters must be: the slow twin of the read-out on the nodes of a golden trace.

    PYTHONPATH=tests python tools/record_handover_traces.py

Reads the data sets from EVERCLUST_DATA. In every file tests/data/golden/*_handover*.npz it keeps the order of
the rows and the learnt nodes, and writes `base_labels`, the clusters of the candidates, and `labels`, the
clusters of all rows, as the slow twin finds them given its previous answer, of every 1,000 samples.
"""

import re
import sys
from pathlib import Path

import numpy as np

from oracles import handover as slow
from oracles import valleys
from support.paths import DATA, DATA_FOLDERS

UPDATE_INTERVAL = 1000


def record(path: Path) -> None:
    """Learn the stream with the slow twin, and write its answer into the file."""
    with np.load(path) as file:
        golden = {key: file[key] for key in file.files}
    name = re.sub(r"_(stationary|class_incremental)_\d+_\w+$", "", path.stem)
    X = np.load(next(f for f in (folder / f"{name}.npz" for folder in DATA_FOLDERS) if f.exists()))["X"]
    X = np.ascontiguousarray(X, dtype=float)
    twin = Remembering(capped=path.stem.endswith("_capped"))
    for x in X[golden["order"]]:
        twin.learn(x)
    np.testing.assert_array_equal(twin.usage, golden["usage"])
    np.testing.assert_allclose(twin.prototype, golden["prototype"], rtol=0, atol=1e-9)
    labels = twin.answer()
    base = slow.candidates(twin.usage)
    golden["base"] = np.array(base)
    golden["base_labels"] = np.array([labels[k] for k in base])
    golden["labels"] = np.array(twin.labels_of(X, labels))
    np.savez_compressed(path, **golden)


class Remembering(slow.HandoverOracle):
    """The slow twin with an answer every 1,000 samples, which the next one takes into account."""

    def __init__(self, **mode: bool) -> None:
        super().__init__(**mode)
        self.before: list[int] = []

    def learn(self, x: np.ndarray) -> None:
        super().learn(x)
        if self.n_seen % UPDATE_INTERVAL == 0:
            self.before = self.answer()

    def keep_only(self, kept: list[int]) -> None:
        before = self.known()
        super().keep_only(kept)
        self.before = [before[k] for k in kept]

    def known(self) -> list[int]:
        """Of nodes that are new since the last answer nothing is known."""
        return self.before + [valleys.UNKNOWN] * (len(self.prototype) - len(self.before))

    def answer(self) -> list[int]:
        share = (self.n_seen - 1) // UPDATE_INTERVAL * UPDATE_INTERVAL / self.n_seen
        return valleys.read_out(
            self.prototype, self.usage, self.handover, self.feature_weight, self.known(), share
        )

    def labels_of(self, X: np.ndarray, labels: list[int]) -> list[int]:
        base = slow.candidates(self.usage)
        root = np.sqrt(self.feature_weight)
        nodes = np.array(self.prototype)[base] * root
        clusters = [labels[k] for k in base]
        weights = valleys.vote_weights(slow.between(self.handover, base), clusters)
        return [valleys.vote(nodes, clusters, weights, x * root) for x in X]


if __name__ == "__main__":
    for trace in sorted((DATA / "golden").glob("*_handover*.npz")):
        record(trace)
        sys.stdout.write(f"{trace.name}\n")
        sys.stdout.flush()
