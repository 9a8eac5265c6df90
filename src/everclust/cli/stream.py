"""Commands that learn and answer streams: fit, update, watch, predict, score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..stream.locks import only_writer
from . import options as options
from .console import Screen, exit_on_error, lines
from .option_groups import expand_groups

if TYPE_CHECKING:
    from ..stream.job import Run, Summary


@expand_groups
def fit(
    source: options.SourceUrl,
    model: options.ModelPath,
    *,
    force: options.Force = False,
    model_options: options.ModelOptions,
    id: options.Id = None,
    key_options: options.KeyOptions,
    column_options: options.ColumnOptions,
    bad_row_options: options.BadRowOptions,
    range_options: options.RangeOptions,
    checkpoint_options: options.CheckpointOptions,
    jobs: options.Jobs = None,
    results: options.Results,
    alert_options: options.AlertOptions,
    metrics: options.Metrics = None,
    config: options.Config = None,
    log_format: options.LogFormat = None,
    json: options.Json = False,
) -> None:
    """Learn a new model from a stream."""
    screen = Screen(json, results.use_stdout, log_format)
    with exit_on_error(screen), only_writer(model):
        if key_options.key is not None:
            from .keyed import KeyedRequest, run_keyed

            asked = KeyedRequest(
                "fit",
                source,
                model,
                key_options,
                column_options,
                range_options,
                bad_row_options,
                checkpoint_options,
                model_options=model_options,
                results=results,
                id=id,
                jobs=jobs,
                force=force,
                metrics=metrics,
                alerts=alert_options,
            )
            run_keyed(asked, screen)
            return
        from ..stream.metrics import served
        from ..stream.resume import resume
        from .dominance import Dominance
        from .results import add_alerts, add_results
        from .setup import (
            checkpointed,
            job_of,
            new_model,
            refuse_to_replace,
            refuse_to_replace_another,
            run_and_print,
            use_jobs,
        )

        job = job_of(
            new_model(model_options),
            source,
            column_options,
            range_options,
            bad_row_options,
            id,
            warn=screen.warn,
        )
        job.model_path = model
        add_results(job, results, screen, checkpoint_options.checkpoint)
        add_alerts(job, alert_options, checkpoint_options, screen)
        use_jobs(job, jobs)
        with checkpointed(job, checkpoint_options, screen):
            is_new = resume(job) is None
            if is_new:
                refuse_to_replace(model, force)
            else:
                refuse_to_replace_another(job, force)
            is_plain = job.model._metric == "euclidean"
            with served(job, metrics):
                run_and_print(job, screen, Dominance(screen.warn) if is_new and is_plain else None)


@expand_groups
def update(
    source: options.SourceUrl,
    model: options.ModelPath,
    *,
    id: options.Id = None,
    key_options: options.KeyOptions,
    column_options: options.ColumnOptions,
    bad_row_options: options.BadRowOptions,
    range_options: options.RangeOptions,
    checkpoint_options: options.CheckpointOptions,
    jobs: options.Jobs = None,
    results: options.Results,
    alert_options: options.AlertOptions,
    metrics: options.Metrics = None,
    config: options.Config = None,
    log_format: options.LogFormat = None,
    json: options.Json = False,
) -> None:
    """Continue learning with a model; columns are matched by name."""
    screen = Screen(json, results.use_stdout, log_format)
    with exit_on_error(screen), only_writer(model):
        if key_options.key is not None:
            from .keyed import KeyedRequest, run_keyed

            asked = KeyedRequest(
                "update",
                source,
                model,
                key_options,
                column_options,
                range_options,
                bad_row_options,
                checkpoint_options,
                results=results,
                id=id,
                jobs=jobs,
                metrics=metrics,
                alerts=alert_options,
            )
            run_keyed(asked, screen)
            return
        from ..stream.metrics import served
        from ..stream.resume import resume
        from .results import add_alerts, add_results, keep_old_events
        from .setup import (
            checkpointed,
            job_of,
            load_model,
            refuse_to_forget,
            run_and_print,
            use_jobs,
        )

        known = load_model(model)
        job = job_of(known, source, column_options, range_options, bad_row_options, id, warn=screen.warn)
        job.model_path = model
        add_results(job, results, screen, checkpoint_options.checkpoint)
        add_alerts(job, alert_options, checkpoint_options, screen)
        use_jobs(job, jobs)
        with checkpointed(job, checkpoint_options, screen):
            if resume(job) is not None:
                refuse_to_forget(job, known)
            keep_old_events(job, screen)
            with served(job, metrics):
                run_and_print(job, screen)


@expand_groups
def watch(
    source: options.SourceUrl,
    *,
    model: options.OptionalModel = None,
    model_options: options.ModelOptions,
    key_options: options.KeyOptions,
    column_options: options.ColumnOptions,
    bad_row_options: options.BadRowOptions,
    range_options: options.RangeOptions,
    checkpoint_options: options.CheckpointOptions,
    alert_options: options.AlertOptions,
    metrics: options.Metrics = None,
    config: options.Config = None,
    log_format: options.LogFormat = None,
    json: options.Json = False,
) -> None:
    """Learn a stream and print events of clusters as they happen."""
    screen = Screen(json, True, log_format)
    with exit_on_error(screen), only_writer(model):
        from ..stream.sinks.events import open_event_sink
        from .progress import EventPrinter

        if key_options.key is not None:
            from .keyed import KeyedRequest, run_keyed

            asked = KeyedRequest(
                "watch",
                source,
                model,
                key_options,
                column_options,
                range_options,
                bad_row_options,
                checkpoint_options,
                model_options=model_options,
                event_sinks=(open_event_sink("-") if json else EventPrinter(),),
                metrics=metrics,
                alerts=alert_options,
            )
            run_keyed(asked, screen)
            return
        from ..stream.metrics import served
        from ..stream.resume import resume
        from . import setup
        from .results import add_alerts

        known = setup.load_model_if_exists(model)
        job = setup.job_of(
            known or setup.new_model(model_options),
            source,
            column_options,
            range_options,
            bad_row_options,
            warn=screen.warn,
        )
        job.model_path = model
        job.event_sinks = [open_event_sink("-") if json else EventPrinter()]
        add_alerts(job, alert_options, checkpoint_options, screen)
        with setup.checkpointed(job, checkpoint_options, screen):
            if resume(job) is not None:
                setup.refuse_to_forget(job, known)
            with served(job, metrics):
                setup.run_and_print(job, screen)


@expand_groups
def predict(
    source: options.SourceUrl,
    model: options.ModelFile,
    *,
    out: options.Answers = "-",
    rotate: options.Rotate = None,
    similarity: options.Similarity = False,
    novel: options.Novel = False,
    id: options.Id = None,
    column_options: options.ColumnOptions,
    bad_row_options: options.BadRowOptions,
    range_options: options.RangeOptions,
    checkpoint_options: options.CheckpointOptions,
    config: options.Config = None,
    log_format: options.LogFormat = None,
    json: options.Json = False,
) -> None:
    """Print the cluster of each row. The model does not change."""
    screen = Screen(json, out == "-", log_format)
    with exit_on_error(screen):
        from ..stream.resume import resume
        from ..stream.sinks.rows import open_sink
        from .results import heads_of, rotation_for
        from .setup import checkpointed, job_of, load_model, run_and_print

        rotation = rotation_for(rotate, [out], checkpoint_options.checkpoint)
        job = job_of(
            load_model(model), source, column_options, range_options, bad_row_options, id, warn=screen.warn
        )
        job.learns, job.similarity, job.novel = False, similarity, novel
        job.answers = open_sink(out, heads_of(job), "jsonl" if json and out == "-" else None, rotation)
        with checkpointed(job, checkpoint_options, screen, [model]):
            resume(job)
            run_and_print(job, screen)


@expand_groups
def score(
    source: options.SourceUrl,
    model: options.ModelFile,
    *,
    column_options: options.ColumnOptions,
    bad_row_options: options.BadRowOptions,
    range_options: options.RangeOptions,
    config: options.Config = None,
    log_format: options.LogFormat = None,
    json: options.Json = False,
) -> None:
    """Measure how similar a stream is to what a model knows and, with --label, how its clusters agree."""
    screen = Screen(json, log_format=log_format)
    with exit_on_error(screen):
        from .scoring import ScoreAccumulator
        from .setup import job_of, load_model, run_and_print

        known = load_model(model)
        job = job_of(known, source, column_options, range_options, bad_row_options, warn=screen.warn)
        job.learns = False
        scores = ScoreAccumulator()

        def summarise(job: Run, summary: Summary) -> tuple[dict[str, Any], str]:
            record = {
                "rows": summary.rows,
                "skipped": summary.skipped,
                "reasons": summary.reasons,
                **scores.result(),
            }
            return record, lines(record)

        run_and_print(job, screen, scores, summarise)
