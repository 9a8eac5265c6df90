"""The last sections of the report: failed runs, and provenance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ..document import Column, Entry, Grid, Row, Section, explained
from ..names import algorithm_title, dataset_title
from ..outcomes import DONE, NOT_RUN, Outcomes, Result

STATUS_WORDS = {
    "failed": "failed",
    "timeout": "took too long",
    "memory": "needed too much memory",
    "missing": "data set not available",
    "uninstalled": "package not installed",
    NOT_RUN: "asked for, but not run yet",
}
LONGEST_ERROR = 300


def failures(outcomes: Outcomes) -> Section:
    """Section with the jobs that have no result."""
    rows = [
        row for (_, dataset, setting), runs in outcomes.items() for row in _failures(dataset, setting, runs)
    ]
    columns = [Column("Algorithm", words=True), Column("Setting", words=True), Column("Runs")]
    columns += [Column("What happened", words=True), Column("Message", words=True)]
    words = (
        "All runs that were asked for and have no result. Means are over the finished runs; N/A or OOM if "
        "there are none."
    )
    return explained(
        "What did not finish", words, [Grid("Runs without a result", columns, rows)] if rows else []
    )


def _failures(dataset: str, setting: str, runs: list[Result]) -> list[Row]:
    """A row per status and message, with its number of runs."""
    counted: Counter[tuple[str, str]] = Counter(
        (run["status"], _message(run)) for run in runs if run["status"] != DONE
    )
    title = algorithm_title(runs[0]["algorithm"])
    return [
        Row(
            dataset_title(dataset),
            [*map(Entry, (title, setting, f"{n} of {len(runs)}", STATUS_WORDS.get(status, status), error))],
        )
        for (status, error), n in counted.items()
    ]


def _message(run: Result) -> str:
    if run["status"] == "missing":  # the stored message names a folder of that machine
        return f"put {run['dataset']}.npz into the data folder and run again"
    text = " ".join((run.get("error") or "").split())
    return text if len(text) <= LONGEST_ERROR else f"{text[:LONGEST_ERROR]}…"


def provenance(outcomes: Outcomes) -> Section:
    """Section with versions, machines and dates."""
    runs = [run for of_place in outcomes.values() for run in of_place]
    facts = [("Runs", _statuses(runs)), ("Seeds", _span(run["seed"] for run in runs))]
    facts += [("Learning took", f"{sum(run.get('train_cpu_seconds') or 0 for run in runs):.0f} CPU seconds")]
    for key, title in (("started_at", "From"), ("finished_at", "To")):
        times = sorted(run[key] for run in runs if run.get(key))
        facts += [(title, _to_the_minute(times[0 if title == "From" else -1]))] if times else []
    facts += [("Versions", _all_values(run.get("versions") for run in runs))]
    facts += [("Machine", _all_values(run.get("machine") for run in runs))]
    rows = [Row(title, [Entry(fact)]) for title, fact in facts if fact]
    return Section(
        "How it was made", [Grid("Where the numbers come from", [Column("", words=True)], rows, head="")]
    )


def _statuses(runs: list[Result]) -> str:
    counted = Counter(run["status"] for run in runs)
    return ", ".join(f"{n} {status}" for status, n in counted.most_common())


def _span(seeds: Iterable[int]) -> str:
    known = sorted(set(seeds))
    together = known == list(range(known[0], known[-1] + 1)) and len(known) > 1
    return f"{known[0]} to {known[-1]}" if together else ", ".join(map(str, known))


def _to_the_minute(time: str) -> str:
    return f"{time[:16].replace('T', ' ')} UTC"


def _all_values(dicts: Iterable[Mapping[str, object] | str | None]) -> str:
    """All keys, each with its distinct values."""
    values: dict[str, dict[str, None]] = {}
    for found in dicts:
        for key, value in found.items() if isinstance(found, Mapping) else [("", found)] if found else []:
            values.setdefault(key.replace("_", " "), {})[str(value)] = None
    return ", ".join(f"{key} {' and '.join(each)}".strip() for key, each in values.items())
