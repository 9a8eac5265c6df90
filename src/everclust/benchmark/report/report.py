"""Write the report: all results of a store beside the paper's numbers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ...atomic import write_atomically
from ..run.store import Store, StoreError
from .document import Document
from .formats.html import page
from .formats.markdown import blocks_text, markdown
from .names import remembering
from .outcomes import Result, gather
from .parameters import parameters
from .sections.appendix import failures, provenance
from .sections.comparisons import comparisons
from .sections.extensions import extensions
from .sections.further_measures import further_measures, labellings, prequential
from .sections.histories import histories
from .sections.paper_tables import continual, costs, counts, errors, scores, shuffles
from .sections.ranks import ablation, ranking
from .sections.references import references
from .sections.robustness import robustness
from .sections.summary import summary

PARTS = (
    *(summary, counts, scores, shuffles, continual, errors, ranking, ablation, extensions, references),
    *(comparisons, further_measures, labellings, prequential, robustness),
    *(histories, costs, parameters, failures, provenance),
)
AS_JSON = ("step_ari", "step_ami", "history", "versions", "machine")


def write_report(
    store_path: str | Path, html_path: str | Path, markdown_path: str | Path | None = None
) -> Document:
    """Write the report on a store of results.

    Parameters
    ----------
    store_path : str or Path
        A file of `everclust.benchmark.run.store.Store`.
    html_path : str or Path
        The page to write: a single file without scripts.
    markdown_path : str or Path, optional
        File for the same tables as Markdown.

    Returns
    -------
    report : Document
        The report that was written.

    Raises
    ------
    StoreError
        If the store does not exist, is damaged, or holds no results; then nothing is written.

    Examples
    --------
    >>> from everclust.benchmark.report.report import write_report
    >>> report = write_report("results.sqlite", "report.html", "report.md")  # doctest: +SKIP
    """
    report = report_on(_results(store_path), _asked(store_path))
    _write(html_path, page(report))
    if markdown_path is not None:
        _write(markdown_path, markdown(report))
    return report


def reference_table(store_path: str | Path, algorithms: Sequence[str] = ()) -> str:
    """The table of the references as Markdown, to be pasted into a page.

    Parameters
    ----------
    store_path : str or Path
        A file of `everclust.benchmark.run.store.Store`.
    algorithms : sequence of str, default=()
        Names of the rows, instead of EverClust, IDAT and all references in the store.

    Returns
    -------
    text : str

    Raises
    ------
    StoreError
        If the store does not exist, is damaged, or holds no results of these algorithms.
    """
    asked = _asked(store_path)
    with remembering(asked):
        section = references(gather(map(_read, _results(store_path)), asked), algorithms)
    if not section.blocks:
        raise StoreError(
            f"The store {store_path} holds no results of references; run `everclust bench run --algorithms "
            "everclust,idat,references` first."
        )
    return blocks_text(section.blocks)


def _results(store_path: str | Path) -> list[Result]:
    with Store(store_path, create=False) as store:
        results = store.results()
    if not results:
        raise StoreError(f"The store {store_path} holds no results yet; run `everclust bench run` first.")
    return results


def _asked(store_path: str | Path) -> list[Result]:
    with Store(store_path, create=False) as store:
        return store.asked()


def report_on(results: Iterable[Result], asked: Sequence[Result] = ()) -> Document:
    """The report on a list of results.

    Parameters
    ----------
    results : iterable of dict
        Rows of a store.
    asked : sequence of dict, default=()
        Jobs that were asked for, from `Store.asked`: those without a result are reported as not run.

    Returns
    -------
    report : Document
        For `everclust.benchmark.report.formats.html.page` or
        `everclust.benchmark.report.formats.markdown.markdown`.
    """
    outcomes = gather(map(_read, results), asked)
    with remembering(asked):
        sections = [part(outcomes) for part in PARTS]
    subtitle = (
        "IDAT and the algorithms it is compared with: our results beside the paper's (arXiv 2511.17983)."
    )
    return Document("everclust benchmark", subtitle, [section for section in sections if section.blocks])


def _read(row: dict[str, Any]) -> Result:
    """Decode the lists and dicts, which the store holds as JSON text."""
    texts = {name: row[name] for name in AS_JSON if isinstance(row.get(name), str)}
    return row | {name: json.loads(text) for name, text in texts.items()}


def _write(path: str | Path, text: str) -> None:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, [text.encode()])
