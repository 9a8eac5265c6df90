import pytest


@pytest.mark.parametrize("option", ["--exclude", "--columns", "--log-format"])
def test_an_option_with_one_value_is_not_given_twice(option, points, call):
    said = call("fit", points, "-m", "m", option, "json", option, "json", code=2)
    assert f"Invalid value for '{option}': it is given 2 times, but takes one value." in said


def test_options_with_many_values_and_switches_may_be_repeated(points, folder, call):
    columns = ["--id", "name", "--label", "kind"]
    call("fit", points, "-m", "m", *columns, "-e", "a.jsonl", "-e", "b.jsonl")
    assert (folder / "a.jsonl").read_text() == (folder / "b.jsonl").read_text() != ""
    call("fit", points, "-m", "m", *columns, "--force", "--force")
