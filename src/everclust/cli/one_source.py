"""Commands with one source, which may be given several files where a pattern was not quoted."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class OneSource(TyperCommand):
    """A command that says what to do about the files into which the shell has expanded a pattern."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.allow_extra_args = True

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words of a command; what is left over is an error."""
        left = super().parse_args(ctx, args)
        if left and not ctx.resilient_parsing:
            ctx.fail(
                f"Got {left[0]!r} after the source, of which there is one; quote a pattern of several files, "
                "such as 'logs/*.csv', so that the shell does not expand it."
            )
        return left
