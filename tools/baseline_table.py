"""The table of agreement in docs/baselines.md, from the cells in docs/baseline_cells.csv.

Without arguments, print the table. With stores of results as arguments, such as those of `everclust bench run
--algorithms all --as-in-paper --seeds 3` and `… --fitted`, write the cells of the baselines first. Of a store
with fitted parameters, only the cells with fitted parameters are taken.
"""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path

from everclust.benchmark.report.outcomes import CellStatistics, gather
from everclust.benchmark.report.paper.agreement import compare, judge
from everclust.benchmark.report.paper.published import published_cell
from everclust.benchmark.report.parameters import parameter_kind
from everclust.benchmark.run.baselines import BASELINES
from everclust.benchmark.run.store import Store

CELLS = Path(__file__).parents[1] / "docs/baseline_cells.csv"
HEADS = ("algorithm", "parameters", "dataset", "setting", "measure", "runs", "mean", "std")
TITLES = {name: title for name, title, *_ in BASELINES} | {"torque-clustering": "Torque Clustering"}
PAPER = {name: title for name, title, *_ in BASELINES}
ROWS = (  # algorithm and kind of parameters, in the order of the page
    *(("torque-clustering", "none"), ("soinn-plus", "none"), ("cae", "none")),
    *(("tbm-p", "printed"), ("tbm-p", "fitted"), ("gng", "printed"), ("gng", "fitted")),
    *(("ddvfa", "printed"), ("caea", "fitted")),
)
COUNTS, SCORES = ("nodes", "clusters"), ("ari", "ami")
COLUMNS = (("stationary", COUNTS), ("nonstationary", COUNTS), ("nonstationary", SCORES))
WORDS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}
PRINTED = {"ari": "ARI", "ami": "AMI"}  # the paper's names, where they are others


def cells_of(path):
    """Cells of the baselines for which both a store and the paper have a number."""
    with Store(path, create=False) as store:
        outcomes = gather(store.results(), store.asked())
    for cell in compare(outcomes):
        kind = parameter_kind(outcomes, (cell.algorithm, cell.dataset, cell.setting))
        if (cell.algorithm, kind) in ROWS:
            place = (cell.algorithm, kind, cell.dataset, cell.setting, cell.measure.key)
            deviation = "" if math.isnan(cell.ours.deviation) else repr(cell.ours.deviation)
            yield dict(zip(HEADS, (*place, str(cell.ours.n), repr(cell.ours.mean), deviation), strict=True))


def write(paths):
    """Write the cells of several stores, sorted."""
    cells = [cell for path in paths for cell in cells_of(path)]
    cells.sort(key=lambda cell: [cell[name] for name in HEADS[:5]])
    with CELLS.open("w", newline="") as file:
        writer = csv.DictWriter(file, HEADS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(cells)


def read():
    """The cells on the page."""
    with CELLS.open(newline="") as file:
        return list(csv.DictReader(file))


def verdict(cell):
    """1 for a cell within one published standard deviation plus our standard error, 2 within two, else 3."""
    kind = "nodes_clusters" if cell["measure"] in COUNTS else "ari_ami"
    measure = PRINTED.get(cell["measure"], cell["measure"])
    mean, deviation = published_cell(
        f"{cell['setting']}_{kind}", cell["dataset"], PAPER[cell["algorithm"]], measure
    )
    ours = CellStatistics(float(cell["mean"]), float(cell["std"] or "nan"), int(cell["runs"]))
    return judge(ours.mean - mean, deviation, ours.standard_error)


def tally(cells):
    """Met within one standard deviation, in brackets within two, and all, as text."""
    verdicts = [verdict(cell) for cell in cells]
    return f"{verdicts.count(1)} ({sum(v <= 2 for v in verdicts)}) of {len(verdicts)}" if cells else ""


def title(algorithm, kind, cells):
    """The name, for fitted parameters with the number of data sets in each setting."""
    settings = dict.fromkeys(cell["setting"] for cell in cells)
    sizes = [len({c["dataset"] for c in cells if c["setting"] == setting}) for setting in settings]
    if kind != "fitted":
        return TITLES[algorithm]
    numbers = " and ".join(dict.fromkeys(WORDS.get(size, str(size)) for size in sorted(sizes)))
    return f"{TITLES[algorithm]}, {numbers} data sets"


def table(cells):
    """The table as lines of Markdown."""
    lines = [
        "| algorithm | parameters | counts, stationary | counts, nonstationary | scores, nonstationary |"
    ]
    lines.append("|---|---|--:|--:|--:|")
    for algorithm, kind in ROWS:
        own = [cell for cell in cells if (cell["algorithm"], cell["parameters"]) == (algorithm, kind)]
        of = [[c for c in own if c["setting"] == at and c["measure"] in kinds] for at, kinds in COLUMNS]
        entries = [title(algorithm, kind, own), kind, *map(tally, of)]
        lines.append("|" + "|".join(f" {entry} " if entry else " " for entry in entries) + "|")
    return lines


if __name__ == "__main__":
    if sys.argv[1:]:
        write(sys.argv[1:])
    sys.stdout.write("\n".join(table(read())) + "\n")
