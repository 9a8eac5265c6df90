"""Scores of a model on a stream, accumulated block by block."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from ..benchmark.run.measures import ami, ari
from ..stream.batch import StreamError
from ..stream.blocks import Block
from ..stream.job import Run


class ScoreAccumulator:
    """Similarity of rows to a model, share of novel rows, and agreement of clusters with labels."""

    def __init__(self) -> None:
        self.n, self.total, self.least, self.n_novel = 0, 0.0, 1.0, 0
        self.codes: dict[Any, int] = defaultdict(lambda: len(self.codes))
        self.clusters: dict[tuple[str, int], int] = defaultdict(lambda: len(self.clusters))
        self.found: list[np.ndarray] = []
        self.true: list[np.ndarray] = []

    def __call__(self, job: Run, block: Block) -> None:
        """Add a block."""
        if not len(block.X):
            return
        similarity, novel = _similarity(job, block), _novelty(job, block)
        self.n += len(similarity)
        self.total += float(similarity.sum())
        self.least = min(self.least, float(similarity.min()))
        self.n_novel += int(novel.sum())
        if block.labels is not None:
            self.true.append(np.array([self.codes[label] for label in block.labels], np.int32))
            self.found.append(self._clusters(job, block))

    def _clusters(self, job: Run, block: Block) -> np.ndarray:
        """Clusters of rows; those of two models are different ones."""
        if job.keyed is None:
            return job.model._predict_rows(block.X)
        found = zip(block.keys or [], job.keyed.predict(block), strict=True)
        return np.array([self.clusters[key_and_id] for key_and_id in found], np.int64)

    def result(self) -> dict[str, Any]:
        """The scores of all rows so far."""
        if not self.n:
            raise StreamError(
                "The source has no complete row, so there is nothing to score; check the source."
            )
        record: dict[str, Any] = {
            "mean similarity": self.total / self.n,
            "least similarity": self.least,
            "novel": self.n_novel / self.n,
        }
        if self.true:
            true, found = np.concatenate(self.true), np.concatenate(self.found)
            record |= {"classes": len(self.codes), "ARI": ari(true, found), "AMI": ami(true, found)}
        return record


def _similarity(job: Run, block: Block) -> np.ndarray:
    if job.keyed is None:
        return job.model._score_rows(block.X)
    return np.array(job.keyed.similarity(block))


def _novelty(job: Run, block: Block) -> np.ndarray:
    if job.keyed is None:
        return job.model._novel_rows(block.X)
    return np.array(job.keyed.novel(block))
