import pytest

from everclust import load


def test_lists_of_columns_add_up(points, call):
    call("fit", points, "-m", "m", "--exclude", "name", "--exclude", "kind")
    call("fit", points, "-m", "n", "--exclude", "name,kind")
    assert load("m").feature_names_in_.tolist() == load("n").feature_names_in_.tolist()
    first, second, *_ = load("m").feature_names_in_
    call("fit", points, "-m", "o", "--columns", first, "--columns", second)
    assert load("o").feature_names_in_.tolist() == [first, second]


@pytest.mark.parametrize("command", ["fit", "update", "watch", "predict", "score", "plot", "live"])
def test_a_pattern_that_was_not_quoted(command, points, call):
    words = ["m", points, "b.csv"] if command == "plot" else [points, "b.csv", "-m", "m"]
    said = " ".join(call(command, *words, code=2).replace("│", "").split())
    assert "Got 'b.csv' after the source, of which there is one; quote a pattern of several files" in said


def test_of_other_options_the_last_counts(points, folder, call):
    columns = ["--id", "name", "--label", "kind"]
    call("fit", points, "-m", "m", *columns, "-e", "a.jsonl", "-e", "b.jsonl", "-m", "n")
    assert (folder / "a.jsonl").read_text() == (folder / "b.jsonl").read_text() != ""
    assert not (folder / "m").exists()
    call("fit", points, "-m", "n", *columns, "--force", "--force")
