"""Groups of options: a dataclass that a command takes as one argument, and the command line as several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def expand_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Replace every parameter of a dataclass type by one option for each of its fields.

    Typer reads the signature, so the returned function has one in which these parameters are replaced.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}

    @wraps(command)
    def call(**given: Any) -> None:
        grouped = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**grouped, **given)

    options = [
        option
        for name, parameter in signature(command).parameters.items()
        for option in (
            _options_of(groups[name]) if name in groups else [_option(name, hints[name], parameter.default)]
        )
    ]
    call.__signature__ = Signature(options)  # type: ignore[attr-defined]
    call.__annotations__ = {option.name: option.annotation for option in options}
    return call


def _options_of(group: Any) -> Iterator[Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return (_option(field.name, hints[field.name], _default(field)) for field in fields(group))


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _option(name: str, hint: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)
