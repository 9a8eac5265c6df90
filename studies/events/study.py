"""Events of planted streams, held against what was planted: `make events`.

    python -m studies.events.study [--half find|confirm] [--seeds N] [--samples N] [--streams a,b] [--list]

For each stream: planted changes found, delay in samples (median), false events per 100,000 samples after the
first 10,000, revisions likewise (events that say that nothing has changed in the data), clusters at the end
and planted, share of a fixed probe whose labels change per 1,000 samples (mean and worst), and the share of
the learning time that the updates of ids take.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from everclust import Event, EverClust

from .streams import BURN_IN, N_SAMPLES, STREAMS, Change, Drawn

FIRST_SEED = {"find": 0, "confirm": 1000}
STEP = 1000  # samples between two looks at the probe
NEAR = 4.0  # a told centre is that of a planted one


class Run(NamedTuple):
    """What came of one stream."""

    delays: list[int]
    n_planted: int
    n_false: int
    n_revised: int
    n_judged: int  # samples after BURN_IN
    n_clusters: int
    expected: int | None
    score: float  # ARI of the probe at the end
    turnover: list[float]
    update_share: float
    events: list[Event]


def new_model() -> Any:
    """The estimator that is tried."""
    return EverClust()


def run(name: str, seed: int, n_samples: int) -> Run:
    """Learn a stream and judge its events."""
    drawn = STREAMS[name](np.random.default_rng(seed), n_samples)
    model = new_model()
    turnover, update_share = learn(model, drawn)
    events = [event for event in model.events() if event.sample > BURN_IN]
    news = [event for event in events if event.kind != "revised"]
    delays, n_false = judge(news, drawn.changes)
    score = adjusted_rand_score(drawn.classes, model.predict(drawn.probe))
    n_judged = max(n_samples - BURN_IN, 1)
    return Run(
        delays, len(drawn.changes), n_false, len(events) - len(news), n_judged, model.n_clusters_,
        drawn.n_clusters, score, turnover, update_share, events,
    )  # fmt: skip


def learn(model: Any, drawn: Drawn) -> tuple[list[float], float]:
    """Learn all rows; returns how many labels of the probe each step changed, and the share of updates."""
    turnover, before = [], None
    learning = 0.0
    spent = time_updates(model, drawn.X[:STEP])
    for start in range(STEP, len(drawn.X), STEP):
        began = time.perf_counter()
        model.partial_fit(drawn.X[start : start + STEP])
        learning += time.perf_counter() - began
        if start + STEP >= BURN_IN:
            after = model.predict(drawn.probe)
            if before is not None:
                turnover.append(float(np.mean(before != after)))
            before = after
    return turnover, spent[0] / max(learning - spent[0], 1e-9)


def time_updates(model: Any, first: np.ndarray) -> list[float]:
    """Learn the first rows; from there on, the seconds that updates of ids take add up in the list."""
    model.partial_fit(first)
    ids, spent = model._learner.ids, [0.0]
    update = ids.step

    def timed(*arguments: Any) -> Any:
        began = time.perf_counter()
        result = update(*arguments)
        spent[0] += time.perf_counter() - began
        return result

    ids.step = timed
    return spent


def judge(events: list[Event], changes: list[Change]) -> tuple[list[int], int]:
    """Delays of the planted changes that were told, and the number of events that tell no planted change.

    A split into three tells that two parts are new.
    """
    left = [event for event in events for _ in event.after[1:] or [0]]
    true, delays = [], []
    for change in changes:
        told = [event for event in left if tells(event, change)]
        if told:
            left.remove(told[0])
            true.append(told[0])
            delays.append(told[0].sample - change.sample)
    return delays, sum(event not in true for event in events)


def tells(event: Event, change: Change) -> bool:
    """Whether an event says what was planted, after it happened, in the right place."""
    is_near = np.linalg.norm(np.array(event.centre) - change.centre) < NEAR
    return event.kind in change.kinds and event.sample > change.sample and (event.kind == "split" or is_near)


def line(name: str, runs: list[Run]) -> str:
    """One row of the table."""
    delays = [delay for run in runs for delay in run.delays]
    planted = sum(run.n_planted for run in runs)
    found = f"{len(delays)}/{planted}" if planted else "–"
    delay = f"{np.median(delays):,.0f}" if delays else "–"
    false = 1e5 * sum(run.n_false for run in runs) / sum(run.n_judged for run in runs)
    revised = 1e5 * sum(run.n_revised for run in runs) / sum(run.n_judged for run in runs)
    turnover = 100 * np.concatenate([run.turnover for run in runs])
    clusters = f"{np.mean([run.n_clusters for run in runs]):.1f} of {runs[0].expected or '?'}"
    score = np.mean([run.score for run in runs])
    share = 100 * np.median([run.update_share for run in runs])
    return (
        f"{name:14} {found:>6} {delay:>7} {false:6.1f} {revised:7.1f} {clusters:>14} {score:6.3f} "
        f"{turnover.mean():6.1f} {turnover.max():6.1f} {share:7.1f}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=FIRST_SEED, default="find")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--samples", type=int, default=N_SAMPLES)
    parser.add_argument("--streams", default=",".join(STREAMS))
    parser.add_argument(
        "--list", action="store_true", help="print every event after the first 10,000 samples"
    )
    options = parser.parse_args()
    print(f"{'stream':14} {'found':>6} {'delay':>7} {'false':>6} {'revised':>7} {'clusters':>14} {'ARI':>6} "
          f"{'turn %':>6} {'worst':>6} {'ids %':>7}")  # fmt: skip
    for name in options.streams.split(","):
        first = FIRST_SEED[options.half]
        runs = [run(name, first + seed, options.samples) for seed in range(options.seeds)]
        print(line(name, runs), flush=True)
        for one in runs if options.list else []:
            print(*(f"    {event}" for event in one.events), sep="\n")


if __name__ == "__main__":
    main()
