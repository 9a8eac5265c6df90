"""The command `everclust`."""

from __future__ import annotations

import sys
from importlib.util import find_spec


def main() -> None:
    """Run the command line, or print how to install what it needs.

    Examples
    --------
    On the command line, ``everclust --help`` lists the commands.
    """
    if find_spec("typer") is None or find_spec("rich") is None:
        sys.exit('The command line needs Typer and Rich: pip install "everclust[cli]"')
    from .app import app

    if hasattr(sys.stdout, "reconfigure"):  # on Windows, a file takes no Greek: escapes instead of an error
        sys.stdout.reconfigure(errors="backslashreplace")
    app()
