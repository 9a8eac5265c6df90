"""However rows come, the same rows come, and any position can be gone on from."""

import gzip
import os
import threading
import time

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

from everclust import load
from everclust.stream import StreamError, open_source, sources
from everclust.stream.batch import empty_batch
from everclust.stream.columns import Columns
from everclust.stream.sources import text as text_module
from support.stream_fixtures import NAMES, write_csv


def table_of(X):
    return pa.table({name: X[:, k] for k, name in enumerate(NAMES)})


def write_stream_format(table, path):
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=700)


WRITERS = {
    "x.csv": lambda X, path: csv.write_csv(table_of(X), path),
    "x.tsv": lambda X, path: csv.write_csv(table_of(X), path, csv.WriteOptions(delimiter="\t")),
    "x.csv.gz": lambda X, path: path.write_bytes(gzip.compress(csv_bytes(X))),
    "x.jsonl": lambda X, path: path.write_text(table_of(X).to_pandas().to_json(orient="records", lines=True)),
    "x.parquet": lambda X, path: parquet.write_table(table_of(X), path, row_group_size=700),
    "x.arrow": lambda X, path: feather.write_feather(table_of(X), path, chunksize=700, compression="lz4"),
    "x.arrows": lambda X, path: write_stream_format(table_of(X), path),
    "x.npy": lambda X, path: np.save(path, X),
    "x.npz": lambda X, path: np.savez_compressed(path, X=X, y=np.arange(len(X))),
}


def csv_bytes(X):
    out = pa.BufferOutputStream()
    csv.write_csv(table_of(X), out)
    return out.getvalue().to_pybytes()


def read(url, position=None, columns=None, **options):
    """(rows, batches that have any)."""
    columns = columns or Columns(exclude=["y"] if str(url).endswith("npz") else [])
    source = open_source(str(url), columns, **options)
    batches = [batch for batch in source.batches(position) if batch.table.num_rows]
    rows = [columns.take(batch.table, source.named).X for batch in batches]
    return np.concatenate(rows) if rows else np.empty((0, len(NAMES))), batches


@pytest.fixture
def small_pieces(monkeypatch):
    """Several pieces, also of small files."""
    monkeypatch.setattr("everclust.stream.sources.bytes.PIECE", 5_000)
    for name in ("FileBytes", "StandardInput"):
        read = getattr(__import__("everclust.stream.sources.bytes", fromlist=[name]), name).read
        monkeypatch.setattr(read, "__defaults__", (5_000,))
    monkeypatch.setattr("everclust.stream.sources.tables.ROWS", 512)


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_rows_from_every_position(name, folder, X):
    WRITERS[name](X, folder / name)
    rows, batches = read(name)
    np.testing.assert_array_equal(rows, X)
    assert len(batches) > 3
    n_before = 0
    for k, batch in enumerate(batches):
        inside = batch.table.num_rows // 3 * (k % 3)
        rest, _ = read(name, batch.position_after(inside))
        np.testing.assert_array_equal(rest, X[n_before + inside :])
        n_before += batch.table.num_rows
    rest, _ = read(name, batches[-1].position_after(batches[-1].table.num_rows))
    assert len(rest) == 0


@pytest.mark.usefixtures("small_pieces")
def test_patterns_go_through_the_files_in_order_of_their_names(folder, X):
    for k, name in enumerate(["b.csv", "a.csv", "c.parquet"]):
        part = X[[1000, 0, 2000][k] :][:1000]
        WRITERS[f"x{os.path.splitext(name)[1]}"](part, folder / name)
    rows, batches = read("[abc].*")
    np.testing.assert_array_equal(rows, X)
    place = batches[len(batches) // 2].position_after(3)
    n_left = len(read("[abc].*", place)[0])
    np.testing.assert_array_equal(read("[abc].*", place)[0], X[len(X) - n_left :])
    (folder / "a0.csv").write_text("a,b,c,d\n1,2,3,4\n")
    with pytest.raises(StreamError, match="the files before it have changed"):
        read("[abc]*.*", place)


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_shorter_than_the_position(name, folder, X):
    WRITERS[name](X, folder / name)
    _, batches = read(name)
    place = batches[-1].position_after(batches[-1].table.num_rows)
    WRITERS[name](X[:900], folder / name)
    with pytest.raises(StreamError, match="shorter than the checkpoint"):
        read(name, place)


def test_a_file_that_grows(folder, X, monkeypatch):
    monkeypatch.setattr(text_module, "PAUSE", 0.01)
    path = folder / "log.csv"
    path.write_text("a,b,c,d\n")

    def grow():
        with path.open("a") as file:
            for row in X[:300]:
                line = ",".join(map(repr, map(float, row))) + "\n"
                file.write(line[:7])
                file.flush()  # half a line is not read
                file.write(line[7:])
                file.flush()
                time.sleep(0.001)

    threading.Thread(target=grow).start()
    source, columns, rows = open_source("log.csv", follow=True), Columns(), []
    assert source.endless
    for batch in source.batches():
        if batch.table.num_rows:
            rows.append(columns.take(batch.table).X)
        if sum(map(len, rows)) == 300:
            break
    np.testing.assert_array_equal(np.concatenate(rows), X[:300])


def test_a_line_without_an_end_counts_at_the_end_of_a_file(folder):
    (folder / "x.csv").write_text("a,b\n1,2\n3,4")
    assert read("x.csv")[0].tolist() == [[1, 2], [3, 4]]


def test_without_a_header(folder):
    (folder / "x.csv").write_text("1,2\n3,4\n")
    assert read("x.csv", header=False)[0].tolist() == [[1, 2], [3, 4]]


class TestAFirstLineOfNumbers:
    """It may be data, and a row would be lost."""

    @pytest.fixture(autouse=True)
    def numbers(self, folder):
        (folder / "x.csv").write_text("1,2.5,-3e4\n3,4,5\n")

    def test_is_refused(self):
        with pytest.raises(StreamError, match=r"numbers only \('1', '2.5', '-3e4'\); use --no-header if"):
            read("x.csv")

    def test_is_data_or_names_as_the_option_says(self):
        assert len(read("x.csv", header=False)[0]) == 2
        assert len(read("x.csv", header=True)[0]) == 1

    @pytest.mark.parametrize("known", [{"exclude": ["1"]}, {"features": ["2.5"]}, {"expected": ["2.5", "1"]}])
    def test_is_a_header_if_a_name_is_known(self, known):
        assert len(read("x.csv", columns=Columns(**known))[0]) == 1

    def test_is_not_one_with_a_word_in_it(self, folder):
        (folder / "x.csv").write_text("1,width\n3,4\n")
        assert read("x.csv")[0].tolist() == [[3, 4]]


def test_the_time_to_take_columns_is_linear_in_their_number():
    """8 times as many columns, of as many values in all, take at most about 8 times as long."""

    def seconds(n_columns):
        table = pa.table({f"column {k}": np.ones(2**18 // n_columns) for k in range(n_columns)})
        best = np.inf
        for _ in range(3):
            start = time.perf_counter()
            Columns().take(table)
            best = min(best, time.perf_counter() - start)
        return best

    seconds(64)  # imports
    assert seconds(4096) < 20 * seconds(512)


def test_columns_of_the_same_name(folder):
    (folder / "x.csv").write_text("a,b,a\n1,2,3\n")
    parquet.write_table(pa.table([[1.0], [2.0], [3.0]], names=["a", "b", "a"]), "x.parquet")
    for name in ("x.csv", "x.parquet"):
        with pytest.raises(StreamError, match=r"2 columns are called 'a'; .* --exclude a\."):
            read(name)
        assert read(name, columns=Columns(exclude=["a"]))[0].tolist() == [[2]]
        with pytest.raises(StreamError, match="2 columns are called 'a'"):
            read(name, columns=Columns(["b"], label="a"))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.csv", ",a,b\n0,1,2\n1,3,4\n", "1 has no name, as pandas writes its index;"),
        (
            "x.csv",
            "a,,b\n1,k,2\n3,l,4\n",
            "2 has no name; leave it out with --exclude '', or give it a name.",
        ),
        ("x.jsonl", '{"": 0, "a": 1, "b": 2}\n{"": 1, "a": 3, "b": 4}\n', "1 has no name, as pandas"),
    ],
)
def test_a_column_without_a_name_is_refused_until_it_is_chosen(name, text, said, folder, call, sentence):
    (folder / name).write_text(text)
    assert f"Column {said}" in sentence("fit", name, "-m", "m")
    call("fit", name, "-m", "m", "--exclude", "")
    assert list(load("m").feature_names_in_) == ["a", "b"]
    call("fit", name, "-m", "m", "--force", "--id", "", "-p", "p.csv")
    assert (folder / "p.csv").read_text().startswith(",cluster\n")
    if "k" not in text:
        call("fit", name, "-m", "m", "--force", "--columns", "", "--columns", "a,b")
        assert list(load("m").feature_names_in_) == ["", "a", "b"]


def test_a_column_without_name_and_values_may_be_left_out_by_name(folder):
    (folder / "x.csv").write_text("a,b,\n1,2,\n3,4,\n")
    assert read("x.csv", columns=Columns(exclude=[""]))[0].tolist() == [[1, 2], [3, 4]]


def test_without_a_header_columns_have_names(folder):
    (folder / "x.csv").write_text("1,,2\n3,,4\n")
    source = open_source("x.csv", columns := Columns(exclude=["x1"]), header=False)
    assert [columns.take(batch.table, source.named).X.tolist() for batch in source.batches()] == [
        [[1, 2], [3, 4]]
    ]


def test_ids_of_the_same_name_cannot_be_left_out(folder):
    (folder / "x.csv").write_text("a,b,a\n1,2,3\n")
    with pytest.raises(StreamError, match=r"^2 columns are called 'a'; give each a name of its own\.$"):
        read("x.csv", columns=Columns(id="a"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"id": "nam"},
            "There is no column 'nam' for --id; there are 'name', 'a', 'b'; perhaps you mean 'name'.",
        ),
        (
            {"label": "Kind"},
            "There is no column 'Kind' for --label; there are 'name', 'a', 'b'; check the name.",
        ),
        (
            {"exclude": ["c"]},
            "There is no column 'c' for --exclude; there are 'name', 'a', 'b'; check the name.",
        ),
        (
            {"features": ["a", "z"]},
            "There is no column 'z' for --columns; there are 'name', 'a', 'b'; check the name.",
        ),
        (
            {"features": ["a", "b", "a"]},
            "Column 'a' is named twice; a column can be learnt once only.",
        ),
        (
            {"features": ["a", "b"], "id": "a"},
            "Column 'a' is in --columns and also --id, which is never learnt; leave it out of one of them.",
        ),
    ],
)
def test_columns_that_cannot_be_what_an_option_says(options, message, folder):
    (folder / "x.csv").write_text("name,a,b\np,1,2\n")
    parquet.write_table(pa.table({"name": ["p"], "a": [1.0], "b": [2.0]}), "x.parquet")
    for name in ("x.csv", "x.parquet"):
        with pytest.raises(StreamError) as error:
            read(name, columns=Columns(**options))
        assert str(error.value) == message


def test_an_empty_file_has_no_rows(folder):
    (folder / "x1.csv").write_text("")
    (folder / "x2.csv").write_text("a,b\n1,2\n")
    (folder / "x3.csv").write_text("")
    assert read("x*.csv")[0].tolist() == [[1, 2]]
    assert len(read("x3.csv")[0]) == 0


def test_a_header_without_an_end_is_one(folder):
    (folder / "x1.csv").write_text("a,b")
    (folder / "x2.csv").write_text("a,b\n1,2\n")
    assert len(read("x1.csv")[0]) == 0
    assert read("x*.csv")[0].tolist() == [[1, 2]]


@pytest.mark.parametrize(
    ("name", "text"), [("x.csv", "a,b\n1,2\n3,4\n5,6\n7,red\n"), ("x.jsonl", '{"a": 1}\n{"a": 2}\n')]
)
def test_no_memory_of_python_is_left_to_the_threads_of_arrow(name, text, folder, monkeypatch):
    """They may free it when Python is ending, which aborts the process."""
    (folder / name).write_text(text)
    lent = []
    monkeypatch.setattr(pa, "py_buffer", lambda data: lent.append(data) or pa.array(data).buffers()[1])
    assert len(read(name)[0])
    assert not lent


def test_the_reading_thread_has_ended_when_a_source_is_closed(folder, monkeypatch):
    (folder / "x.csv").write_text("a,b\n1,2\n")
    source, reading = open_source("x.csv"), threading.Event()

    def slowly(path, within):
        yield from [empty_batch()] * 2
        reading.set()
        time.sleep(0.3)

    monkeypatch.setattr(source, "_read_file", slowly)
    batches = source.batches()
    next(batches)
    reading.wait()
    source.close()
    assert "everclust source" not in [thread.name for thread in threading.enumerate()]


def test_whole_numbers_may_become_fractions_later(folder, monkeypatch):
    monkeypatch.setattr("everclust.stream.sources.bytes.FileBytes.read.__defaults__", (8,))
    (folder / "x.csv").write_text("a,b\n1,2\n3,4\n5.5,6.25\n")
    assert read("x.csv")[0].tolist() == [[1, 2], [3, 4], [5.5, 6.25]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", "\n1,2\n", "no header"),
        ("x.parquet", "nonsense", "x.parquet cannot be read"),
        ("x.npy", "nonsense", "x.npy cannot be read"),
        ("x.docx", "nonsense", "The format of x.docx is unknown"),
        ("x.csv", "a,b\n1,2\nred,3\n", "Column 'a' holds string"),
    ],
)
def test_what_cannot_be_read(name, content, message, folder):
    (folder / name).write_text(content)
    with pytest.raises(ValueError, match=message):
        read(name)


def test_a_pipe_is_called_standard_input(monkeypatch):
    monkeypatch.setattr("everclust.stream.sources.bytes.StandardInput.read", lambda self: b"\xff,b\n1,2\n")
    with pytest.raises(StreamError, match=r"^Standard input cannot be read: .*--encoding"):
        read("-")


def test_objects_are_not_unpacked(folder):
    np.save(folder / "x.npy", np.array([[object()]]), allow_pickle=True)
    with pytest.raises(ValueError, match=r"x\.npy cannot be read"):
        read("x.npy")


def test_unknown_kinds_and_missing_files(folder):
    with pytest.raises(StreamError, match="unknown scheme 'ftp'"):
        open_source("ftp://example.org/x.csv")
    with pytest.raises(StreamError, match="There is no file nowhere"):
        open_source("nowhere*.csv")
    np.save(folder / "x.npy", np.ones((2, 2)))
    with pytest.raises(StreamError, match="cannot be followed"):
        open_source("x.npy", follow=True)


@pytest.mark.parametrize("scheme", sources.SYSTEMS)
def test_a_missing_package_says_how_to_get_it(scheme, monkeypatch):
    packages = {"kafka": "confluent_kafka", "redis": "redis", "nats": "nats", "mqtt": "paho"}
    package = packages[scheme.removesuffix("s") if scheme in ("rediss", "mqtts") else scheme]
    import sys

    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    if package == "paho":
        monkeypatch.setitem(sys.modules, "paho.mqtt", None)
        monkeypatch.setitem(sys.modules, "paho.mqtt.client", None)
    with pytest.raises(ImportError, match=r'pip install "everclust\[\w+\]"'):
        open_source(f"{scheme}://localhost/topic")


def test_rows_with_missing_values_are_left_out_with_a_reason(folder):
    (folder / "x.csv").write_text("a,b\n1,2\n,4\n5,inf\n7,8\n")
    assert read("x.csv")[0].tolist() == [[1, 2], [7, 8]]
    columns = Columns()
    (batch,) = (batch for batch in open_source("x.csv", columns).batches() if batch.table.num_rows)
    rejects = columns.take(batch.table).rejects
    assert {row: reject.reason for row, reject in rejects.items()} == {
        1: "no finite value in column 'a'",
        2: "no finite value in column 'b'",
    }
    assert all(reject.is_missing for reject in rejects.values())


def test_the_writer_of_these_tests(folder, X):
    assert write_csv(folder / "x.csv", X[:3]).read_text().splitlines()[0] == "name,a,b,c,d,kind"
