"""Options from a TOML file: `--config FILE`; what the command line says counts more."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any

import typer


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Make the values of a file the defaults of a command, before its other options are read."""
    if path is not None:
        known = {name: param for param in context.command.params for name in _names(param)}
        known.pop("config")
        given = _parsed(path)
        context.default_map = {
            known[_checked(name, known, path)].name: _value(known[name], name, value, path)
            for name, value in given.items()
        }
    return path


def _names(param: Any) -> list[str]:
    """The names of an option in a file: without dashes in front; an argument has its own."""
    if param.param_type_name == "argument":
        return [str(param.name)]
    return [name.removeprefix("--") for name in param.opts if name.startswith("--")]


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{path} is no valid TOML: {error}.") from None


def _checked(name: str, known: dict[str, Any], path: Path) -> str:
    if name in known:
        return name
    near = difflib.get_close_matches(name.replace("_", "-").lstrip("-"), known, 1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(known))}."
    raise typer.BadParameter(f"{path} has the unknown option {name!r}; {hint}")


def _value(param: Any, name: str, value: Any, path: Path) -> Any:
    """A value as Click expects it; Click checks its type."""
    if getattr(param, "multiple", False):
        value = [value] if isinstance(value, str) else value
        is_right = isinstance(value, list) and all(isinstance(item, str) for item in value)
    elif getattr(param, "is_flag", False):
        is_right = isinstance(value, bool)
    else:
        is_right = isinstance(value, str | int | float) and not isinstance(value, bool)
    if not is_right:
        raise typer.BadParameter(f"{path} gives {name} the value {value!r}, which it does not take.")
    return value
