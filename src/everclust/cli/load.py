"""The model that a command begins with: a new one, a file, or one of a folder."""

from __future__ import annotations

from pathlib import Path

import typer

from ..estimators.clusterer import Clusterer
from ..estimators.without_sklearn import CLUSTERERS, HandoverClusterer, load_clusterer
from ..stream.batch import StreamError
from ..stream.columns import listed
from ..text import counted
from .options import ModelOptions


def new_model(model_options: ModelOptions) -> Clusterer:
    """A model that has learnt nothing."""
    algorithm, metric = model_options.algorithm, model_options.metric
    if algorithm not in CLUSTERERS:
        raise typer.BadParameter(f"--algorithm is {algorithm!r}, but it must be {' or '.join(CLUSTERERS)}.")
    if metric is None:
        return CLUSTERERS[algorithm](max_nodes=model_options.max_nodes)
    if algorithm == "idat":
        raise typer.BadParameter("--metric does not go with --algorithm idat, which is always Euclidean.")
    return HandoverClusterer(metric=metric, max_nodes=model_options.max_nodes)


def load_model(path: Path) -> Clusterer:
    """Load a model that must exist."""
    if not path.exists():
        raise StreamError(f"There is no model {path}; make one with everclust fit, or check the path.")
    if path.is_dir():
        raise StreamError(
            f"{path} is a folder; if it holds models by key, name the column of the keys with --key of fit, "
            "update, watch, predict or score; info, report, plot and export show one of them with --of KEY."
        )
    return load_clusterer(path)


def load_one(path: Path, key: str | None) -> Clusterer:
    """Load a model from its file or, by its key, from a folder of models."""
    if not path.is_dir():
        if key is not None:
            raise StreamError(f"--of chooses from a folder of models, but {path} is none; leave --of out.")
        return load_model(path)
    from ..many_models.saved_models import SavedModels  # imports scikit-learn, which takes seconds

    models = SavedModels(path, 1)
    found = None if key is None else models.model(key)
    if found is None:
        keys = sorted(map(str, models.files))
        what = f"{path} holds {counted(len(models), 'model')} by key"
        there = f"{what} and none of {key!r}" if key is not None else what
        raise StreamError(f"{there}; choose one with --of KEY, which may be {listed(keys)}.")
    return found


def load_model_if_exists(path: Path | None) -> Clusterer | None:
    """Load a model if its file exists."""
    return load_model(path) if path is not None and path.exists() else None
