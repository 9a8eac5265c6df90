"""Draw every figure of the documentation site: `python docs/figures build/figures`."""

import sys
from importlib import import_module
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams["svg.hashsalt"] = "everclust"  # the same file on every run


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


if __name__ == "__main__":
    main(Path(sys.argv[1]))
