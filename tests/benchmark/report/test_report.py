"""The report as a file: complete, sound, harmless, and honest about what is missing."""

import re
from html.parser import HTMLParser

import pytest

from everclust.benchmark.report.formats.html import page
from everclust.benchmark.report.formats.markdown import markdown
from everclust.benchmark.report.names import ABLATION
from everclust.benchmark.report.report import report_on, write_report
from everclust.benchmark.run.jobs import Job, Result
from everclust.benchmark.run.registry import ALGORITHMS, Algorithm
from everclust.benchmark.run.store import Store, StoreError

SETS = {"iris": 3, "seeds": 3, "rice": 2}
EVIL = '<script>alert("&")</script> | `x` *y*'
VOID = {"meta", "br", "line", "path", "link", "img"}


class Page(HTMLParser):
    """Checks the nesting, and collects what is there."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.links, self.ids, self.text = [], [], [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        given = dict(attributes)
        self.links += [given[name] for name in ("href", "src", "xlink:href") if name in given]
        self.ids += [given["id"]] if "id" in given else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


def run(algorithm, dataset, setting, seed, **changes):
    steps = SETS.get(dataset, 2)
    history = {"n_samples_seen": [50, 100], "interval": [2, 20], "vigilance": [0.1, 0.4]}
    measures = {"ari": 0.5 + seed / 100, "ami": 0.6, "nodes": 8 + seed, "clusters": 4, "history": history}
    measures |= {"train_seconds": 9.0, "train_cpu_seconds": 0.1, "peak_memory": 2**20}
    if setting != "stationary":
        measures |= {
            "step_ari": [1.0] * steps,
            "ai_ari": 0.7,
            "bwt_ari": -0.2,
            "ai_ami": 0.7,
            "bwt_ami": -0.1,
        }
    job = Job(algorithm, dataset, setting, seed)
    return Result(job, **(changes or {"status": "ok"} | measures))


def everything():
    for dataset in SETS:
        for seed in (1, 2, 3):
            yield run("idat", dataset, "stationary", seed)
            for algorithm in ABLATION:
                yield run(algorithm, dataset, "nonstationary", seed)
    yield run("idat", "rice", "nonstationary:1", 1)
    yield run("idat", "letter", "stationary", 1, status="failed", error=EVIL)
    yield run("idat", "skin", "stationary", 1, status="memory", error="Out of memory.")
    yield run("idat", "stl10", "stationary", 1, status="missing", error="STL10 is not available.")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    with Store(folder / "results.sqlite") as store:
        for result in everything():
            store.add(result)
    write_report(folder / "results.sqlite", folder / "docs" / "report.html", folder / "report.md")
    return (folder / "docs" / "report.html").read_text(), (folder / "report.md").read_text()


@pytest.fixture(scope="module")
def html(written):
    return written[0]


@pytest.fixture(scope="module")
def parsed(html):
    return Page(html)


def test_the_page_is_well_formed_and_has_every_part(parsed):
    for title in (
        *("Agreement", "Nodes and clusters", "ARI and AMI", "Other shuffles", "Continual learning"),
        *("Cluster error", "Ranks", "Ablation", "Λ and vigilance", "Time and memory"),
        *("What did not finish", "How it was made"),
    ):
        assert title in parsed.words


def test_the_page_needs_nothing_else(html, parsed):
    assert not re.search(r"https?:|@import|url\(|//[a-z]", html)
    assert "script" not in parsed.tags
    assert {"link", "img", "iframe"}.isdisjoint(parsed.tags)
    assert all(link.startswith("#") and link[1:] in parsed.ids for link in parsed.links)
    assert len(set(parsed.ids)) == len(parsed.ids)


def test_the_page_suits_phones_and_dark_rooms(html):
    assert 'name="viewport"' in html
    assert "prefers-color-scheme: dark" in html
    assert html.count("<table>") == html.count('class="box"')


def test_what_others_wrote_is_only_text(html, parsed):
    assert "<script" not in html
    assert '<script>alert("&")</script>' in parsed.words


def test_the_summary_has_its_denominator(parsed):
    # Two measures of three sets in one setting, four in the other.
    assert re.search(
        r"\d+ of 18 published numbers of IDAT reproduced within one standard deviation", parsed.words
    )
    assert "The paper has 126 more numbers for which we have no result" in parsed.words


def test_every_cell_that_does_not_agree_is_listed(parsed):
    listed = re.search(r"Cells that do not agree \((\d+)\)", parsed.words)
    met = re.search(r"(\d+) of 18 published", parsed.words)
    assert int(listed[1]) == 18 - int(met[1])
    assert "no known reason" in parsed.words
    assert "instead of 30" not in parsed.words


def test_cells_are_marked_by_a_symbol_too(html):
    assert re.search(r'<td class="[^"]*\bone">[^<]*<small>[^<]*</small><i>●</i>', html)
    for symbol in "●◐○":
        assert f">{symbol}</b>" in html  # the legend


def test_there_are_diagrams_and_curves(html, parsed):
    assert html.count('<svg viewBox="0 0 ') == parsed.tags.count("svg")
    assert html.count('class="cd"') >= 2
    assert html.count('class="history"') == 6  # three sets, both settings; variants have none


def test_a_table_that_the_paper_has_not_has_dashes(html):
    scores = html[html.index('id="ari-and-ami"') : html.index('id="other-shuffles"')]
    stationary, nonstationary = scores.split('<div class="grid">')[1:]
    assert stationary.count(">–</td>") == 6
    assert ">–<" not in nonstationary


def test_rows_without_a_result_are_there(html):
    table = html[html.index('id="nodes-and-clusters"') :]
    for title, mark in (("STL10", "N/A"), ("Letter", "N/A"), ("Skin", "OOM")):
        row = re.search(rf"<tr><th scope=\"row\">{title}</th>.*?</tr>", table)[0]
        assert row.count(f">{mark}<") == 2


def test_failures_are_counted_and_explained(parsed):
    assert "1 of 1 data set not available put stl10.npz into the data folder and run again" in parsed.words
    assert "needed too much memory" in parsed.words


def test_provenance(parsed):
    assert "82 ok, 1 failed, 1 memory, 1 missing" in parsed.words
    assert "everclust" in parsed.words
    assert re.search(r"Seeds 1 to 3", parsed.words)


def test_the_markdown_has_the_same_tables(written):
    html, text = written
    tables = re.findall(r"((?:^\|.*\|\n)+)", text, flags=re.M)
    assert len(tables) == html.count("<table>")
    for table in tables:
        widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(widths) == 1
    assert "| Iris | 3 | 10.0 ± 1.0 ● | 8.8 ± 1.5 | 4.0 ± 0.0 ◐ | 5.6 ± 1.4 |" in text
    assert "| STL10 | 10 | N/A | 40.2 ± 6.2 | N/A | 12.9 ± 2.5 |" in text
    assert "<script" not in text.replace("\\<", "")
    assert "<svg" not in text
    assert "Mean ranks: IDAT 1.73" in text


def test_the_report_says_that_backward_transfer_is_not_forgetting_alone(parsed):
    assert "mostly negative because the task gets harder" in parsed.words


def test_an_empty_store_is_one_clear_sentence_and_writes_nothing(tmp_path):
    Store(tmp_path / "empty.sqlite").close()
    with pytest.raises(StoreError, match=r"holds no results yet; run `everclust bench run` first\.$"):
        write_report(tmp_path / "empty.sqlite", tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_a_store_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(StoreError, match="There is no store"):
        write_report(tmp_path / "none.sqlite", tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def rows(*results):
    return [result.row() for result in results]


def test_a_store_of_failures_alone_still_has_a_report():
    report = report_on(rows(run("idat", "iris", "stationary", 1, status="failed", error=EVIL)))
    assert "The paper has no numbers for these runs." in Page(page(report)).words
    assert "N/A" in markdown(report)


def test_only_what_was_run_is_reported():
    report = report_on(rows(run("idat", "iris", "stationary", 1)))
    titles = [section.title for section in report.sections]
    assert "Continual learning" not in titles
    assert "Ablation" not in titles
    assert "What did not finish" not in titles
    assert "Seeds" not in Page(page(report)).words.replace("Seeds 1", "")


def test_an_algorithm_and_a_data_set_of_one_s_own():
    results = [
        run("mine", "own", setting, seed) for setting in ("stationary", "nonstationary") for seed in (1, 2)
    ]
    words = Page(page(report_on(rows(*results)))).words
    assert "own" in words
    assert "mine" in words


def test_several_algorithms_are_ranked(monkeypatch):
    for name, title in (("gng", "GNG"), ("cae", "CAE")):
        monkeypatch.setitem(ALGORITHMS, name, Algorithm(name, title, make=lambda params, seed: None))
    results = []
    for k, name in enumerate(("gng", "cae", "idat")):
        for dataset in (*SETS, "letter", "yeast", "shuttle"):
            row = run(name, dataset, "nonstationary", 1).row()
            results.append(row | {"ari": 0.1 * k, "ami": 0.1 * k, "history": None})
    report = report_on(results)
    text = markdown(report)
    assert "ARI, nonstationary: 6 data sets, Friedman χ² = 12.00, p = 0.002" in text
    assert "Mean ranks: IDAT 1.00, CAE 2.00, GNG 3.00." in text
    assert "| Mean rank | 3.00 |" in text
    Page(page(report))
