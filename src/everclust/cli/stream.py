"""Commands that learn and answer streams: fit, update, watch, predict, score."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from . import options as options
from .console import Screen, lines, told
from .option_groups import spelt_out

if TYPE_CHECKING:
    from ..stream.job import Run, Summary


@spelt_out
def fit(
    source: options.SourceUrl,
    model: options.ModelFile,
    *,
    force: options.Force = False,
    modes: options.Modes,
    id: options.Id = None,
    reading: options.Reading,
    stretch: options.Stretch,
    keeping: options.Keeping,
    results: options.Results,
    json: options.Json = False,
) -> None:
    """Learn a new model from a stream."""
    screen = Screen(json, results.take_stdout)
    with told(screen):
        from ..estimators.idat import IDAT
        from ..stream.resume import resume
        from .dominance import Dominance
        from .setup import add_results, carry_out, checkpointed, job_of, refuse_to_replace

        job = job_of(IDAT(**asdict(modes)), source, reading, stretch, id)
        job.model_path = model
        add_results(job, results)
        with checkpointed(job, keeping, screen):
            is_new = resume(job) is None
            if is_new:
                refuse_to_replace(model, force)
            carry_out(job, screen, Dominance(screen.warn) if is_new and modes.metric == "euclidean" else None)


@spelt_out
def update(
    source: options.SourceUrl,
    model: options.ModelFile,
    *,
    id: options.Id = None,
    reading: options.Reading,
    stretch: options.Stretch,
    keeping: options.Keeping,
    results: options.Results,
    json: options.Json = False,
) -> None:
    """Go on learning with a model; columns are matched by name."""
    screen = Screen(json, results.take_stdout)
    with told(screen):
        from ..stream.resume import resume
        from .setup import add_results, carry_out, checkpointed, job_of, loaded, refuse_to_forget

        known = loaded(model)
        job = job_of(known, source, reading, stretch, id)
        job.model_path = model
        add_results(job, results)
        with checkpointed(job, keeping, screen):
            if resume(job) is not None:
                refuse_to_forget(job, known)
            carry_out(job, screen)


@spelt_out
def watch(
    source: options.SourceUrl,
    *,
    model: options.OptionalModel = None,
    reading: options.Reading,
    stretch: options.Stretch,
    keeping: options.Keeping,
    json: options.Json = False,
) -> None:
    """Learn a stream and say what happens to the clusters, as it happens."""
    screen = Screen(json, stdout_taken=True)
    with told(screen):
        from ..estimators.idat import IDAT
        from ..stream.resume import resume
        from ..stream.sinks.events import open_event_sink
        from .progress import Sentences
        from .setup import carry_out, checkpointed, job_of, loaded_if_there, refuse_to_forget

        known = loaded_if_there(model)
        job = job_of(known or IDAT(), source, reading, stretch)
        job.model_path = model
        job.event_sinks = [open_event_sink("-") if json else Sentences()]
        with checkpointed(job, keeping, screen):
            if resume(job) is not None:
                refuse_to_forget(job, known)
            carry_out(job, screen)


@spelt_out
def predict(
    source: options.SourceUrl,
    model: options.ModelFile,
    *,
    out: options.Answers = "-",
    similarity: options.Similarity = False,
    id: options.Id = None,
    reading: options.Reading,
    stretch: options.Stretch,
    keeping: options.Keeping,
    json: options.Json = False,
) -> None:
    """Say which cluster each row belongs to. The model does not change."""
    screen = Screen(json, out == "-")
    with told(screen):
        from ..stream.resume import resume
        from ..stream.sinks.rows import open_sink
        from .setup import carry_out, checkpointed, heads_of, job_of, loaded

        job = job_of(loaded(model), source, reading, stretch, id)
        job.learns, job.similarity = False, similarity
        heads = [*heads_of(job), *(["similarity"] if similarity else [])]
        job.answers = open_sink(out, heads, "jsonl" if json and out == "-" else None)
        with checkpointed(job, keeping, screen):
            resume(job)
            carry_out(job, screen)


@spelt_out
def score(
    source: options.SourceUrl,
    model: options.ModelFile,
    *,
    reading: options.Reading,
    stretch: options.Stretch,
    json: options.Json = False,
) -> None:
    """Measure how well a model knows a stream, and, with --label, how well its clusters agree with it."""
    screen = Screen(json)
    with told(screen):
        from .scoring import Tally
        from .setup import carry_out, job_of, loaded

        known = loaded(model)
        job = job_of(known, source, reading, stretch)
        job.learns = False
        tally = Tally(known)

        def tell(job: Run, summary: Summary) -> tuple[dict[str, Any], str]:
            record = {"rows": summary.rows, "skipped": summary.skipped, **tally.result()}
            return record, lines(record)

        carry_out(job, screen, tally, tell)
