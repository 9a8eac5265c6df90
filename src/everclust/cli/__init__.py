"""The command `everclust`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or say what it needs.

    Examples
    --------
    On the command line, ``everclust --help`` shows what there is.
    """
    try:
        from .live import live
        from .stream import app
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("typer", "rich"):
            raise
        sys.exit("The command line needs Typer and Rich: pip install 'everclust[cli]'")
    app.command()(live)
    app()
