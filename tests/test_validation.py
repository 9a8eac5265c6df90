"""All or nothing: what is restored when something goes wrong. What is refused: test_input.py."""

import pytest

from everclust.validation import all_or_nothing


class Model:
    def __init__(self):
        self.a = 1

    def change(self, fault=None, names=()):
        with all_or_nothing(self, names):
            self.a, self.b = 2, 3
            if fault is not None:
                raise fault
            return self


def test_all_or_nothing():
    model = Model()
    with pytest.raises(KeyError):
        model.change(KeyError())
    assert vars(model) == {"a": 1}
    assert vars(model.change()) == {"a": 2, "b": 3}


@pytest.mark.parametrize(
    ("name", "left"), [("a", {"a": 1, "b": 3}), ("b", {"a": 2}), ("c", {"a": 2, "b": 3})]
)
def test_only_what_is_named(name, left):
    """Another thread may have changed the rest."""
    model = Model()
    with pytest.raises(KeyboardInterrupt):
        model.change(KeyboardInterrupt(), (name,))
    assert vars(model) == left


class Emptied(Model):
    def __delattr__(self, name):
        with all_or_nothing(self):
            super().__delattr__(name)
            raise KeyError(name)


def test_what_was_taken_away_comes_back():
    model = Emptied()
    with pytest.raises(KeyError):
        del model.a
    assert vars(model) == {"a": 1}
