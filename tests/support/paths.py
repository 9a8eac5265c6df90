"""Where tests find files."""

import os
from pathlib import Path

TESTS = Path(__file__).parents[1]
REPOSITORY = TESTS.parent
DATA = TESTS / "data"
#: Folders with data sets as `<name>.npz`.
DATA_FOLDERS = (
    [Path(os.environ["EVERCLUST_DATA"])]
    if "EVERCLUST_DATA" in os.environ
    else [Path.home() / ".cache/everclust", REPOSITORY.parent / "shared/data"]
)
