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
        from .learn import learn
        from .request import LearnRequest

        asked = LearnRequest(
            "fit",
            source,
            model,
            key_options,
            column_options,
            bad_row_options,
            range_options,
            checkpoint_options,
            results,
            alert_options,
            metrics=metrics,
            model_options=model_options,
            id=id,
            jobs=jobs,
            force=force,
        )
        learn(asked, screen)


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
        from .learn import learn
        from .request import LearnRequest

        asked = LearnRequest(
            "update",
            source,
            model,
            key_options,
            column_options,
            bad_row_options,
            range_options,
            checkpoint_options,
            results,
            alert_options,
            metrics=metrics,
            id=id,
            jobs=jobs,
        )
        learn(asked, screen)


@expand_groups
def watch(
    source: options.SourceUrl,
    *,
    model: options.OptionalModel = None,
    model_options: options.ModelOptions,
    id: options.Id = None,
    key_options: options.KeyOptions,
    column_options: options.ColumnOptions,
    bad_row_options: options.BadRowOptions,
    range_options: options.RangeOptions,
    checkpoint_options: options.CheckpointOptions,
    results: options.Results,
    alert_options: options.AlertOptions,
    metrics: options.Metrics = None,
    config: options.Config = None,
    log_format: options.LogFormat = None,
    json: options.Json = False,
) -> None:
    """Learn a stream and print events of clusters as they happen."""
    screen = Screen(json, True, log_format)
    with exit_on_error(screen), only_writer(model):
        from .learn import learn
        from .request import LearnRequest

        asked = LearnRequest(
            "watch",
            source,
            model,
            key_options,
            column_options,
            bad_row_options,
            range_options,
            checkpoint_options,
            results,
            alert_options,
            metrics=metrics,
            model_options=model_options,
            id=id,
        )
        learn(asked, screen)


@expand_groups
def predict(
    source: options.SourceUrl,
    model: options.ModelPath,
    *,
    out: options.Answers = "-",
    rotate: options.Rotate = None,
    similarity: options.Similarity = False,
    novel: options.Novel = False,
    id: options.Id = None,
    key_options: options.KeyOptions,
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
        from .request import refuse_checkpoints
        from .results import heads_of, rotation_for
        from .setup import asking_job, checkpointed, run_and_print

        if key_options.key is not None:
            refuse_checkpoints(checkpoint_options)
        rotation = rotation_for(rotate, [out], checkpoint_options.checkpoint)
        job = asking_job(
            model, source, key_options, column_options, range_options, bad_row_options, id, warn=screen.warn
        )
        job.similarity, job.novel = similarity, novel
        job.answers = open_sink(out, heads_of(job), "jsonl" if json and out == "-" else None, rotation)
        with checkpointed(job, checkpoint_options, screen, [model]):
            resume(job)
            run_and_print(job, screen)


@expand_groups
def score(
    source: options.SourceUrl,
    model: options.ModelPath,
    *,
    key_options: options.KeyOptions,
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
        from .setup import asking_job, run_and_print

        job = asking_job(
            model, source, key_options, column_options, range_options, bad_row_options, warn=screen.warn
        )
        scores = ScoreAccumulator()

        def summarise(job: Run, summary: Summary) -> tuple[dict[str, Any], str]:
            record = {
                "rows": summary.rows,
                "skipped": summary.skipped,
                "reasons": summary.reasons,
                **({} if job.keyed is None else {"without model": job.keyed.n_unknown}),
                **scores.result(),
            }
            return record, lines(record)

        run_and_print(job, screen, scores, summarise)
