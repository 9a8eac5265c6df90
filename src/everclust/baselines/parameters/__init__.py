"""The paper's search spaces and tuned parameters: one JSON file for each baseline.

``{"space": {parameter: [lowest, highest] or [lowest, highest, "log"]}, "published": {setting: {data set:
{parameter: value}}}}``, and ``"tuned"`` in the same form as ``"published"`` for values found here. Two
integers bound an integer parameter.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

Bounds = tuple[int, int] | tuple[float, float] | tuple[float, float, str]


def _sheet(name: str) -> dict[str, Any]:
    """Contents of the JSON file of one algorithm."""
    sheets = {file.name: file for file in files(__package__).iterdir() if file.name.endswith(".json")}
    file = sheets.get(name.replace("-", "_") + ".json")
    if file is None:
        known = ", ".join(sorted(sheet.removesuffix(".json").replace("_", "-") for sheet in sheets))
        raise ValueError(f"There are no parameters of an algorithm called {name!r}; choose from {known}.")
    return json.loads(file.read_text(encoding="utf-8"))


def space(name: str) -> dict[str, Bounds]:
    """The parameters that the paper tuned, with their bounds.

    Parameters
    ----------
    name : str
        Of the algorithm, such as "gng" or "soinn-plus".

    Returns
    -------
    space : dict
        Name of a parameter -> lowest and highest value, two integers or two floats, and "log" as a third
        for a logarithmic scale. Empty if the algorithm has no parameter to tune.

    Raises
    ------
    ValueError
        If there is no algorithm of that name.

    Examples
    --------
    >>> from everclust.baselines.parameters import space
    >>> space("sr-pcm-hdp")
    {'alpha': (0.1, 5.0), 'lamda': (0.0, 0.9)}
    """
    return {parameter: tuple(bounds) for parameter, bounds in _sheet(name).get("space", {}).items()}


def published(name: str, setting: str, dataset: str) -> dict[str, Any] | None:
    """The parameters that the paper reports for a data set.

    Parameters
    ----------
    name : str
        Of the algorithm, such as "gng" or "soinn-plus".
    setting : {"stationary", "nonstationary"}
    dataset : str
        As in the catalogue of `everclust.benchmark.data.datasets`.

    Returns
    -------
    parameters : dict or None
        None if the paper does not report them.

    Raises
    ------
    ValueError
        If there is no algorithm of that name.
    """
    return _sheet(name).get("published", {}).get(setting, {}).get(dataset)


def tuned(name: str, setting: str, dataset: str) -> dict[str, Any] | None:
    """Our own values, where the paper reports none or its values do not reproduce its tables.

    Parameters
    ----------
    name : str
        Of the algorithm, such as "gng" or "soinn-plus".
    setting : {"stationary", "nonstationary"}
    dataset : str
        As in the catalogue of `everclust.benchmark.data.datasets`.

    Returns
    -------
    parameters : dict or None
        None if we did not search.

    Raises
    ------
    ValueError
        If there is no algorithm of that name.
    """
    return _sheet(name).get("tuned", {}).get(setting, {}).get(dataset)
