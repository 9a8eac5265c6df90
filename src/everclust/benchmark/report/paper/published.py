"""The paper's published numbers."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def published() -> dict[str, Any]:
    """All available tables. A cell is [mean, standard deviation], "N/A", "OOM", or None for a dash.

    Returns
    -------
    tables : dict
        ``tables[table][data set][algorithm][measure]``. Do not modify it: it is cached.
    """
    return json.loads((files(__package__) / "published.json").read_text(encoding="utf-8"))


def published_cell(table: str, dataset: str, algorithm: str, measure: str) -> tuple[float, float] | None:
    """Mean and standard deviation over the paper's 30 runs.

    Parameters
    ----------
    table : str
        Such as "stationary_nodes_clusters" or "nonstationary_ari_ami".
    dataset : str
    algorithm : str
        Name in the paper.
    measure : {"nodes", "clusters", "ARI", "AMI"}

    Returns
    -------
    cell : tuple of float or None
        None if the paper has no number, or the table is not available.

    Examples
    --------
    >>> from everclust.benchmark.report.paper.published import published_cell
    >>> published_cell("nonstationary_ari_ami", "iris", "IDAT", "ARI")
    (0.565, 0.135)
    """
    cell = _cell(table, dataset, algorithm, measure)
    return (float(cell[0]), float(cell[1])) if isinstance(cell, list) else None


def published_mark(table: str, dataset: str, algorithm: str, measure: str) -> str | None:
    """The paper's mark for a missing number: "N/A" (time limit), "OOM" (memory), or None.

    Parameters
    ----------
    table, dataset, algorithm, measure : str
        As in `published_cell`.

    Returns
    -------
    mark : str or None
    """
    cell = _cell(table, dataset, algorithm, measure)
    return cell if isinstance(cell, str) else None


def _cell(table: str, dataset: str, algorithm: str, measure: str) -> Any:
    return published().get(table, {}).get(dataset, {}).get(algorithm, {}).get(measure)
