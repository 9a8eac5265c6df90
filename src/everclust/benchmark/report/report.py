"""The report: everything that was run, beside the paper's numbers, as one file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...atomic import write_atomically
from ..run.store import Store, StoreError
from .additions import beyond
from .appendix import failures, provenance
from .document import Document
from .headline import headline
from .histories import histories
from .html import page
from .markdown import markdown
from .outcomes import Result, gather
from .rank_sections import ablation, ranking
from .sections import continual, costs, counts, errors, scores, shuffles

PARTS = (
    *(headline, counts, scores, shuffles, continual, errors, ranking, ablation, beyond, histories),
    *(costs, failures, provenance),
)
AS_JSON = ("step_ari", "step_ami", "history", "versions", "machine")


def write_report(
    store_path: str | Path, html_path: str | Path, markdown_path: str | Path | None = None
) -> Document:
    """Write the report on a store of results.

    Parameters
    ----------
    store_path : str or Path
        Where `everclust.benchmark.run.store.Store` keeps the results.
    html_path : str or Path
        The page: one file that needs no other, and no script.
    markdown_path : str or Path, optional
        The same tables as Markdown.

    Returns
    -------
    report : Document
        What was written.

    Raises
    ------
    StoreError
        If there is no such store, it is damaged, or it holds no results; then nothing is written.

    Examples
    --------
    >>> from everclust.benchmark.report.report import write_report
    >>> report = write_report("results.sqlite", "report.html", "report.md")  # doctest: +SKIP
    """
    with Store(store_path, create=False) as store:
        results = store.results()
    if not results:
        raise StoreError(f"The store {store_path} holds no results yet; run `everclust bench run` first.")
    report = report_on(results)
    _write(html_path, page(report))
    if markdown_path is not None:
        _write(markdown_path, markdown(report))
    return report


def report_on(results: Iterable[Result]) -> Document:
    """The report on a list of results.

    Parameters
    ----------
    results : iterable of dict
        Rows of a store.

    Returns
    -------
    report : Document
        For `everclust.benchmark.report.html.page` or `everclust.benchmark.report.markdown.markdown`.
    """
    outcomes = gather(map(_read, results))
    sections = [part(outcomes) for part in PARTS]
    subtitle = (
        "IDAT and what it is compared with: ours beside the numbers that the paper prints (arXiv 2511.17983)."
    )
    return Document("everclust benchmark", subtitle, [section for section in sections if section.blocks])


def _read(row: dict[str, Any]) -> Result:
    """Lists and dicts are text in the store."""
    texts = {name: row[name] for name in AS_JSON if isinstance(row.get(name), str)}
    return row | {name: json.loads(text) for name, text in texts.items()}


def _write(path: str | Path, text: str) -> None:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, [text.encode()])
