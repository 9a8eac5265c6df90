"""The two algorithms without scikit-learn, which takes longer to import than a small file takes to learn."""

from pathlib import Path
from typing import ClassVar

from ..core.variants import REFINED
from ..model.clusters import COMPONENTS, HANDOVER
from ..model.file import read_model
from ..model.file_checks import Form
from .clusterer import Clusterer


class HandoverClusterer(Clusterer):
    """What `EverClust` learns and how it finds clusters: by hand-overs between nodes."""

    _title = "EverClust"
    _algorithm = "everclust"
    _clusters = HANDOVER
    _variant = REFINED
    _choices: ClassVar = {"metric": ("capped", "euclidean")}
    _saved = ("metric", "max_nodes")

    def __init__(
        self, *, metric: str = "capped", max_nodes: int | None = None, n_jobs: int | None = None
    ) -> None:
        self.metric = metric
        self.max_nodes = max_nodes
        self.n_jobs = n_jobs

    @property
    def _metric(self) -> str:
        return self.metric

    @property
    def _n_jobs(self) -> int | None:
        return self.n_jobs


class ComponentClusterer(Clusterer):
    """What `IDAT` learns and how it finds clusters: as connected components of active nodes."""

    _title = "IDAT"
    _algorithm = "idat"
    _clusters = COMPONENTS
    _choices: ClassVar = {}
    _saved = ("max_nodes",)
    _metric = "euclidean"  # read for every sample, and faster than a property
    _n_jobs = None

    def __init__(self, *, max_nodes: int | None = None) -> None:
        self.max_nodes = max_nodes


CLUSTERERS: dict[str, type[HandoverClusterer] | type[ComponentClusterer]] = {
    clusterer._algorithm: clusterer for clusterer in (HandoverClusterer, ComponentClusterer)
}
for _clusterer in CLUSTERERS.values():  # what Python calls it when a parameter is unknown
    _clusterer.__init__.__qualname__ = f"{_clusterer._title}.__init__"
FORMS = {name: Form(clusterer._clusters, clusterer._choices) for name, clusterer in CLUSTERERS.items()}


def load_clusterer(path: str | Path) -> HandoverClusterer | ComponentClusterer:
    """`everclust.load` without scikit-learn."""
    stored = read_model(path, FORMS)
    return CLUSTERERS[stored.algorithm]._from_file(stored)
