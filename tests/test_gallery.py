"""The gallery: every notebook runs and draws its picture."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
nbclient = pytest.importorskip("nbclient", reason="nbclient runs notebooks")
pytest.importorskip("ipykernel", reason="ipykernel runs notebooks")
gallery = runpy.run_path(str(ROOT / "tools/gallery.py"))


def test_there_are_twelve_pictures_with_words():
    assert len(gallery["SCRIPTS"]) >= 12
    for script in gallery["SCRIPTS"]:
        title, _, words = gallery["describe"](script).partition("\n")
        assert title.startswith("# ")
        assert len(words) > 40


@pytest.mark.parametrize("script", gallery["SCRIPTS"], ids=lambda script: script.stem)
def test_a_picture_takes_about_ten_lines(script):
    """Apart from imports."""
    code = script.read_text().split(gallery["CELL"], 1)[1].split("\n")
    lines = [line for line in code if line.strip() and not line.startswith(("import ", "from ", "# %%"))]
    assert 4 < len(lines) <= 14


def test_a_script_becomes_cells(tmp_path):
    script = tmp_path / "three.py"
    script.write_text('"""# Three\nAnd more."""\n\n# %%\nx = 3\n\n# %%\nprint(x)\n')
    cells = gallery["notebook"](script).cells
    assert [cell.source for cell in cells] == ["# Three\nAnd more.", "x = 3", "print(x)"]
    assert [cell.cell_type for cell in cells] == ["markdown", "code", "code"]


@pytest.mark.slow
@pytest.mark.parametrize("script", gallery["SCRIPTS"], ids=lambda script: script.stem)
def test_every_notebook_runs(script, tmp_path):
    made = gallery["notebook"](script)
    nbclient.NotebookClient(made, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert (tmp_path / f"{script.stem}.png").stat().st_size > 5_000
    outputs = [output for cell in made.cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
