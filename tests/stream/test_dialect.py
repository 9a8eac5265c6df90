"""Text with other delimiters, decimal separators and encodings gives the same rows, from every position."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everclust import EverClust, load
from everclust.stream import StreamError, open_source
from everclust.stream.columns import Columns
from everclust.stream.dialect import Dialect
from everclust.stream.sources import text as text_module
from everclust.stream.sources.parsers import CsvParser

ENCODINGS = ["utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252", "utf-8-sig", "utf-7"]


def lines(X, delimiter=",", decimal="."):
    """Rows with a name in front that has other bytes in every encoding."""
    texts = [f"Größe {k} é{delimiter}" + delimiter.join(map(repr, row)) for k, row in enumerate(X.tolist())]
    return "\n".join([delimiter.join(["naïve", "a", "b", "c", "d"]), *texts]).replace(".", decimal) + "\n"


def read(url, position=None, **options):
    """(rows, ids, batches that have any)."""
    columns = Columns(["a", "b", "c", "d"], id="naïve")
    batches = [b for b in open_source(str(url), columns, **options).batches(position) if b.table.num_rows]
    found = [columns.take(batch.table) for batch in batches]
    return np.concatenate([rows.X for rows in found]), [name for rows in found for name in rows.ids], batches


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr("everclust.stream.sources.bytes.PIECE", 5_001)  # an odd number splits characters
    monkeypatch.setattr("everclust.stream.sources.bytes.FileBytes.read.__defaults__", (5_001,))


@pytest.mark.parametrize("delimiter", [";", "|", "tab", "\\t", "\t", " "])
def test_delimiters(delimiter, folder, X):
    between = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
    (folder / "x.csv").write_text(lines(X, between).replace("Größe ", "Größe_").replace(" é", "é"))
    np.testing.assert_array_equal(read("x.csv", delimiter=delimiter)[0], X)


@pytest.mark.parametrize(("name", "between"), [("x.csv", ";"), ("x.tsv", "\t")])
def test_commas_before_decimals(name, between, folder, X):
    (folder / name).write_text(lines(X, between, ","))
    delimiter = ";" if between == ";" else None
    np.testing.assert_array_equal(read(name, delimiter=delimiter, decimal=",")[0], X)


swapped = str.maketrans(".,", ",.")
texts = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(
        ["", "12:30", "1_000", "1,5", "1.5.5", "1.234,5", "+3.5", "nan", "1.", ".5", "true", " 5 "]
    ),
)


def outcome(block, decimal):
    parser = CsvParser(Columns(), "csv", None, "x", Dialect(";", decimal))
    parser.read_header(b"a;b\n")
    parser.columns.take(parser.parse(b"1;2\n"))
    rows = parser.columns.take(parser.parse("".join(f"{a};{b}\n" for a, b in block).encode()))
    reasons = {row: reject.reason for row, reject in rows.rejects.items()}
    return rows.X.view(np.int64).tolist(), rows.kept.tolist(), reasons


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=12))
def test_with_commas_for_points_the_same_rows_are_read(block):
    as_commas = [(a.translate(swapped), b.translate(swapped)) for a, b in block]
    assert outcome(as_commas, ",") == outcome(block, None)


def test_a_first_line_of_numbers_with_commas_is_refused(folder):
    (folder / "x.csv").write_text("1,5;2,5\n3,5;4,5\n")
    with pytest.raises(StreamError, match="numbers only"):
        list(open_source("x.csv", delimiter=";", decimal=",").batches())


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("suffix", ["csv", "csv.gz"])
def test_encodings_give_the_same_rows_from_every_position(encoding, suffix, folder, X):
    data = lines(X[:800]).encode(encoding)
    (folder / f"x.{suffix}").write_bytes(gzip.compress(data) if suffix.endswith("gz") else data)
    rows, ids, batches = read(f"x.{suffix}", encoding=encoding)
    np.testing.assert_array_equal(rows, X[:800])
    assert ids == [f"Größe {k} é" for k in range(800)]
    assert len(batches) > 3
    n_before = 0
    for batch in batches:
        n_rows = batch.table.num_rows
        position = json.loads(json.dumps(batch.position_after(n_rows // 2)))
        again = read(f"x.{suffix}", position, encoding=encoding)[0]
        np.testing.assert_array_equal(again, X[n_before + n_rows // 2 : 800])
        n_before += n_rows


def test_json_lines_in_another_encoding(folder, X):
    rows = [{"naïve": "é", **dict(zip("abcd", row, strict=True))} for row in X.tolist()]
    (folder / "x.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-16")
    np.testing.assert_array_equal(read("x.jsonl", encoding="utf-16")[0], X)


def test_what_is_no_text_in_the_encoding_costs_one_row(folder):
    (folder / "x.csv").write_bytes(
        "a,b\n1,2\n".encode("utf-16") + b"\x00\xd8" + "3,4\n5,6\n".encode("utf-16-le")
    )
    columns = Columns()
    tables = [b.table for b in open_source("x.csv", columns, encoding="utf-16").batches() if b.table.num_rows]
    rows = columns.take(tables[0])
    assert rows.X.tolist() == [[1, 2], [5, 6]]
    assert rows.rejects[1].reason == "no number in column 'a'"


@pytest.mark.parametrize("encoding", ["utf-16-le", "cp1252"])
def test_a_followed_file_in_another_encoding_is_read_as_it_grows_and_again_when_truncated(
    encoding, folder, monkeypatch
):
    monkeypatch.setattr(text_module, "PAUSE", 0.01)
    path, columns = folder / "log.csv", Columns(["n"])
    path.write_bytes("é,n\nö,1\nö,2\n".encode(encoding))
    source = open_source(str(path), columns, follow=True, encoding=encoding)
    batches, seen = source.batches(), []

    def until(n_rows):
        while len(seen) < n_rows:
            table = next(batches).table
            seen.extend(columns.take(table).X[:, 0].tolist() if table.num_rows else [])
        return seen

    assert until(2) == [1, 2]
    more = "ö,3\n".encode(encoding)
    for k in range(len(more)):  # byte by byte
        with path.open("ab") as file:
            file.write(more[k : k + 1])
    assert until(3) == [1, 2, 3]
    path.write_bytes("é,n\nü,4\n".encode(encoding))
    assert until(4) == [1, 2, 3, 4]
    batches.close()
    source.close()


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_resumed_run_learns_the_same(encoding, folder, X, call):
    (folder / "x.csv").write_bytes(lines(X, ";", ",").encode(encoding))
    command = ["fit", "x.csv", "-m", "m", "--delimiter", ";", "--decimal", ",", "--encoding", encoding]
    command += ["--exclude", "naïve", "--checkpoint", "kept", "--every", 500]
    call(*command, "--limit", 1_700)
    call(*command)
    assert np.array_equal(load("m").prototypes_, EverClust().partial_fit(X).prototypes_)


@pytest.mark.parametrize(
    ("option", "value", "name"),
    [("--delimiter", ";", "delimiter"), ("--decimal", ",", "decimal"), ("--encoding", "latin-1", "encoding")],
)
def test_a_resumed_run_has_the_same_dialect(option, value, name, folder, X, call, sentence):
    (folder / "x.tsv").write_text(lines(X, "\t"))
    command = ["fit", "x.tsv", "-m", "m", "--exclude", "naïve", "--checkpoint", "kept"]
    call(*command, "--limit", 100)
    assert f"were made with {name} None, but it is" in sentence(*command, option, value)


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("x.jsonl", ["--delimiter", ";"], "--delimiter is for csv and tsv, but x.jsonl is read as jsonl"),
        ("x.npy", ["--encoding", "latin-1"], "but x.npy is read as npy"),
        ("redis://h/s", ["--decimal", ","], "but redis://h/s is read as messages"),
        ("x.csv", ["--decimal", ","], "say what is between them, such as --delimiter ';'."),
        ("x.csv", ["--delimiter", ",", "--decimal", ","], "are both ','"),
        ("x.csv", ["--delimiter", "."], "are both '.'"),
        ("x.csv", ["--delimiter", ";;"], "--delimiter is ';;', but it must be one ASCII character"),
        ("x.csv", ["--delimiter", '"'], "other than a quote"),
        ("x.csv", ["--delimiter", "·"], "one ASCII character"),
        ("x.csv", ["--decimal", ";"], "--decimal is ';', but it must be a point or a comma."),
        ("x.csv", ["--encoding", "latin-99"], "There is no encoding 'latin-99'"),
        ("x.csv", ["--encoding", "rot13"], "There is no encoding 'rot13'"),
        ("x.csv", ["--encoding", "zip"], "There is no encoding 'zip'"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_so_is_refused(source, options, said, folder, X, sentence):
    for name in ("x.jsonl", "x.npy", "x.csv"):
        (folder / name).write_text("a,b\n1,2\n")
    assert said in sentence("fit", source, "-m", "m", *options)


def test_the_usual_values_may_be_said(folder, X, call):
    (folder / "x.csv").write_text(lines(X))
    command = ["fit", "x.csv", "-m", "m", "--exclude", "naïve", "--checkpoint", "kept"]
    call(*command, "--limit", 100)
    call(*command, "--decimal", ".", "--encoding", "UTF8")
    assert load("m").n_samples_seen_ == len(X)


def test_another_encoding_than_was_said(folder, sentence):
    (folder / "x.csv").write_text("größe,b\n1,2\n", encoding="latin-1")
    said = sentence("fit", "x.csv", "-m", "m", "--encoding", "utf-16")
    assert said.endswith(
        "; if its encoding is not utf-16, name it with --encoding, or leave that out for UTF-8."
    )
    assert "name its encoding with --encoding" in sentence("fit", "x.csv", "-m", "m")


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("a;b\n1,5;2,5\n2,5;3,5\n", [], "with --delimiter ';'"),  # every row has too many columns
        ("a;b\n1.5;2.5\n2.5;3.5\n", [], "with --delimiter ';'"),
        ("a;b\n1.5;2.5\n2.5;3.5\n", ["--columns", "a"], "with --delimiter ';'"),
        ("a\tb\n1\t2\n", [], "with --delimiter tab"),
        ("a;b\n1,5;2,5\n2,5;3,5\n", ["--delimiter", ";"], "'a' holds numbers with commas, such as '1,5'"),
        ("a;b\n1,5;2,5\n2,5;3,5\n", ["--delimiter", ";"], "with --decimal ,"),
    ],
)
def test_a_dialect_that_was_not_said_is_suggested(content, options, said, folder, sentence):
    (folder / "x.csv").write_text(content)
    assert said in sentence("fit", "x.csv", "-m", "m", *options)


def test_a_model_that_misses_its_columns_suggests_the_delimiter(folder, call, sentence):
    (folder / "x.csv").write_text("a;b\n1.5;2.5\n2.5;3.5\n3.5;1.5\n")
    call("fit", "x.csv", "-m", "m", "--delimiter", ";")
    assert "with --delimiter ';'" in sentence("predict", "x.csv", "-m", "m")


def test_commas_in_a_column_that_is_not_learnt_do_not_matter(folder, call):
    (folder / "x.csv").write_text("a;b\n1,5;2.5\n2,5;3.5\n3,5;1.5\n")
    call("fit", "x.csv", "-m", "m", "--delimiter", ";", "--columns", "b")
    call("fit", "x.csv", "-m", "n", "--delimiter", ";", "--id", "a")
    assert load("m").n_features_in_ == load("n").n_features_in_ == 1


def test_carriage_returns_alone_end_no_lines(folder, sentence):
    (folder / "x.csv").write_bytes(b"a,b\r1,2\r3,4\r")
    assert "x.csv has carriage returns (\\r) in it" in sentence("fit", "x.csv", "-m", "m")


def test_carriage_returns_in_quotes_are_text(folder, call):
    (folder / "x.csv").write_bytes(b'"a\rb",c\r\n1,2\r\n3,4\r\n')
    assert call("fit", "x.csv", "-m", "m").startswith("2 rows; ")


def test_another_encoding_is_hinted_at(folder, sentence):
    (folder / "x.csv").write_text("a,b\n1,2\n", encoding="utf-16")
    assert "name its encoding with --encoding, such as cp1252" in sentence("fit", "x.csv", "-m", "m")
