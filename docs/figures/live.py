"""The live page moving: frames of the real page in Chromium, or drawn ones where there is no Chromium."""

import io
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import everclust

N_FRAMES, ROWS_PER_FRAME, MILLISECONDS = 48, 250, 160
SIZE = (880, 550)  # of the picture; the page has a half more of everything
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def record(path: Path) -> None:
    """Write the picture sequence."""
    if CHROMIUM is None:
        sys.stderr.write("No Chromium (make chromium): the live page is drawn, not recorded.\n")
    frames = drawn() if CHROMIUM is None else recorded()
    first, *rest = [frame.convert("RGB").resize(SIZE, Image.Resampling.LANCZOS) for frame in frames]
    first.save(path, save_all=True, append_images=rest, duration=MILLISECONDS, loop=0, quality=55, method=4)


def batches() -> Iterator[np.ndarray]:
    """Four groups that wander in three dimensions; a fifth appears halfway."""
    rng = np.random.default_rng(4)
    places = np.array([[0, 0, 0], [6, 1, 0], [1, 6, 1], [6, 6, 5], [11, 4, 2]], float)
    for step in range(N_FRAMES):
        n_groups = 4 if step < N_FRAMES // 2 else 5
        places += rng.normal(0, 0.12, places.shape)
        group = rng.integers(0, n_groups, ROWS_PER_FRAME)
        yield places[group] + rng.normal(0, 0.6, (ROWS_PER_FRAME, 3))


def recorded() -> Iterator[Image.Image]:
    """What a browser shows after each batch."""
    from playwright.sync_api import sync_playwright

    model = everclust.EverClust()
    with sync_playwright() as library, everclust.live(model) as page:
        # Without its sandbox, for which containers lack the rights; it opens only our own page.
        browser = library.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        width, height = SIZE
        tab = browser.new_page(
            viewport={"width": width * 3 // 2, "height": height * 3 // 2}, color_scheme="light"
        )
        tab.goto(page.url)
        for rows in batches():
            model.partial_fit(rows)
            tab.wait_for_timeout(300)  # the page draws its figures four times a second
            yield Image.open(io.BytesIO(tab.screenshot()))
        browser.close()


def drawn() -> Iterator[Image.Image]:
    """The nodes and clusters after each batch."""
    model = everclust.EverClust()
    for rows in batches():
        figure, ax = plt.subplots(figsize=(8.8, 5.5), dpi=100, layout="constrained")
        everclust.TopologyDisplay.from_estimator(model.partial_fit(rows), ax=ax)
        picture = io.BytesIO()
        figure.savefig(picture)
        plt.close(figure)
        yield Image.open(picture)
