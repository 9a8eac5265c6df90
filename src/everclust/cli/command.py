"""The class of every command."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer import BadParameter
from typer.core import TyperCommand


class Command(TyperCommand):
    """Refuses an option with one value that is given twice: the last alone would count, without a word."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Count the options, then parse as ever."""
        if not ctx.resilient_parsing:  # as shell completion does
            given: list[Any] = self.make_parser(ctx).parse_args(args=list(args))[2]
            for param, n_times in Counter(given).items():
                is_single = param.param_type_name == "option" and not (param.is_flag or param.multiple)
                if is_single and n_times > 1:
                    raise BadParameter(
                        f"it is given {n_times} times, but takes one value.", ctx=ctx, param=param
                    )
        return super().parse_args(ctx, args)
