"""What fit, update and watch have in common: a request of the command line is checked and run."""

from __future__ import annotations

import typer

from ..estimators.clusterer import Clusterer
from ..stream.job import Run
from ..stream.metrics import served
from ..stream.resume import resume
from .console import Screen
from .dominance import Dominance
from .load import load_model, load_model_if_exists, new_model
from .options import ModelOptions
from .refusals import refuse_to_forget, refuse_to_replace, refuse_to_replace_another
from .request import LearnRequest, learning_job
from .results import keep_old_events
from .setup import checkpointed, run_and_print, use_jobs


def learn(asked: LearnRequest, screen: Screen) -> None:
    """Learn one model, or one for each key."""
    if asked.command == "watch" and asked.results.use_stdout:
        raise typer.BadParameter(
            "watch prints events to standard output; write predictions to a file, and leave --events - out."
        )
    if asked.keys.key is not None:
        from .keyed import learn_by_key  # imports scikit-learn, which takes seconds

        learn_by_key(asked, screen)
    else:
        _learn_one(asked, screen)


def _learn_one(asked: LearnRequest, screen: Screen) -> None:
    known = _known(asked)
    model = known or new_model(asked.model_options or ModelOptions())
    job = learning_job(asked, model, screen)
    use_jobs(job, asked.jobs)
    with checkpointed(job, asked.checkpoints, screen):
        is_resumed = resume(job) is not None
        _refuse(job, asked, known, is_resumed)
        if known is not None:
            keep_old_events(job, screen)
        is_plain = asked.command == "fit" and not is_resumed and job.model._metric == "euclidean"
        with served(job, asked.metrics):
            run_and_print(
                job, screen, Dominance(screen.warn) if is_plain else None, promised=asked.promised_model
            )


def _known(asked: LearnRequest) -> Clusterer | None:
    """The model that goes on; fit begins a new one."""
    if asked.command == "fit":
        return None
    if asked.command == "watch":
        return load_model_if_exists(asked.model)
    assert asked.model is not None
    return load_model(asked.model)


def _refuse(job: Run, asked: LearnRequest, known: Clusterer | None, is_resumed: bool) -> None:
    """Raise an error where a model would be lost."""
    if is_resumed and asked.command != "fit":
        refuse_to_forget(job, known)
    elif is_resumed:
        refuse_to_replace_another(job, asked.force)
    elif asked.command == "fit" and asked.model is not None:
        refuse_to_replace(asked.model, asked.force)
