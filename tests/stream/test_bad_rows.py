"""One bad row never stops a stream: it is skipped, counted, reported and kept, under its own number."""

import json

import numpy as np
import pytest

from everclust import EverClust, load
from everclust.stream import Columns, Run, open_source
from everclust.stream.bad_rows import BadRows
from everclust.stream.reject import Reject
from everclust.stream.run import run
from everclust.stream.sources.messages import row_of, table_of


@pytest.fixture
def small_pieces(monkeypatch):
    for name in ("FileBytes", "StandardInput"):
        read = getattr(__import__("everclust.stream.sources.bytes", fromlist=[name]), name).read
        monkeypatch.setattr(read, "__defaults__", (5_000,))


def csv_lines(X):
    return ["a,b,c,d", *(",".join(map(repr, row)) for row in X.tolist())]


def json_lines(X):
    return [json.dumps(dict(zip("abcd", row, strict=True))) for row in X.tolist()]


BAD_CSV = [
    "12:30,1.0,2.0,3.0",
    "1.0,2.0",
    "1,2,3,4,5",
    "1,1e200,3,4",
    ",1,2,3",
    '"never closed,1,2,3',
    "1,x,3,4",
]
BAD_JSON = [
    '{"a": "12:30", "b": 1, "c": 2, "d": 3}',
    '{"a": ',
    "[1, 2]",
    '{"a": 1, "b": 1e200, "c": 1, "d": 2}',
]
FILES = {"x.csv": (csv_lines, BAD_CSV, 1), "x.jsonl": (json_lines, BAD_JSON, 0)}


@pytest.fixture(params=FILES)
def spoilt(request, folder, X):
    """(path, numbers of the bad rows): bad rows here and there, among good ones."""
    lines_of, bad, n_header = FILES[request.param]
    lines, numbers = lines_of(X), []
    for k, line in enumerate(bad):
        number = 5 + k * 350  # counted from 1
        lines.insert(n_header + number - 1, line)
        numbers.append(number)
    (folder / request.param).write_text("\n".join(lines) + "\n")
    return request.param, numbers


def learn(path, X, **options):
    job = Run(EverClust(), source := open_source(path, columns := Columns()), columns, url=path, **options)
    said: list[str] = []
    columns.warn = said.append
    summary = run(job)
    assert source.paths == [path]
    return job, summary, said


@pytest.mark.usefixtures("small_pieces")
def test_bad_rows_are_skipped_and_all_others_learnt(spoilt, X):
    path, numbers = spoilt
    job, summary, said = learn(path, X)
    assert np.array_equal(job.model.prototypes_, EverClust().partial_fit(X).prototypes_)
    assert (summary.rows, summary.skipped) == (len(X) + len(numbers), len(numbers))
    assert sum(summary.reasons.values()) == len(numbers)
    assert said[0].startswith("Row 5 was skipped: ")


@pytest.mark.usefixtures("small_pieces")
def test_bad_rows_are_kept_with_number_position_and_reason(spoilt, X, folder, call):
    path, numbers = spoilt
    call(
        "fit",
        path,
        "-m",
        "m",
        "--rejects",
        "bad.jsonl",
        "--checkpoint",
        "kept",
        "--every",
        400,
        "--limit",
        900,
    )
    call("fit", path, "-m", "m", "--rejects", "bad.jsonl", "--checkpoint", "kept", "--every", 400)
    kept = [json.loads(line) for line in (folder / "bad.jsonl").read_text().splitlines()]
    assert [reject["row"] for reject in kept] == numbers
    assert np.array_equal(load("m").prototypes_, EverClust().partial_fit(X).prototypes_)
    assert "12:30" in kept[0]["text"]
    assert kept[0]["reason"] == "no number in column 'a'"
    for reject in kept:  # the position is the one after the row
        rest = sum(batch.table.num_rows for batch in open_source(path).batches(reject["position"]))
        assert rest == len(X) + len(numbers) - reject["row"]


def test_an_error_names_the_row_and_keeps_what_came_before(spoilt, X, folder, sentence):
    path, _ = spoilt
    said = sentence("fit", path, "-m", "m", "--on-bad-row", "error")
    assert said.startswith("Row 5 of what was read has no number in column 'a', ")
    assert said.endswith(" with --on-bad-row skip; 4 rows before it were learnt and are saved in m.")
    assert load("m").n_samples_seen_ == 4


@pytest.mark.parametrize(
    ("lines", "options", "saved"),
    [
        (["1,2", "x,2"], ["-m", "m"], "; 1 row before it was learnt and is saved in m."),
        (["1,2", "x,2"], ["--checkpoint", "kept"], "; 1 row before it was learnt and is saved in kept."),
        (["1,2", "x,2"], ["-m", "m", "--key", "b"], "; 1 row before it was learnt and is saved in m."),
        (["1,2", "x,2"], [], " with --on-bad-row skip."),
        (["x,2", "1,2"], ["-m", "m"], " with --on-bad-row skip."),
    ],
)
def test_an_error_says_what_is_saved(lines, options, saved, folder, sentence):
    (folder / "x.csv").write_text("\n".join(["a,b", *lines, "3,4", "5,6", "7,8"]))
    words = ["watch", "x.csv", "--on-bad-row", "error", *options]
    assert sentence(*words).endswith(saved)


def test_a_row_far_behind_is_named_rightly(folder, X, sentence):
    lines = csv_lines(np.tile(X, (5, 1)))
    lines[12_345] = "12:30,1,2,3"
    (folder / "x.csv").write_text("\n".join(lines) + "\n")
    assert "Row 12,345 of what was read" in sentence("fit", "x.csv", "-m", "m", "--on-bad-row", "error")


def test_too_many_rejects_end_the_run(folder, X, call):
    lines = csv_lines(X[:500])
    lines[100:100] = ["x,1,2,3"] * 5
    (folder / "x.csv").write_text("\n".join(lines) + "\n")
    said = call("fit", "x.csv", "-m", "m", "--max-rejects", 4, code=1)
    assert "Row 104 of what was read has no number in column 'a', 'x', and --max-rejects 4 rows" in said
    assert said.rstrip().endswith("; 99 rows before it were learnt and are saved in m.")
    assert load("m").n_samples_seen_ == 99
    call("fit", "x.csv", "-m", "n", "--max-rejects", 5)
    assert load("n").n_samples_seen_ == 500


def test_a_restart_at_the_bad_row_goes_on(folder, X, call):
    """The first piece after a restart begins with the bad row, and its types must not be guessed from it."""
    arguments = ["fit", "x.csv", "-m", "m", "--checkpoint", "kept", "--every", 100]
    lines = csv_lines(X)
    (folder / "x.csv").write_text("\n".join(lines[:1001]) + "\n")
    call(*arguments)
    with (folder / "x.csv").open("a") as file:
        file.write("12:30,1.0,2.0,3.0\n")
    call(*arguments)
    with (folder / "x.csv").open("a") as file:
        file.write("\n".join(lines[1001:]) + "\n")
    assert call(*arguments).startswith("3,001 rows, 1,001 of them before, 1 skipped; ")
    assert np.array_equal(load("m").prototypes_, EverClust().partial_fit(X).prototypes_)


def test_skips_are_reported_while_they_happen(folder, X, capfd):
    """At the first, the tenth, the hundredth … of them, and at the end."""
    lines = csv_lines(X[:10]) + [",1,2,3"] * 5_000
    (folder / "x.csv").write_text("\n".join(lines) + "\n")
    _, _, said = learn("x.csv", X, block=7)
    counts = [int(sentence.split()[0].replace(",", "")) for sentence in said[1:]]
    assert (
        said[0] == "4 rows were skipped so far: 4 with no finite value in column 'a' (first row 11: no "
        "finite value in column 'a')."
    )
    assert counts[-1] == 5_000
    assert len(said) == 5


def test_when_all_rows_are_skipped_there_is_an_error(folder, call):
    (folder / "x.csv").write_text("a,b\n" + "1,\n" * 500)
    said = call("fit", "x.csv", "-m", "m", code=1)
    assert (
        "Nothing was learnt, because all 500 rows were skipped: 500 with no finite value in column 'b'"
        in said
    )


def test_when_the_first_line_was_no_header(folder, call):
    (folder / "x.csv").write_text("# by hand\na,b\n1,2\n")
    hint = "the first line was taken as the header, so remove it if it is none"
    assert hint in call("fit", "x.csv", "-m", "m", code=1)
    (folder / "y.csv").write_text("a,b\n1,\n")
    assert hint not in call("fit", "y.csv", "-m", "m", code=1)


def test_when_the_only_row_is_skipped(folder, call):
    (folder / "x.csv").write_text("a,b\n1,\n")
    assert "because the only row was skipped: 1 with" in call("fit", "x.csv", "-m", "m", code=1)


@pytest.mark.parametrize("end", ["", ","])
def test_a_comma_at_the_end_of_the_header(end, folder, X, call):
    lines = csv_lines(X)
    lines = [lines[0] + ",", *(line + end for line in lines[1:])]
    (folder / "x.csv").write_text("\n".join(lines) + "\n")
    call("fit", "x.csv", "-m", "m")
    assert list(load("m").feature_names_in_) == ["a", "b", "c", "d"]
    assert np.array_equal(load("m").prototypes_, EverClust().partial_fit(X).prototypes_)


class TestMessages:
    def test_the_fields_of_most_messages_are_learnt(self):
        columns, said = Columns(), []
        columns.warn = said.append
        rows = [{"a": 1, "b": 2}] * 600 + [{"a": 1, "b": 2, "debug": 3}] + [{"a": 1, "b": 2}] * 399
        found = columns.take(table_of(rows, columns))
        assert columns.features == ["a", "b"]
        assert len(found.X) == 1_000
        assert said == [
            "The field 'debug' is in 1 of the first 1,000 messages, so it is left out; choose it with "
            "--columns if it is to be learnt."
        ]

    def test_a_field_that_was_asked_for_is_learnt_from_the_messages_that_have_it(self):
        columns = Columns(["a", "rare"])
        found = columns.take(table_of([{"a": 1}, {"a": 1, "rare": 2}, {"a": 3}], columns))
        assert found.X.tolist() == [[1.0, 2.0]]
        assert set(found.rejects) == {0, 2}

    def test_a_first_message_without_a_field_of_the_model(self):
        columns = Columns(expected=["a", "b"])
        found = columns.take(table_of([{"a": 1, "renamed": 2}], columns))
        assert found.rejects[0].reason == "no finite value in column 'b'"
        assert columns.take(table_of([{"b": 1, "a": 2}], columns)).X.tolist() == [[2.0, 1.0]]

    def test_what_cannot_be_learnt(self):
        columns = Columns(expected=["a", "b"])
        bodies = [b'{"a": 1, "b": 1e200}', b"{", b'{"a": "x", "b": 2}', b'{"a": 1, "b": 2}']
        found = columns.take(table_of([row_of(body) for body in bodies], columns))
        assert found.kept.tolist() == [3]
        assert {row: reject.reason for row, reject in found.rejects.items()} == {
            0: "a magnitude over 1e+140 in column 'b'",
            1: "no JSON object with fields",
            2: "no number in column 'a'",
        }


def test_policies_count_from_the_checkpoint():
    bad_rows = BadRows(max_rejects=3)
    bad_rows.restore({"no number in column 'a'": 3})
    assert bad_rows.reasons.total() == 3
    said: list[str] = []
    bad_rows.report(said.append, at_end=True)
    assert said == [], "they were reported before the restart"
    bad_rows.reasons["no number in column 'a'"] += 1
    bad_rows.first = 70, Reject("no number in column 'a'", "x")
    bad_rows.report(said.append, at_end=True)
    assert said[0].endswith("(first since the restart, row 70: no number in column 'a', 'x').")


class TestQuotes:
    """A line break within quotes ends no record, wherever a piece ends."""

    @pytest.mark.parametrize("piece", [64, 100, 1_000])
    def test_no_rows_are_invented(self, piece, folder, monkeypatch):
        monkeypatch.setattr("everclust.stream.sources.bytes.FileBytes.read.__defaults__", (piece,))
        notes = [
            '"two\nlines"',
            '"one, with ""quotes""\nand lines\n\n"',
            "plain",
            '5" pipe',
            '"closed"',
            '""',
        ]
        lines = [f"{notes[k % 6]},{k},{k % 7}" for k in range(2_000)]
        (folder / "x.csv").write_text('"a\nnote",n,m\n' + "\n".join(lines))
        columns = Columns(["n", "m"])
        tables = [batch.table for batch in open_source("x.csv", columns).batches() if batch.table.num_rows]
        X = np.concatenate([columns.take(table).X for table in tables])
        assert X[:, 0].tolist() == list(range(2_000))

    @pytest.mark.parametrize("piece", [64, 1_000, 2**20])
    def test_a_quote_that_is_never_closed_costs_one_row(self, piece, folder, monkeypatch):
        monkeypatch.setattr("everclust.stream.sources.bytes.FileBytes.read.__defaults__", (piece,))
        monkeypatch.setattr("everclust.stream.sources.quotes.LONGEST", 300)
        lines = [f"note,{k}" for k in range(500)]
        lines[100] = '"open,100'
        lines[495] = '"open,495'
        (folder / "x.csv").write_text("note,n\n" + "\n".join(lines) + "\n")
        columns, values, rejected = Columns(["n"]), [], []
        for batch in open_source("x.csv", columns).batches():
            if batch.table.num_rows:
                rows = columns.take(batch.table)
                values += rows.X[:, 0].tolist()
                rejected += [reject.reason for reject in rows.rejects.values()]
        assert values == [k for k in range(500) if k not in (100, 495)]
        assert rejected == ["a quote that is not closed"] * 2
