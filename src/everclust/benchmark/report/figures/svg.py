"""SVG elements of the drawings. Colours come from the page's style sheet."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

SMALLEST = 0.62  # smallest legible scale of a drawing


def number(value: float) -> str:
    """Format a coordinate with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def element(tag: str, content: str = "", **attributes: float | str) -> str:
    """An element. In attribute names, an underscore becomes a hyphen and a trailing one is removed."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value) if isinstance(value, str) else number(value)}"'
        for key, value in attributes.items()
    )
    return f"<{tag}{given}>{content}</{tag}>" if content else f"<{tag}{given}/>"


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def text(x: float, y: float, words: str, anchor: str = "start", kind: str = "label") -> str:
    """A line of text; `anchor` is "start", "middle" or "end"."""
    return element("text", escape(words), x=x, y=y, text_anchor=anchor, class_=kind)


def drawing(width: float, height: float, parts: Iterable[str], words: str, kind: str) -> str:
    """The svg element; `words` describe it for screen readers."""
    size = {
        "viewBox": f"0 0 {number(width)} {number(height)}",
        "style": f"min-width:{SMALLEST * width:.0f}px",
    }
    return element("svg", "".join(parts), **size, class_=kind, role="img", aria_label=words)
