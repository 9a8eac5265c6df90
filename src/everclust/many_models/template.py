"""The template of a set: a model that has learnt nothing, with the parameters and features of all models."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ..estimators.algorithms import ALGORITHMS
from ..estimators.everclust import EverClust
from ..estimators.incremental import IncrementalClusterer
from .model_folder import ModelFolder


def check_template(model: IncrementalClusterer) -> None:
    """Raise an error if a model cannot be the template of a set."""
    if not isinstance(model, IncrementalClusterer) or model.__sklearn_is_fitted__():
        raise ValueError(f"model is {model!r}, but it must be an EverClust or IDAT that has learnt nothing.")
    if model._n_jobs not in (None, 1):
        raise ValueError(f"n_jobs is {model._n_jobs}, but models of a set learn in order; leave it out.")
    model._chosen_variant()


def restored_template(
    files: ModelFolder, model: IncrementalClusterer | None
) -> tuple[IncrementalClusterer, Any]:
    """The template of a set, with the features that its models have learnt, and the position."""
    if files.header is None:
        return EverClust() if model is None else clone(model), None
    template = template_of(files.header)
    given = None if model is None else (type(model), model._saved_params())
    if given not in (None, (type(template), template._saved_params())):
        raise ValueError(
            f"The models in {files.path} are {template!r}, but {model!r} was asked for; "
            "choose another folder."
        )
    return template, files.header["position"]


def header_of(template: IncrementalClusterer, position: Any) -> dict[str, Any]:
    """What is saved beside the models: their parameters and features, and the position."""
    names = getattr(template, "feature_names_in_", None)
    return {
        "algorithm": template._algorithm,
        "params": template._saved_params(),
        "n_features": getattr(template, "n_features_in_", None),
        "names": None if names is None else [str(name) for name in names],
        "position": position,
    }


def template_of(header: dict[str, Any]) -> IncrementalClusterer:
    """A model that has learnt nothing, with the parameters and the features of all models."""
    template = ALGORITHMS[header["algorithm"]](**header["params"])
    if header["n_features"] is not None:
        template.n_features_in_ = header["n_features"]
    if header["names"] is not None:
        template.feature_names_in_ = np.array(header["names"], dtype=object)
    return template
