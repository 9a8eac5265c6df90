"""Section with the histories of the models, one drawing per data set."""

from __future__ import annotations

from ..document import Block, Gallery, Picture, Section, explained
from ..figures.sparklines import history_plot, in_words
from ..names import algorithm_title, dataset_title, main_algorithms
from ..outcomes import Outcomes, Place, datasets_of, done, median_run, settings_of


def histories(outcomes: Outcomes) -> Section:
    words = (
        "The interval Λ (above) and the vigilance threshold V (below) along the stream, for the run with "
        "the median ARI on each data set."
    )
    blocks: list[Block] = []
    for setting in settings_of(outcomes):
        for algorithm in main_algorithms(outcomes, setting):
            pictures = [
                _history(outcomes, (algorithm, name, setting)) for name in datasets_of(outcomes, setting)
            ]
            found = [picture for picture in pictures if picture]
            blocks += [Gallery(found, title=f"{algorithm_title(algorithm)}, {setting}")] if found else []
    return explained("Λ and vigilance", words, blocks)


def _history(outcomes: Outcomes, place: Place) -> Picture | None:
    run = median_run(done(outcomes, place))
    if run is None:
        return None
    title, words = dataset_title(place[1]), in_words(run["history"])
    svg = history_plot(run["history"], f"{title}: {words}")
    return Picture(svg, title, f"{words} (seed {run['seed']})", f"seed {run['seed']}, ARI {run['ari']:.3f}")
