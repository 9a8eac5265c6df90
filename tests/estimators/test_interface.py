"""What both estimators offer beyond learning and predicting."""

import pickle

import numpy as np
import pandas
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from everclust import IDAT, EverClust

IRIS = load_iris().data
FRAME = load_iris(as_frame=True).data
DIGITS = load_digits().data
BOTH = pytest.mark.parametrize("algorithm", [EverClust, IDAT])


def dicts(rows):
    return [dict(zip("dcba", row, strict=True)) for row in rows.tolist()]


# ---- Labels ----


@BOTH
def test_labels_are_those_of_the_latest_batch(algorithm):
    model = algorithm()
    for start in range(0, 1000, 100):
        batch = DIGITS[start : start + 100].copy()
        expected = batch.copy()
        model.partial_fit(batch)
        batch[:] = 0  # the caller uses the memory again
        assert np.array_equal(model.labels_, model.predict(expected))
    assert len(model.fit(DIGITS[:300]).labels_) == 300


@BOTH
def test_there_are_no_labels_before_a_batch_and_after_single_samples(algorithm):
    model = algorithm()
    assert not hasattr(model, "labels_")
    model.partial_fit(IRIS)
    model.learn_one(IRIS[0])
    with pytest.raises(AttributeError, match="after fit and partial_fit only"):
        _ = model.labels_


def test_a_pickle_does_not_hold_the_latest_batch():
    batch = np.tile(IRIS, (1000, 1))
    model = EverClust(max_nodes=50).partial_fit(batch)
    assert len(pickle.dumps(model)) < batch.nbytes / 10
    assert len(model.labels_) == len(batch)


# ---- Clusters as numbers ----


@BOTH
def test_centres_are_means_of_nodes_by_the_samples_they_won(algorithm):
    model = algorithm().partial_fit(DIGITS)
    now = model.snapshot()
    assert len(model.cluster_ids_) == model.n_clusters_
    assert (np.diff(model.cluster_ids_) > 0).all()
    for cluster, centre in zip(model.cluster_ids_, model.cluster_centers_, strict=True):
        nodes = now.node_labels == cluster
        assert centre == pytest.approx(np.average(now.prototypes[nodes], axis=0, weights=now.wins[nodes]))


@BOTH
def test_transform_measures_the_distance_to_the_nearest_node_of_each_cluster(algorithm):
    model = algorithm().fit(DIGITS)
    now, X = model.snapshot(), DIGITS[:200]
    away = np.sqrt((((X[:, None] - now.prototypes) ** 2) * now.feature_weights).sum(axis=2))
    expected = [away[:, now.node_labels == c].min(axis=1) for c in model.cluster_ids_]
    np.testing.assert_allclose(model.transform(X), np.transpose(expected), rtol=1e-12)
    assert model.transform(X).flags.c_contiguous
    names = model.get_feature_names_out()
    assert names[0] == f"{algorithm.__name__.lower()}0"
    assert len(names) == model.n_clusters_


def test_transform_is_a_step_of_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), EverClust()).fit(IRIS)
    assert pipeline.transform(IRIS).shape == (150, pipeline[-1].n_clusters_)
    frame = EverClust().set_output(transform="pandas").fit(FRAME).transform(FRAME)
    assert isinstance(frame, pandas.DataFrame)


def test_sizes_are_numbers_of_samples():
    """Two clusters of 3,000 samples each; nodes that won once may be in none."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (3000, 2)), rng.normal(30, 1, (3000, 2))])
    model = EverClust().partial_fit(rng.permutation(X))
    by_side = [0, 0]
    for centre, size in zip(model.cluster_centers_, model.cluster_report()["size"], strict=True):
        by_side[int(centre[0] > 15)] += size
    assert 2950 < min(by_side) <= max(by_side) <= 3000


# ---- Rows with names ----


@BOTH
def test_rows_as_dicts_in_any_order_of_their_names(algorithm):
    named, plain = algorithm().fit(dicts(IRIS)), algorithm().fit(IRIS)
    assert list(named.feature_names_in_) == ["d", "c", "b", "a"]
    turned = [dict(reversed(row.items())) for row in dicts(IRIS)]
    assert np.array_equal(named.predict(turned), plain.predict(IRIS))
    named.partial_fit(turned).learn_one(turned[3])
    plain.partial_fit(IRIS).learn_one(IRIS[3])
    assert np.array_equal(named.prototypes_, plain.prototypes_)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [{"d": 1, "c": 2, "b": 3}],
            r"Row 0 of X has the features \['b', 'c', 'd'\], but \['a', 'b', 'c', 'd'\]",
        ),
        ([{**dicts(IRIS)[0], "e": 1}], r"Row 0 of X has the features .*'e'"),
        ([dicts(IRIS)[0], {}], "Row 1 of X has the features"),
        ([dict.fromkeys("abcd", "text")], "numeric"),
        ([dict.fromkeys("abcd", np.nan)], "NaN"),
    ],
)
def test_dicts_that_do_not_fit_are_refused(rows, message):
    model = EverClust().fit(dicts(IRIS))
    with pytest.raises(ValueError, match=message):
        model.partial_fit(rows)
    assert model.n_samples_seen_ == 150


def test_a_model_without_names_takes_no_dicts():
    with pytest.raises(ValueError, match="learnt rows without names; pass arrays"):
        EverClust().fit(IRIS).predict(dicts(IRIS))


def test_the_names_of_a_series_are_checked():
    model, plain = EverClust().fit(FRAME), EverClust().fit(FRAME)
    model.learn_one(FRAME.iloc[0])
    assert np.array_equal(model.prototypes_, plain.partial_fit(FRAME[:1]).prototypes_)
    with pytest.raises(ValueError, match="same order"):
        model.learn_one(FRAME.iloc[0][::-1])
    assert model.n_samples_seen_ == 151


# ---- What is refused ----


@pytest.mark.parametrize("cls", [IDAT, EverClust])
def test_unknown_parameters_are_refused_in_the_name_of_the_estimator(cls):
    with pytest.raises(TypeError, match=rf"^{cls.__name__}\.__init__\(\) got an unexpected .*'n_clusters'"):
        cls(n_clusters=3)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_sample_weights_and_sparse_rows_are_refused_with_advice(method):
    learn = getattr(EverClust(), method)
    with pytest.raises(TypeError, match=f"{method} takes no sample_weight.*; repeat a row"):
        learn(IRIS, sample_weight=np.ones(150))
    with pytest.raises(TypeError, match=f"{method}.. got an unexpected keyword argument 'speed'"):
        learn(IRIS, speed=3)
    with pytest.raises(TypeError, match=r"X is sparse.*TruncatedSVD, or pass X\.toarray"):
        learn(csr_matrix(IRIS))


# ---- In words ----


@BOTH
def test_a_summary_lists_the_clusters_the_largest_first(algorithm):
    model = algorithm().fit(FRAME)
    title, heads, *lines, last = model.summary().splitlines()
    assert title.startswith(
        f"{algorithm.__name__}: {model.n_clusters_} clusters in 150 samples of 4 features ("
    )
    assert heads.split()[:3] == ["cluster", "samples", "share"]
    sizes = [int(line.split()[1]) for line in lines]
    assert sizes == sorted(model.cluster_report()["size"], reverse=True)
    assert any("petal length (cm)" in line for line in lines)
    shares = [float(line.split()[2].rstrip("%")) for line in lines]
    assert shares == [round(100 * size / sum(sizes), 1) for size in sizes]
    assert last.startswith(f"counted for no cluster: {150 - sum(sizes)} samples, alone or at nodes that were")


def test_a_long_summary_ends_with_the_number_of_the_others(monkeypatch):
    monkeypatch.setattr("everclust.model.summary.MOST_CLUSTERS", 2)
    model = EverClust().fit(FRAME)
    assert f"and {model.n_clusters_ - 2} smaller clusters" in model.summary().splitlines()


def test_a_summary_in_which_every_sample_counts_ends_with_the_clusters():
    model = EverClust().fit(np.tile([[0.0], [1.0]], (20, 1)))
    assert "no cluster" not in model.summary()
    assert sum(model.cluster_report()["size"]) == 40


def test_notebooks_show_the_clusters_of_a_fitted_model():
    hostile = pandas.DataFrame(IRIS, columns=["<script>", "b", "c", "d"])
    html = EverClust().fit(hostile)._repr_mimebundle_()["text/html"]
    assert "5 clusters in 150 samples" in html
    assert "<script> " not in html
    assert "&lt;script&gt;" in html
    assert "clusters in" not in EverClust()._repr_html_()
    assert '<td style="text-align: right; white-space: nowrap">100 samples ago</td>' in html
    assert '<td style="text-align: left;' in html
