"""The commands fit, update and watch with `--key`: one model for each value of a column."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import typer

from ..estimators.algorithms import ALGORITHMS
from ..estimators.incremental import IncrementalClusterer
from ..many_models.model_folder import INDEX
from ..many_models.model_set import IN_MEMORY, ModelSet
from ..stream.batch import StreamError
from ..stream.job import Run
from ..stream.keyed import KeyedModels
from ..stream.metrics import served
from ..stream.resume import resume_keyed
from .console import Screen
from .load import new_model
from .options import ModelOptions
from .request import LearnRequest, learning_job, refuse_checkpoints
from .results import keep_old_events
from .setup import checkpointed, run_and_print


def learn_by_key(asked: LearnRequest, screen: Screen) -> None:
    """Learn one model for each key."""
    folder = _checked(asked)
    is_there = (folder / INDEX).exists()
    if asked.command == "update" and not is_there:
        raise StreamError(
            f"There are no models in {folder}; make some with everclust fit, or check the path."
        )
    model = None if is_there or asked.model_options is None else _template(asked.model_options)
    in_memory = asked.keys.keys_in_memory or IN_MEMORY
    with closing(ModelSet(folder, model, in_memory=in_memory)) as models:
        job = learning_job(asked, models._template, screen)
        job.keyed = KeyedModels(models)
        with checkpointed(job, asked.checkpoints, screen):
            _resume(job, asked, is_there, screen)
            with served(job, asked.metrics):
                run_and_print(job, screen, promised=asked.promised_model)


def _template(model_options: ModelOptions) -> IncrementalClusterer:
    """The estimator that every key begins with."""
    model = new_model(model_options)
    return ALGORITHMS[model._algorithm](**model._saved_params())


def _checked(asked: LearnRequest) -> Path:
    """The folder of the models; what does not go with `--key` is refused."""
    if asked.jobs is not None:
        raise typer.BadParameter("--jobs does not go with --key, whose models learn in order; leave it out.")
    refuse_checkpoints(asked.checkpoints)
    if asked.model is None:
        raise typer.BadParameter("--key needs --model, the folder of the models.")
    if asked.force:
        raise typer.BadParameter(
            f"--force does not go with --key; delete the folder {asked.model}, or choose another one."
        )
    if asked.model.exists() and not asked.model.is_dir():
        raise StreamError(
            f"{asked.model} is a file, but --key needs a folder of models; choose another path."
        )
    return asked.model


def _resume(job: Run, asked: LearnRequest, is_there: bool, screen: Screen) -> None:
    if resume_keyed(job):
        return
    if is_there and asked.command == "fit":
        raise StreamError(
            f"{asked.model} holds models of another source already; continue them with everclust update, or "
            "choose another folder."
        )
    if is_there:
        keep_old_events(job, screen)
