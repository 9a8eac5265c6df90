import pytest


@pytest.mark.parametrize("option", ["--exclude", "--columns"])
def test_a_list_is_not_given_twice(option, points, call):
    said = call("fit", points, "-m", "m", option, "a", option, "b", code=2)
    assert f"Invalid value for '{option}': it is given 2 times; give it once, as a,b,c." in said


def test_other_options_may_be_repeated(points, folder, call):
    columns = ["--id", "name", "--label", "kind"]
    call("fit", points, "-m", "m", *columns, "-e", "a.jsonl", "-e", "b.jsonl", "-m", "n")
    assert (folder / "a.jsonl").read_text() == (folder / "b.jsonl").read_text() != ""
    assert not (folder / "m").exists()  # the last one counts
    call("fit", points, "-m", "n", *columns, "--force", "--force")
