"""The class of every command."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer import BadParameter
from typer.core import TyperCommand

from .config import LISTS


class Command(TyperCommand):
    """Refuses a list that is given twice: the last alone would count, without a word.

    Of other options the last counts, as usual, so that scripts can add one to those of others.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Count the options, then parse as ever."""
        if not ctx.resilient_parsing:  # as shell completion does
            given: list[Any] = self.make_parser(ctx).parse_args(args=list(args))[2]
            for param, n_times in Counter(given).items():
                if param.name in LISTS and not param.multiple and n_times > 1:
                    raise BadParameter(
                        f"it is given {n_times} times; give it once, as a,b,c.", ctx=ctx, param=param
                    )
        return super().parse_args(ctx, args)
