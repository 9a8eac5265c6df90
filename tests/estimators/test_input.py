"""What may come in, what may not, and that a refusal changes nothing."""

import copy

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from everclust import IDAT, EverClust
from everclust.core.learn import learn_rows
from everclust.core.readout import assign

BOTH = pytest.mark.parametrize("algorithm", [IDAT, EverClust])
IRIS = load_iris().data
DIGITS = load_digits().data
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]


def learnt(model):
    """All that a model knows, to the bit."""
    scalars, arrays = model._learner.export()
    arrays["evidence"] = arrays["evidence"][np.lexsort(arrays["evidence"].T[::-1])]  # in no order
    return scalars, {name: (a.dtype.str, a.shape, a.tobytes()) for name, a in arrays.items()}


def everything(model):
    """What was learnt, and whatever else the object holds."""
    rest = {name: np.asarray(value).tolist() for name, value in vars(model).items() if name != "_learner"}
    return learnt(model) if "_learner" in vars(model) else None, rest


def same_answers(model, other, X):
    return np.array_equal(model.predict(X), other.predict(X)) and np.array_equal(
        model.score_samples(X), other.score_samples(X)
    )


# Kinds of tables


def memmap(X, folder, mode="r"):
    stored = np.memmap(folder / "X", X.dtype, "w+", shape=X.shape)
    stored[:] = X
    stored.flush()
    return np.memmap(folder / "X", X.dtype, mode, shape=X.shape)


def unaligned(X):
    buffer = np.zeros(X.nbytes + 1, np.uint8)
    inner = buffer[1:].view(X.dtype).reshape(X.shape)
    inner[:] = X
    assert not inner.flags.aligned
    return inner


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


FORMS = {
    "list": lambda X, folder: X.tolist(),
    "Fortran order": lambda X, folder: np.asfortranarray(X),
    "every other column": lambda X, folder: np.repeat(X, 2, axis=1)[:, ::2],
    "backwards twice": lambda X, folder: X[::-1].copy()[::-1],
    "read-only": lambda X, folder: read_only(X),
    "read-only memmap": memmap,
    "memmap": lambda X, folder: memmap(X, folder, "r+"),
    "unaligned": lambda X, folder: unaligned(X),
    "big-endian": lambda X, folder: X.astype(">f8"),
    "objects": lambda X, folder: X.astype(object),
    "pandas": lambda X, folder: pandas.DataFrame(X),
    "polars": lambda X, folder: polars.DataFrame(X),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore:X (has|does not have) .*feature names:UserWarning")
@BOTH
def test_the_form_of_the_table_does_not_matter(form, tmp_path, algorithm):
    expected, X = algorithm().fit(IRIS), FORMS[form](IRIS, tmp_path)
    model = algorithm().fit(X)
    assert learnt(model) == learnt(expected)
    assert np.array_equal(model.labels_, expected.labels_)
    assert same_answers(expected, model, X)
    assert learnt(model.partial_fit(X)) == learnt(expected.partial_fit(IRIS))
    step = algorithm()
    for start in range(0, 150, 40):
        step.partial_fit(X[start : start + 40])
    assert learnt(step) == learnt(algorithm().partial_fit(IRIS))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.longdouble, np.int64, np.uint8, bool])
@BOTH
def test_numbers_of_any_type_count_as_their_value(dtype, algorithm):
    X = (DIGITS[:400] / (1 if np.dtype(dtype).kind in "iu" else 7)).astype(dtype)
    wide = X.astype(np.float64)
    model, expected = algorithm().fit(X), algorithm().fit(wide)
    assert learnt(model) == learnt(expected)
    assert same_answers(model, expected, X)
    assert same_answers(model, expected, wide)
    cut = algorithm()
    for start in range(0, len(X), 7):
        cut.partial_fit(X[start : start + 7])
    assert learnt(cut) == learnt(algorithm().partial_fit(wide))


@BOTH
def test_frames_of_float32(tmp_path, algorithm):
    X = IRIS.astype(np.float32)
    for frame in (pandas.DataFrame(X, columns=NAMES), polars.DataFrame(X, schema=NAMES)):
        model = algorithm().fit(frame)
        assert learnt(model) == learnt(algorithm().fit(X.astype(np.float64)))
        assert list(model.feature_names_in_) == NAMES


@BOTH
def test_no_form_has_to_be_compiled_for(tmp_path, algorithm):
    algorithm().fit(IRIS).predict(IRIS)
    before = len(learn_rows.signatures), len(assign.signatures)
    for form in ("Fortran order", "read-only", "read-only memmap", "unaligned", "big-endian", "pandas"):
        algorithm().fit(FORMS[form](IRIS, tmp_path)).predict(FORMS[form](IRIS, tmp_path))
    assert (len(learn_rows.signatures), len(assign.signatures)) == before


@BOTH
def test_the_input_is_not_written_to(algorithm):
    X = IRIS.copy()
    algorithm().fit(X).predict(X)
    assert np.array_equal(X, IRIS)


@BOTH
def test_the_input_is_not_kept(algorithm):
    X = IRIS.copy()
    model = algorithm().fit(X)
    before = everything(model)
    X[:] = 0
    assert everything(model) == before


# Names of features


@pytest.mark.parametrize(
    "frame", [pandas.DataFrame(IRIS, columns=NAMES), polars.DataFrame(IRIS, schema=NAMES)]
)
@BOTH
def test_names_of_features(frame, algorithm):
    model = algorithm().fit(frame)
    assert list(model.feature_names_in_) == NAMES
    assert np.array_equal(model.predict(frame), model.labels_)
    model.partial_fit(frame)
    before = everything(model)
    for call in (model.predict, model.score_samples, model.partial_fit):
        with pytest.raises(ValueError, match="feature names should match"):
            call(frame[NAMES[::-1]])
        assert everything(model) == before
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(IRIS)


@BOTH
def test_fit_forgets_the_names_with_everything_else(algorithm):
    model = algorithm().fit(pandas.DataFrame(IRIS, columns=NAMES))
    model.fit(DIGITS)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 64


# What is refused

BAD_VALUES = {"NaN": np.nan, "infinity": np.inf, "minus infinity": -np.inf, "beyond 1e140": -1.1e140}
MESSAGES = {"NaN": "contains NaN", "beyond 1e140": "1.1e\\+140 in row .* 1e\\+140; rescale the feature"}


def with_bad_value(X, kind, dtype=np.float64):
    X = X.astype(dtype)
    X[len(X) // 2, 1] = BAD_VALUES[kind]
    return X


def refused():
    """(name, table that is refused by a model of Iris, scikit-learn's message)"""
    for kind in BAD_VALUES:
        yield kind, with_bad_value(IRIS, kind), MESSAGES.get(kind, "contains infinity")
        yield f"{kind} in one row", with_bad_value(IRIS[:1], kind), MESSAGES.get(kind, "contains infinity")
    yield "float32 NaN", with_bad_value(IRIS, "NaN", np.float32), "contains NaN"
    yield "None", [[1.0, None, 1.0, 1.0]], "contains NaN"
    yield "text", [["a", "b", "c", "d"]], "not compatible with arrays of bytes/strings"
    yield "sparse", scipy.sparse.csr_array(IRIS), "[Ss]parse"
    yield "complex", IRIS + 1j, "Complex data not supported"
    yield "a vector", IRIS[0], "Expected 2D array, got 1D array"
    yield "a number", 3.0, "Expected 2D array, got scalar"
    yield "three dimensions", IRIS[None], "with dim 3"
    yield "no rows", IRIS[:0], "0 sample"
    yield "no columns", IRIS[:, :0], "0 feature"
    mixed = pandas.DataFrame(IRIS, columns=NAMES)
    mixed[NAMES[0]], mixed[NAMES[2]] = "red", pandas.Timestamp(2020, 1, 1)
    yield "pandas with text and times", mixed, "numbers: 'sepal length', 'petal length'; leave them out"
    text = polars.DataFrame(IRIS, schema=NAMES).with_columns(polars.lit("red").alias(NAMES[1]))
    yield "polars with text", text, "numbers: 'sepal width'; leave them out"
    missing = pandas.DataFrame(IRIS, columns=NAMES).convert_dtypes()
    missing.loc[3, NAMES[1]] = pandas.NA
    yield "pandas with NA", missing, "contains NaN"
    yield "pandas with NaN", pandas.DataFrame(with_bad_value(IRIS, "NaN"), columns=NAMES), "contains NaN"


def test_a_missing_value_is_named_with_its_place():
    table = pandas.DataFrame(IRIS.copy(), columns=NAMES)  # before pandas 3 they share memory
    table.loc[3, NAMES[1]] = table.loc[7, NAMES[2]] = np.nan
    place = (
        r"NaN, a missing value, in row 3 of 150, counted from 0, column 'sepal width' \(2 of the rows have"
    )
    with pytest.raises(ValueError, match=place):
        EverClust().fit(table)
    with pytest.raises(ValueError, match=r"infinity in row 75 of 150, counted from 0, column 1;"):
        EverClust().fit(with_bad_value(IRIS, "infinity"))
    with pytest.raises(ValueError, match=r"NaN.* in row 0 of 1, counted from 0, column 'b'"):
        EverClust().fit(table.set_axis(list("abcd"), axis=1)[:3]).predict(
            [dict(zip("dcba", [1, 2, None, 4], strict=True))]
        )


REFUSED = {name: (X, message) for name, X, message in refused()}
WRONG_WIDTH = {"narrow": IRIS[:, :3], "wide": np.ones((5, 6)), "one narrow row": IRIS[:1, :1]}


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("kind", REFUSED)
@BOTH
def test_a_refusal_leaves_a_new_model_new(kind, method, algorithm):
    X, message = REFUSED[kind]
    model = algorithm()
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(model, method)(X)
    assert vars(model) == model.get_params()
    with pytest.raises(NotFittedError):
        model.predict(IRIS)
    some = DIGITS[:200]
    assert learnt(model.partial_fit(some)) == learnt(algorithm().partial_fit(some))


@pytest.mark.parametrize("method", ["fit", "partial_fit", "predict", "score_samples"])
@pytest.mark.parametrize("kind", REFUSED)
@BOTH
def test_a_refusal_leaves_a_model_as_it_was(kind, method, algorithm):
    X, message = REFUSED[kind]
    model = algorithm().fit(pandas.DataFrame(IRIS, columns=NAMES) if kind.startswith("p") else IRIS)
    before = everything(model)
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(model, method)(X)
    assert everything(model) == before


@pytest.mark.parametrize("kind", WRONG_WIDTH)
@pytest.mark.parametrize("method", ["partial_fit", "predict", "score_samples"])
@BOTH
def test_the_width_is_that_of_the_first_batch(kind, method, algorithm):
    model = algorithm().fit(IRIS)
    before = everything(model)
    with pytest.raises(ValueError, match="is expecting 4 features as input"):
        getattr(model, method)(WRONG_WIDTH[kind])
    assert everything(model) == before


@pytest.mark.parametrize("row", [IRIS[0, :3], IRIS[0] * np.nan, IRIS[0] * 1e150, np.array([]), ["a"] * 4])
@BOTH
def test_learn_one_refuses_too(row, algorithm):
    model = algorithm().fit(IRIS)
    before = everything(model)
    with pytest.raises(ValueError, match=r"feature|NaN|rescale|strings"):
        model.learn_one(row)
    assert everything(model) == before


@BOTH
def test_a_failing_fit_with_other_names_changes_nothing(algorithm):
    model = algorithm().fit(pandas.DataFrame(IRIS, columns=NAMES))
    before = everything(model)
    other = pandas.DataFrame(with_bad_value(IRIS, "NaN"), columns=list("abcd"))
    for X in (other, other[["a", "b"]], with_bad_value(DIGITS, "infinity")):
        with pytest.raises(ValueError, match="contains"):
            model.fit(X)
        assert everything(model) == before
    assert np.array_equal(model.predict(pandas.DataFrame(IRIS, columns=NAMES)), model.labels_)


@pytest.mark.parametrize("position", [0, 1, 75, 148, 149])
@BOTH
def test_a_batch_with_one_bad_row_is_not_learnt_at_all(position, algorithm):
    model = algorithm().partial_fit(IRIS)
    before = everything(model)
    for value in BAD_VALUES.values():
        for dtype in (np.float64, np.longdouble):
            X = IRIS.astype(dtype)
            X[position, 3] = value
            with pytest.raises(ValueError, match=r"contains|rescale"):
                model.partial_fit(X)
            assert everything(model) == before


@BOTH
def test_the_error_for_huge_values_is_one_sentence(algorithm):
    with pytest.raises(ValueError, match="rescale") as raised:
        algorithm().fit([[1.0, 2.0], [3.0, -4e200]])
    assert str(raised.value) == (
        "Input X contains a value of magnitude 4e+200 in row 1 of 2, counted from 0, column 1, but distances "
        "can only be computed up to 1e+140; rescale the feature."
    )


@BOTH
def test_huge_values_are_refused_without_a_warning_first(algorithm):
    """Warnings are errors here; a running stream takes a shorter way."""
    model = algorithm().partial_fit(IRIS)
    before = everything(model)
    for learn, X in ((model.partial_fit, np.full((2, 4), 1e200)), (model.learn_one, np.full(4, -1e200))):
        with pytest.raises(ValueError, match="rescale"):
            learn(X)
    assert everything(model) == before


# Extremes that are not refused


def same_model_each_way(algorithm, X):
    model = algorithm().fit(X)
    cut = algorithm()
    for row in X:
        cut.learn_one(row)
    assert learnt(cut) == learnt(algorithm().partial_fit(X))
    assert np.array_equal(model.labels_, model.predict(X))
    similarity = model.score_samples(X)
    assert ((similarity > 0) & (similarity <= 1)).all()
    return model


@BOTH
def test_one_row(algorithm):
    model = same_model_each_way(algorithm, IRIS[:1])
    assert (model.n_nodes_, model.n_clusters_, model.n_samples_seen_) == (1, 1, 1)
    assert model.score_samples(IRIS[:1]) == 1


@pytest.mark.parametrize("value", [0.0, 1.0, -1e-300, 1e139, 5e-324])
@BOTH
def test_constant_data_is_one_place(value, algorithm):
    model = same_model_each_way(algorithm, np.full((200, 3), value))
    assert (model.prototypes_ == value).all()
    assert (model.score_samples(np.full((1, 3), value)) == 1).all()


@BOTH
def test_duplicates(algorithm):
    model = same_model_each_way(algorithm, np.repeat(IRIS[:20], 20, axis=0))
    assert model.n_samples_seen_ == 400


@pytest.mark.parametrize("magnitude", [1e-300, 1e-20, 1e60, 1e69, 1e71, 1e100, 1e139])
@BOTH
def test_magnitudes(magnitude, algorithm):
    X = np.random.default_rng(0).uniform(-1, 1, (300, 4)) * magnitude
    model = same_model_each_way(algorithm, X)
    assert np.isfinite(model.scales_).all()
    assert np.isfinite(model.prototypes_).all()


@BOTH
def test_integers_of_any_size(algorithm):
    limits = np.iinfo(np.int64)
    X = np.array([[limits.min, 0], [limits.max, 1], [5, 7], [-5, 7]])
    same_model_each_way(algorithm, X.astype(float))
    assert learnt(algorithm().fit(X)) == learnt(algorithm().fit(X.astype(float)))


@BOTH
def test_one_feature_and_many(algorithm):
    same_model_each_way(algorithm, IRIS[:, :1])
    same_model_each_way(algorithm, np.random.default_rng(0).normal(size=(20, 3000)))


@BOTH
def test_deep_copies_are_equal_to_the_bit(algorithm):
    """The comparison that the tests above rely on sees a difference in one bit."""
    model = algorithm().fit(IRIS)
    twin = copy.deepcopy(model)
    assert everything(twin) == everything(model)
    prototype = twin._learner.state.prototype
    prototype[0, 0] = np.nextafter(prototype[0, 0], 9)
    assert everything(twin) != everything(model)


def test_tables_and_arrays_of_times_are_refused_in_words():
    times = np.arange("2026-11-18", "2026-11-28", dtype="datetime64[D]").reshape(-1, 1)
    with pytest.raises(TypeError, match="X holds times, but distances need numbers"):
        EverClust().fit(times)
    table = pandas.DataFrame({"day": times[:, 0].astype("datetime64[s]")})
    with pytest.raises(ValueError, match="distances need numbers: 'day'; leave them out"):
        EverClust().fit(table)


# What a stranger tries


@BOTH
def test_masked_values_are_refused(algorithm):
    X = np.ma.array(IRIS, mask=IRIS > 7.5)
    with pytest.raises(ValueError, match=r"X has 6 masked values; drop their rows, or fill them"):
        algorithm().partial_fit(X)
    assert algorithm().partial_fit(np.ma.array(IRIS)).n_samples_seen_ == 150


@BOTH
def test_times_in_a_polars_table_are_refused(algorithm):
    days = polars.date_range(polars.date(2026, 1, 1), polars.date(2026, 5, 30), eager=True)
    table = polars.DataFrame({"a": IRIS[:, 0], "day": days})
    with pytest.raises(ValueError, match=r"columns that hold no numbers.*: 'day'; leave them out"):
        algorithm().fit(table)


@BOTH
def test_names_in_dicts_are_strings(algorithm):
    with pytest.raises(TypeError, match=r"features \[0, 1\], but names of features must be strings"):
        algorithm().learn_one({0: 1.0, 1: 2.0})


@BOTH
def test_a_bound_that_no_file_can_hold_is_refused(algorithm):
    with pytest.raises(ValueError, match="max_nodes is 1000000000000000000000, above 2"):
        algorithm(max_nodes=10**21).fit(IRIS)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"metric": "euclidean"}, "learnt in another metric"),
        ({"metric": "foo"}, "foo"),
        ({"max_nodes": "x"}, "max_nodes is 'x'"),
    ],
)
def test_parameters_that_do_not_fit_the_model_cannot_be_saved(parameters, message, tmp_path):
    model, path = EverClust().fit(IRIS), tmp_path / "model"
    model.save(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=message):
        model.set_params(**parameters).save(path)
    assert path.read_bytes() == before


@BOTH
def test_a_listener_that_fails_loses_no_event(algorithm):
    heard = []

    def fails(event):
        raise RuntimeError(f"no room for {event.kind}")

    model = algorithm().on_event(fails).on_event(heard.append)
    with pytest.raises(RuntimeError, match="no room for born"):
        model.partial_fit(DIGITS)
    assert heard == model.events()
    assert len(heard) > 1
    with pytest.raises(TypeError, match="on_event takes a function of an event, but got int"):
        model.on_event(5)


@pytest.mark.parametrize(("row", "value"), [(1, -9999), (2, -9999), (2, 1e6), (5, 1e4)])
def test_an_early_outlier_does_not_spoil_the_model(row, value):
    X, y = make_blobs(3000, centers=3, n_features=6, random_state=0)
    X[row, 0] = value
    model = EverClust().partial_fit(X)
    assert model.n_nodes_ < 300
    assert adjusted_rand_score(y, model.predict(X)) > 0.99
