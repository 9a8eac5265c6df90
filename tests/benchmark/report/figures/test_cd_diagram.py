"""Critical-difference diagrams and curves, read back from the SVG."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from everclust.benchmark.report.figures.cd_diagram import diagram
from everclust.benchmark.report.figures.sparklines import history_plot, in_words, steps
from everclust.benchmark.report.outcomes import AMI, ARI, gather
from everclust.benchmark.report.statistics.ranks import critical_difference, groups, ranks
from everclust.benchmark.report.tables.ranks import (
    Scores,
    can_compare,
    our_idat_among_printed,
    our_scores,
    printed_scores,
    rank_grid,
    verdict_picture,
)


def parsed(svg):
    """Shapes by class: lists of dicts of numbers; and texts by their words."""
    shapes, texts = {}, {}
    for element in ElementTree.fromstring(svg):
        numbers = {k: float(v) for k, v in element.attrib.items() if re.fullmatch(r"-?[\d.]+", v)}
        shapes.setdefault(element.get("class"), []).append(numbers)
        if element.text:
            texts[element.text] = element.attrib
    return shapes, texts


def length(line):
    return line["x2"] - line["x1"]


@pytest.fixture
def drawn():
    return parsed(diagram(["a & b", "c", "d", "e"], [1.5, 3.75, 2.0, 2.75], 1.0, [[0, 2], [2, 3], [3, 1]]))


def test_the_best_is_at_the_left_and_ranks_are_to_scale(drawn):
    shapes, texts = drawn
    one, four = float(texts["1"]["x"]), float(texts["4"]["x"])
    per_rank = (four - one) / 3
    assert per_rank > 0
    stems = sorted(line["x1"] for line in shapes["stem"] if line["x1"] == line["x2"])
    assert stems == pytest.approx([one + per_rank * (rank - 1) for rank in (1.5, 2.0, 2.75, 3.75)], abs=0.02)


def test_the_ruler_is_as_long_as_the_critical_difference(drawn):
    shapes, texts = drawn
    per_rank = (float(texts["4"]["x"]) - float(texts["1"]["x"])) / 3
    (ruler,) = shapes["ruler"]
    assert length(ruler) == pytest.approx(per_rank, abs=0.02)
    assert "CD = 1.000" in texts


def test_a_bar_for_every_group_covers_its_members(drawn):
    shapes, texts = drawn
    one, four = float(texts["1"]["x"]), float(texts["4"]["x"])
    spans = [(1.5, 2.0), (2.0, 2.75), (2.75, 3.75)]
    assert len(shapes["bar"]) == 3
    assert len({bar["y1"] for bar in shapes["bar"]}) == 3  # none upon another
    for bar, (best, worst) in zip(shapes["bar"], spans, strict=True):
        assert bar["x1"] < one + (best - 1) * (four - one) / 3
        assert bar["x2"] > one + (worst - 1) * (four - one) / 3
        assert length(bar) - (worst - best) * (four - one) / 3 < 12


def test_names_stand_with_their_mean_ranks_in_two_halves(drawn):
    _, texts = drawn
    assert texts["a & b\u20021.50"]["text-anchor"] == "end"
    assert texts["d\u20022.00"]["text-anchor"] == "end"
    assert texts["3.75\u2002c"]["text-anchor"] == "start"
    assert texts["2.75\u2002e"]["text-anchor"] == "start"
    assert float(texts["a & b\u20021.50"]["y"]) < float(texts["d\u20022.00"]["y"])  # no line crosses another
    assert float(texts["3.75\u2002c"]["y"]) < float(texts["2.75\u2002e"]["y"])


def test_no_stem_crosses_a_name(drawn):
    shapes, _ = drawn
    first_row = min(line["y1"] for line in shapes["stem"] if line["y1"] == line["y2"])
    assert all(bar["y1"] < first_row for bar in shapes["bar"])


def test_the_diagram_of_the_paper_s_table():
    scores = printed_scores(ARI)
    picture = verdict_picture(scores)
    shapes, texts = parsed(picture.svg)
    assert "IDAT\u20021.73" in texts
    assert "5.25\u2002DDVFA" in texts
    assert "CD = 1.539" in texts
    assert len(shapes["bar"]) == 4
    assert "IDAT, SOINN+; SOINN+, GNG, CAE; GNG, CAE, CAEA; CAE, CAEA, DDVFA." in picture.words
    assert "χ² = 55.57" in picture.words
    assert "IDAT\u20021.98" in verdict_picture(printed_scores(AMI)).svg


def test_nothing_is_drawn_unless_friedman_rejects():
    table = np.array([[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.2, 0.3, 0.1]])
    picture = verdict_picture(Scores("even", ["a", "b", "c"], ["x", "y", "z"], table))
    assert picture.svg == ""
    assert "there is no diagram" in picture.words


def results(algorithm, dataset, ari, status="ok"):
    return {
        **{"algorithm": algorithm, "dataset": dataset, "setting": "nonstationary", "seed": 1},
        **{"status": status, "ari": ari, "ami": ari, "params_json": "{}"},
    }


def test_our_idat_takes_the_place_of_the_published_one():
    outcomes = gather(
        [results("idat", "iris", 0.0), results("idat", "seeds", 1.0), results("idat", "own", 1.0)]
    )
    scores = our_idat_among_printed(outcomes, ARI)
    assert scores.datasets == ["iris", "seeds"]
    assert scores.table[:, scores.names.index("IDAT")].tolist() == [0.0, 1.0]
    assert scores.table[0, scores.names.index("GNG")] == 0.379
    grid = rank_grid("", [(ARI, scores)], ["IDAT"])
    assert [[entry.text for entry in row.entries] for row in grid.rows] == [
        ["6.0", "1.0"],
        ["1.0", grid.rows[1].entries[1].text],
        ["3.50", grid.rows[2].entries[1].text],
    ]


def test_our_scores_are_on_the_sets_that_all_were_tried_on():
    given = [results(name, "iris", k) for k, name in enumerate("abc")]
    given += [results("a", "seeds", 0.5), results("b", "seeds", 0.1), results("c", "seeds", None, "timeout")]
    given += [results("a", "rice", 0.5)]  # the others are still to come
    given += [results(name, "skin", None, "missing") for name in "abc"]
    scores = our_scores(gather(given), "nonstationary", ["a", "b", "c"], ARI)
    assert scores.datasets == ["iris", "seeds"]
    assert can_compare(scores)
    assert ranks(scores.table).tolist() == [[3, 2, 1], [1, 2, 3]]


def test_groups_and_positions_fit_together():
    mean_ranks = [1.0, 2.2, 3.0]
    difference = critical_difference(3, 10)
    shapes, _ = parsed(diagram(["a", "b", "c"], mean_ranks, difference, groups(mean_ranks, difference)))
    assert [length(bar) < length(shapes["ruler"][0]) + 9 for bar in shapes["bar"]] == [True]


HISTORY = {"n_samples_seen": [10, 20, 30], "interval": [2, 2, 8], "vigilance": [None, 0.5, 0.25]}


def test_a_curve_is_made_of_steps():
    assert steps(np.array([0.0, 1, 2, 3]), np.array([5.0, 5, 4, 4]), 9) == "M0 5H2V4H9"


def test_very_many_changes_are_thinned():
    x = np.arange(100_000.0)
    assert steps(x, x % 7, 1e5).count("H") <= 241


def test_a_history_has_both_curves_to_scale():
    svg = history_plot(HISTORY, "Iris")
    paths = {e.get("class"): e.get("d") for e in ElementTree.fromstring(svg) if e.tag == "path"}
    levels = [float(y) for y in re.findall(r"(?:V|M\S+ )(-?[\d.]+)", paths["curve interval"])]
    texts = {e.text: float(e.get("y")) for e in ElementTree.fromstring(svg) if e.tag == "text"}
    assert len(levels) == 2
    assert levels[1] < levels[0]  # 8 is above 2
    assert texts["8"] < texts["Λ"]
    assert "0.5" in texts
    assert paths["curve vigilance"].count("V") == 1


def test_a_history_in_words():
    assert in_words(HISTORY) == "Λ from 2 to 8, at most 8; V from 0.5 to 0.25, at most 0.5"


def test_a_history_without_a_vigilance_is_drawn_without():
    assert "curve vigilance" not in history_plot(HISTORY | {"vigilance": [None] * 3}, "")
