"""Known reasons why a cell does not agree with the paper's.

A reason is given only if it is known for that very cell: from a run that shows it, from the paper's own
numbers, or from a bound that the parameters set.
"""

from __future__ import annotations

import json
from typing import Any

from ...data.catalogue import CATALOGUE
from ..outcomes import AMI, ARI, CLUSTERS, NODES, Measure, Outcomes, Place, cell_statistics, other_shuffles
from .agreement import Comparison, Verdict, compare_cell, judge, printed

NO_REASON = "no known reason"
SMALL_SHARE = 0.1  # of the published mean
SMALL_STEP = {"nodes": 1.0, "clusters": 1.0, "ari": 0.02, "ami": 0.02}
CAE_CAP = 2000  # nodes
OTHER_COPIES = {  # Torque Clustering, which is deterministic, finds 12 clusters for 5 and 11 for 2 there
    "pima": "other values than in KEEL's and UCI's",
    "yeast": "other values than in UCI's",
}
NODE_SCORES = {ARI: Measure("node_ari", "ARI", 3), AMI: Measure("node_ami", "AMI", 3)}


def reason(comparison: Comparison, outcomes: Outcomes) -> str:
    """Known reasons why a cell does not agree.

    Parameters
    ----------
    comparison : Comparison
    outcomes : dict
        Results, including other shuffles if there are any.

    Returns
    -------
    reason : str
        One or more phrases, or NO_REASON.
    """
    found = [rule(comparison, outcomes) for rule in RULES]
    return "; ".join(filter(None, found)) or NO_REASON


def _place(comparison: Comparison) -> Place:
    return comparison.algorithm, comparison.dataset, comparison.setting


def _few_orders(comparison: Comparison, outcomes: Outcomes) -> str:
    """Two classes have two orders; the shuffle within them decides if another one agrees."""
    entry = CATALOGUE.get(comparison.dataset)
    if comparison.setting != "nonstationary" or entry is None or entry.n_classes != 2:
        return ""
    places = [(comparison.algorithm, comparison.dataset, of) for of in other_shuffles(outcomes)]
    cells = [compare_cell(outcomes, place, comparison.measure) for place in places]
    verdicts = [cell.verdict for cell in cells if cell]
    agree = sum(verdict == Verdict.ONE for verdict in verdicts)
    return f"two classes: one shuffle decides ({agree} of {len(verdicts)} others agree)" if agree else ""


def _other_copy(comparison: Comparison, outcomes: Outcomes) -> str:
    how = OTHER_COPIES.get(comparison.dataset)
    return f"other copy of the data: {how}" if how else ""


def _small(comparison: Comparison, outcomes: Outcomes) -> str:
    """Our mean is close, but the paper's standard deviation is small."""
    close = max(SMALL_SHARE * abs(comparison.mean), SMALL_STEP[comparison.measure.key])
    if abs(comparison.difference) > close:
        return ""
    gap = f"{abs(comparison.difference):.{comparison.measure.decimals}f}"
    return f"small spread: {gap} apart"


def _too_few_steps(comparison: Comparison, outcomes: Outcomes) -> str:
    """GNG inserts a node every λ samples, so one pass cannot give more than 2 + ⌊N/λ⌋."""
    steps = _params(outcomes, _place(comparison)).get("lambda_")
    counted = comparison.measure in (NODES, CLUSTERS)
    if comparison.algorithm != "gng" or not steps or not counted or comparison.dataset not in CATALOGUE:
        return ""
    most = 2 + CATALOGUE[comparison.dataset].n_samples // steps
    lowest = comparison.mean - comparison.deviation
    return f"λ = {steps} allows at most {most:,} nodes in one pass" if lowest > most else ""


def _params(outcomes: Outcomes, place: Place) -> dict[str, Any]:
    return json.loads(next((run.get("params_json") or "{}" for run in outcomes.get(place, [])), "{}"))


def _cap(comparison: Comparison, outcomes: Outcomes) -> str:
    """CAE at its cap: 2,000 single nodes do not score exactly 0."""
    nodes = cell_statistics(outcomes, _place(comparison), NODES)
    if comparison.algorithm != "cae" or comparison.measure not in NODE_SCORES or comparison.mean != 0:
        return ""
    at_cap = nodes is not None and nodes.mean == CAE_CAP
    return f"the paper scores runs at the cap of {CAE_CAP:,} nodes 0; ours is the score of the nodes" * at_cap


def _scores_of_nodes(comparison: Comparison, outcomes: Outcomes) -> str:
    """The paper's nonstationary scores of CAEA are those of nodes."""
    place = _place(comparison)
    if comparison.algorithm != "caea" or comparison.measure not in NODE_SCORES:
        return ""
    ours = cell_statistics(outcomes, place, NODE_SCORES[comparison.measure])
    if ours is None:
        return ""
    verdict = judge(ours.mean - comparison.mean, comparison.deviation, ours.standard_error)
    return f"the paper scores nodes: ours would be {ours.mean:.3f}" if verdict == Verdict.ONE else ""


def _contradiction(comparison: Comparison, outcomes: Outcomes) -> str:
    """One cluster in every run has a score of 0, whatever the labels."""
    clusters = printed(_place(comparison), CLUSTERS)
    is_score = comparison.measure in NODE_SCORES
    contradicts = is_score and clusters == (1.0, 0.0) and comparison.mean != 0
    return "the paper has one cluster there, which scores 0" if contradicts else ""


RULES = (_few_orders, _other_copy, _too_few_steps, _cap, _scores_of_nodes, _contradiction, _small)
