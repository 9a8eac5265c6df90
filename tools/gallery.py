"""The gallery: pictures and notebooks of examples/gallery, into build/ (`make gallery`).

A script begins with a docstring in Markdown, `# %%` begins a cell, and the picture has the script's name.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "examples/gallery").glob("*.py"))
STYLE = ROOT / "tools/gallery.matplotlibrc"
CELL = "# %%\n"


def main() -> None:
    """Draw all pictures and write all notebooks."""
    pictures, notebooks = ROOT / "build/gallery", ROOT / "build/notebooks"
    for folder in (pictures, notebooks):
        folder.mkdir(parents=True, exist_ok=True)
    for script in SCRIPTS:
        draw(script, pictures)
        nbformat.write(notebook(script), notebooks / f"{script.stem}.ipynb")
        sys.stdout.write(f"{script.stem}\n")


def draw(script: Path, folder: Path) -> None:
    """Run a script, which writes its picture where it runs."""
    settings = {"MPLBACKEND": "Agg", "MATPLOTLIBRC": str(STYLE)}
    subprocess.run([sys.executable, str(script)], cwd=folder, env=os.environ | settings, check=True)


def notebook(script: Path) -> nbformat.NotebookNode:
    """The same as a notebook: the text, then the cells."""
    text = script.read_text()
    cells = [part.strip() for part in text.split(CELL)[1:]]
    made = new_notebook(
        cells=[new_markdown_cell(describe(script)), *map(new_code_cell, cells)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    for number, cell in enumerate(made.cells):
        cell.id = f"{script.stem}-{number}"  # by default random, so that every build would differ
    return made


def describe(script: Path) -> str:
    """The docstring, which is Markdown."""
    return ast.get_docstring(ast.parse(script.read_text())) or ""


if __name__ == "__main__":
    main()
