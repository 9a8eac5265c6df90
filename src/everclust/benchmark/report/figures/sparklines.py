"""Small drawings of the interval and the vigilance along the stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .svg import drawing, element, line, number, text

WIDTH, HEIGHT = 270, 172
LEFT, RIGHT = 40, 264
BANDS = ((14, 72), (94, 152))  # top and bottom of the two curves
MOST_POINTS = 240
CURVES = (("interval", "Λ"), ("vigilance", "V"))


def history_plot(history: dict[str, Any], words: str) -> str:
    """Draw the interval (above) and the vigilance (below) over the samples seen.

    Parameters
    ----------
    history : dict of list
        With "n_samples_seen", "interval" and "vigilance".
    words : str
        Description for screen readers.

    Returns
    -------
    svg : str
    """
    seen = np.asarray(history["n_samples_seen"], dtype=float)
    parts = _floor(float(seen[-1]))
    for (column, symbol), band in zip(CURVES, BANDS, strict=True):
        values = np.array([np.nan if value is None else value for value in history[column]], dtype=float)
        known = np.isfinite(values)
        if known.any():
            parts += _frame(float(values[known].max()) or 1.0, band)
            parts.append(_curve(seen[known] / seen[-1], values[known], band, column))
        parts.append(text(LEFT - 5, sum(band) / 2 + 5, symbol, "end", f"symbol {column}"))
    return drawing(WIDTH, HEIGHT, parts, words, "history")


def _frame(most: float, band: tuple[int, int]) -> list[str]:
    parts = []
    for y, value in zip(band, (most, 0.0), strict=True):
        parts += [line(LEFT, y, RIGHT, y, "rule"), text(LEFT - 5, y + 4, _short(value), "end", "tick")]
    return parts


def _curve(share: np.ndarray, values: np.ndarray, band: tuple[int, int], kind: str) -> str:
    top, bottom = band
    x = LEFT + (RIGHT - LEFT) * share
    y = bottom - (bottom - top) * values / (values.max() or 1.0)
    return element("path", d=steps(x, y, RIGHT), class_=f"curve {kind}")


def steps(x: np.ndarray, y: np.ndarray, end: float) -> str:
    """SVG path of a step function; at most MOST_POINTS changes are drawn."""
    changed = np.flatnonzero(np.r_[True, np.abs(np.diff(y)) > 0])
    if len(changed) > MOST_POINTS:
        changed = changed[np.linspace(0, len(changed) - 1, MOST_POINTS).astype(int)]
    moves = [f"H{_coarse(a)}V{_coarse(b)}" for a, b in zip(x[changed[1:]], y[changed[1:]], strict=True)]
    return f"M{_coarse(x[0])} {_coarse(y[0])}" + "".join(moves) + f"H{number(end)}"


def _coarse(value: float) -> str:
    return number(round(float(value), 1))


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 10 or value == 0 else f"{value:.2g}"


def _floor(last: float) -> list[str]:
    y = HEIGHT - 4
    return [
        text(LEFT, y, "0", "start", "tick"),
        text((LEFT + RIGHT) / 2, y, "samples seen", "middle", "tick"),
        text(RIGHT, y, f"{last:,.0f}".replace(",", "\u202f"), "end", "tick"),
    ]


def in_words(history: dict[str, Any]) -> str:
    """First, last and largest values of both curves, in words."""
    ends = [f"{symbol} {_range(history[column])}" for column, symbol in CURVES]
    return "; ".join(ends)


def _range(values: Sequence[float | None]) -> str:
    known = [value for value in values if value is not None and np.isfinite(value)]
    if not known:
        return "unknown"
    return f"from {_short(known[0])} to {_short(known[-1])}, at most {_short(max(known))}"
