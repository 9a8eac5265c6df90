"""Draw every figure of the documentation site, and the gallery: `python docs/figures build/figures`."""

import runpy
import sys
from contextlib import chdir
from importlib import import_module
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

matplotlib.rcParams["svg.hashsalt"] = "everclust"  # the same file on every run

GALLERY = Path(__file__).resolve().parents[2] / "examples" / "gallery"


def main(folder: Path) -> None:
    """Each module beside this one draws the figure of its name; the live page is recorded."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(Path(__file__).parent.glob("[a-z]*.py")):
        module = import_module(path.stem)
        if hasattr(module, "draw"):
            module.draw().savefig(
                folder / f"{path.stem}.svg", bbox_inches="tight", dpi=160, metadata={"Date": None}
            )
        elif hasattr(module, "record"):
            module.record(folder / f"{path.stem}.webp")
    with chdir(folder):  # into which the scripts of the gallery write their pictures
        for path in sorted(GALLERY.glob("*.py")):
            runpy.run_path(str(path), run_name="__main__")
            plt.close("all")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
