"""Frame rate of the live page in Chromium while a model of 2,000 nodes learns."""

import importlib.util
import os
import shutil
import time

import numpy as np

from everclust import IDAT
from everclust.live_page import live

N_NODES = 2_000
N_ROWS, N_BEFORE, BATCH = 150_000, 100_000, 500
ROWS_PER_SECOND = 16_667  # a million per minute, if the machine is fast enough


def chromium() -> str | None:
    """Path of Chromium, or None if it or playwright is missing."""
    if importlib.util.find_spec("playwright") is None:
        return None
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


def frame_rate(path: str) -> float:
    """Frames per second while rows arrive at ROWS_PER_SECOND."""
    from playwright.sync_api import sync_playwright

    X = _segments(np.random.default_rng(0))
    model = IDAT(max_nodes=N_NODES).partial_fit(X[:N_BEFORE])
    with sync_playwright() as library, live(model) as page:
        # Without its sandbox, for which containers lack the rights; it opens only our own page.
        browser = library.chromium.launch(executable_path=path, args=["--no-sandbox"])
        tab = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        tab.goto(page.url)
        while not tab.evaluate("Boolean(window.everclust && everclust.scene.n > 0)"):
            tab.wait_for_timeout(40)
        before, started = tab.evaluate("everclust.topology.nDrawn"), time.monotonic()
        _feed(model, X[N_BEFORE:], started)
        n_frames, took = tab.evaluate("everclust.topology.nDrawn") - before, time.monotonic() - started
        n_shown = tab.evaluate("everclust.scene.n")
        browser.close()
    if n_shown < 0.95 * N_NODES:
        raise RuntimeError(f"The page shows {n_shown} nodes, but {N_NODES} were expected.")
    return n_frames / took


def _segments(rng: np.random.Generator) -> np.ndarray:
    """Short line segments in 8 dimensions, one after the other: the model holds the nodes of the latest."""
    n_segments, n_each = 1_000, N_ROWS // 1_000
    centres = np.repeat(rng.uniform(-40, 40, (n_segments, 8)), n_each, axis=0)
    along = np.repeat(rng.normal(size=(n_segments, 8)), n_each, axis=0) * rng.uniform(-4, 4, (N_ROWS, 1))
    return centres + along + rng.normal(0, 0.35, (N_ROWS, 8))


def _feed(model: IDAT, X: np.ndarray, started: float) -> None:
    for start in range(0, len(X), BATCH):
        model.partial_fit(X[start : start + BATCH])
        time.sleep(max(0.0, started + (start + BATCH) / ROWS_PER_SECOND - time.monotonic()))


if __name__ == "__main__":
    found = chromium()
    if found is None:
        raise SystemExit(
            "Chromium or playwright is missing: apt-get install chromium, pip install playwright."
        )
    print(f"{frame_rate(found):.0f} frames per second with {N_NODES:,} nodes")
