"""Draw the picture of README.md, which is that of `make demo`, into docs/images (`make picture`).

GitHub and PyPI show pictures only from files, so this one is kept beside the sources, small:
in 128 colours.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/images/topology.png"


def main() -> None:
    """Run the demo in a folder of its own, and keep its picture."""
    with tempfile.TemporaryDirectory() as folder:
        paths = os.pathsep.join(filter(None, [str(ROOT / "src"), os.environ.get("PYTHONPATH")]))
        subprocess.run(
            [sys.executable, str(ROOT / "examples/demo.py")],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": paths},
            check=True,
        )
        with Image.open(Path(folder) / "everclust_demo.png") as drawn:
            drawn.convert("RGB").quantize(128).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
