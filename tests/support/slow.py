"""A few cases of a large table now, the others in `make test-slow`."""

from collections.abc import Container, Iterable
from typing import Any

import pytest


def others_slow(values: Iterable[Any], now: Container[Any]) -> list[Any]:
    """Values to parametrise over: those that are not in `now` are marked slow."""
    return [
        value if value in now else pytest.param(*_as_arguments(value), marks=pytest.mark.slow)
        for value in values
    ]


def _as_arguments(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def examples_slow(now: int, slow: int) -> pytest.MarkDecorator:
    """How many examples a test draws, as its parameter `n_examples`."""
    return pytest.mark.parametrize("n_examples", [now, pytest.param(slow, marks=pytest.mark.slow)])
