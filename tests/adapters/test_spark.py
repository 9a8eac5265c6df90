"""everclust.adapters.spark in a local session: results, columns that are refused, streams of all kinds."""

import os

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score

from everclust import IDAT, EverClust, load
from support.spark_session import missing, spark_session

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings(
        "ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
    ),
]
if not missing():
    import pandas as pd
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.feature import VectorAssembler

    from everclust.adapters import spark as es

FEATURES = ["a", "b", "c"]
SCHEMA = "sensor string, t long, a double, b double, c double"


@pytest.fixture(scope="module")
def session():
    found = spark_session()
    yield found
    found.stop()


def clouds(n_rows, seed=0, n_sensors=3):
    """Rows of six clouds, with a class, a sensor and a time."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 6, n_rows)
    X = np.random.default_rng(9).normal(size=(6, 3))[y] * 6 + rng.normal(size=(n_rows, 3))
    frame = pd.DataFrame(X, columns=FEATURES)
    return frame.assign(y=y, sensor=[f"s{i % n_sensors}" for i in range(n_rows)], t=np.arange(n_rows))


def learnt(rows):
    """A model that has learnt the rows as one stream."""
    model = EverClust()
    model._learn_rows(np.ascontiguousarray(rows[FEATURES].to_numpy()))
    return model


# fit and predict


def test_a_model_of_partitions_is_about_as_good_as_one_of_all_rows(session):
    rows = clouds(40_000)
    df = session.createDataFrame(rows).repartition(20).cache()
    model = es.fit(df, FEATURES)
    assert model.n_samples_seen_ == 40_000
    assert model.feature_names_in_.tolist() == FEATURES
    assert model.usage_.sum() >= 40_000
    found = es.predict(df, model).toPandas()
    assert len(found) == 40_000
    assert np.array_equal(found["cluster"], model.predict(found[FEATURES]))
    single = adjusted_mutual_info_score(rows["y"], learnt(rows).predict(rows[FEATURES].to_numpy()))
    assert adjusted_mutual_info_score(found["y"], found["cluster"]) > single - 0.05
    assert es.to_bytes(es.fit(df, FEATURES)) == es.to_bytes(model)


def test_rows_are_added_to_a_fitted_model(session):
    rows = clouds(20_000)
    before = EverClust().fit(rows[FEATURES][:5_000])
    content = es.to_bytes(before)
    model = es.fit(session.createDataFrame(rows[5_000:]).repartition(3), FEATURES, before)
    assert model.n_samples_seen_ == 20_000
    assert es.to_bytes(before) == content
    assert set(before.cluster_ids_) & set(model.cluster_ids_)


def test_few_rows_are_one_stream(session):
    rows = clouds(700)
    model = es.fit(session.createDataFrame(rows).coalesce(1), FEATURES)
    assert np.array_equal(model.prototypes_, learnt(rows).prototypes_)
    assert es.fit(session.createDataFrame(rows).repartition(7), FEATURES).n_samples_seen_ == 700


def test_idat_and_parameters(session):
    model = es.fit(session.createDataFrame(clouds(12_000)).repartition(3), FEATURES, IDAT(max_nodes=50))
    assert isinstance(model, IDAT)
    assert model.n_samples_seen_ == 12_000
    assert model.n_nodes_ <= 50


def test_arrays_and_vectors_are_features_too(session):
    rows = clouds(9_000)
    df = session.createDataFrame(rows).coalesce(2).cache()
    vectors = VectorAssembler(inputCols=FEATURES, outputCol="v").transform(df)
    arrays = df.selectExpr("array(a, b, c) as v")
    by_name = es.fit(df, FEATURES)
    for other in (vectors, arrays):
        model = es.fit(other, "v")
        assert np.array_equal(model.prototypes_, by_name.prototypes_)
        assert {row.cluster for row in es.predict(other, model, "v").collect()} <= set(model.cluster_ids_)


def test_a_pipeline_of_spark_ml_is_saved_and_loaded(session, tmp_path):
    df = session.createDataFrame(clouds(9_000)).coalesce(2).cache()
    assembler = VectorAssembler(inputCols=FEATURES, outputCol="v")
    pipeline = Pipeline(stages=[assembler, es.EverClustEstimator(featuresCol="v", predictionCol="p")])
    pipeline.save(str(tmp_path / "pipeline"))
    fitted = Pipeline.load(str(tmp_path / "pipeline")).fit(df)
    fitted.save(str(tmp_path / "fitted"))
    loaded = PipelineModel.load(str(tmp_path / "fitted"))
    assert loaded.stages[1].uid == fitted.stages[1].uid
    assert es.to_bytes(loaded.stages[1].model) == es.to_bytes(fitted.stages[1].model)
    assert loaded.transform(df).toPandas()["p"].equals(fitted.transform(df).toPandas()["p"])


# What is refused


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["a", "sensor"], "Column 'sensor' is of type string"),
        (["a", "z"], "no column 'z'; name one of 'a'"),
        (["a", "a"], "'a' is named twice"),
        ([], "no feature columns"),
    ],
)
def test_columns_are_checked_before_any_work(session, columns, message):
    df = session.createDataFrame(clouds(10))
    jobs = session.sparkContext.statusTracker()
    before = len(jobs.getJobIdsForGroup(None))
    with pytest.raises((TypeError, ValueError), match=message):
        es.fit(df, columns)
    stream = session.readStream.format("rate").load().selectExpr("value as a", "'x' as sensor", "value as t")
    with pytest.raises((TypeError, ValueError), match=message.replace("; name one of 'a'", "")):
        es.learn_per_key(stream, "sensor", columns, "t")
    with pytest.raises((TypeError, ValueError), match=message.replace("; name one of 'a'", "")):
        es.fit_stream(stream, columns, "nowhere")
    assert not os.path.exists("nowhere")
    assert len(jobs.getJobIdsForGroup(None)) == before


@pytest.mark.parametrize(
    ("value", "message"),
    [(None, "'b' has missing"), (np.nan, "'b' has missing"), (-np.inf, "'b' has the value")],
)
def test_missing_and_infinite_values_name_their_column(session, value, message):
    rows = [(float(i), value if i == 8_500 else 1.0, 2.0) for i in range(9_000)]
    df = session.createDataFrame(rows, "a double, b double, c double")
    with pytest.raises(ValueError, match=f"^Column {message}"):
        es.fit(df, FEATURES)
    model = EverClust().fit(clouds(100)[FEATURES])
    with pytest.raises(Exception, match=f"ValueError: Column {message}"):
        es.predict(df, model).collect()


@pytest.mark.parametrize("value", [None, np.nan, np.inf, 1e200])
def test_values_that_cannot_be_learnt_are_refused_before_any_row_is(session, monkeypatch, value):
    from everclust.adapters.spark import learning

    def never(*_):
        raise AssertionError("forks have begun to learn")

    monkeypatch.setattr(learning, "learn_forks", never)
    numbers = session.range(60_000, numPartitions=2).selectExpr("double(id) as a", "double(id % 7) as b")
    bad = session.createDataFrame([(1.0, value)], "a double, b double")
    df = numbers.union(bad).coalesce(1)  # the last row, far behind the first ones
    with pytest.raises(ValueError, match=r"^Column 'b' has"):
        es.fit(df, ["a", "b"])
    with pytest.raises(ValueError, match=r"^Column 'v' has"):
        es.fit(df.selectExpr("array(a, b) as v"), "v")
    with pytest.raises(AssertionError, match="begun to learn"):
        es.fit(numbers.coalesce(1), ["a", "b"])


def test_arrays_of_different_lengths_name_their_column(session):
    df = session.createDataFrame([([1.0, 2.0],), ([1.0],)], "v array<double>").coalesce(1)
    with pytest.raises(ValueError, match=r"^Column 'v' has arrays of 2 and of 1 numbers"):
        es.fit(df, "v")


def test_a_table_without_rows_is_refused(session):
    with pytest.raises(ValueError, match="no rows"):
        es.fit(session.createDataFrame([], "a double"), "a")


def test_other_columns_than_learnt_are_refused(session):
    df = session.createDataFrame(clouds(10))
    named, plain = EverClust().fit(clouds(100)[FEATURES]), learnt(clouds(100))
    with pytest.raises(ValueError, match=r"but the model has learnt \['a', 'b', 'c'\]"):
        es.predict(df, named, ["b", "a", "c"])
    with pytest.raises(ValueError, match="There are 2 columns, but the model has learnt 3"):
        es.predict(df, plain, ["b", "a"])
    with pytest.raises(ValueError, match="no feature names"):
        es.predict(df, plain)
    with pytest.raises(ValueError, match="There is a column 'y' already"):
        es.predict(df, named, output="y")


# Streams


class Files:
    """A folder of Parquet files, each a micro-batch."""

    def __init__(self, session, folder):
        self.session, self.folder, self.n = session, folder, 0
        (folder / "in").mkdir()

    def add(self, rows):
        path = self.folder / f"in/{self.n:03}.parquet"
        columns = ["sensor", "t", *FEATURES]
        rows[columns].to_parquet(path, index=False)
        self.n += 1
        os.utime(path, (self.n, self.n))  # Spark reads the oldest first
        return rows

    def stream(self):
        reader = self.session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(self.folder / "in"))

    def learn_per_key(self, model=None):
        """Learn what is new, and return everything predicted so far."""
        found = es.learn_per_key(self.stream(), "sensor", FEATURES, "t", model)
        writer = found.writeStream.format("parquet").option(
            "checkpointLocation", str(self.folder / "checkpoint")
        )
        query = writer.trigger(availableNow=True).start(str(self.folder / "out"))
        query.awaitTermination()
        return self.session.read.parquet(str(self.folder / "out")).toPandas()

    def models(self):
        found = es.read_models(self.session, str(self.folder / "checkpoint")).collect()
        return {row.key: bytes(row.model) for row in found}


def names(rows):
    return sorted(zip(rows["sensor"], rows["t"], strict=True))


@pytest.fixture
def files(session, tmp_path):
    return Files(session, tmp_path)


def test_each_key_has_the_model_of_its_own_stream(files):
    """Shuffled rows, an empty batch, late rows, and a sensor that is seen once and never again."""
    once = clouds(40, seed=5).assign(sensor="once")
    first = pd.concat([clouds(3_000), once])
    late = clouds(3_300, seed=7)[3_000:].assign(t=range(300))
    batches = [first, first[:0], clouds(6_000, seed=1)[3_000:], late]
    for rows in batches:
        files.add(rows.sample(frac=1, random_state=0))
    found = files.learn_per_key()
    assert names(found) == names(pd.concat(batches))
    models = files.models()
    assert set(models) == {"s0", "s1", "s2", "once"}
    for sensor, data in models.items():
        stream = pd.concat(
            [rows[rows["sensor"] == sensor].sort_values("t", kind="stable") for rows in batches]
        )
        expected = learnt(stream)
        assert data == es.to_bytes(expected)
        events = [event for row in found[found["sensor"] == sensor]["events"] for event in row]
        assert sorted((e["sample"], e["text"]) for e in events) == sorted(
            (e.sample, e.text) for e in expected.events()
        )
    in_last = found[found["t"].isin(late["t"]) & (found["sensor"] == "s0")]
    assert set(in_last["cluster"]) <= set(es.from_bytes(models["s0"]).node_labels_)


def test_a_query_goes_on_where_it_ended(files):
    parts = [files.add(clouds(1_500 * (i + 1), seed=2)[1_500 * i :]) for i in range(2)]
    files.learn_per_key()
    parts.append(files.add(clouds(4_500, seed=2)[3_000:]))
    files.learn_per_key()
    rows = pd.concat(parts)
    for sensor, data in files.models().items():
        assert data == es.to_bytes(learnt(rows[rows["sensor"] == sensor]))


def test_ten_thousand_keys(files):
    """Of which one in ten is seen again."""
    rows = clouds(20_000, seed=3, n_sensors=10_000)
    again = clouds(40_000, seed=3, n_sensors=10_000)[20_000:21_000]
    files.add(rows)
    files.add(again)
    found = files.learn_per_key()
    assert names(found) == names(pd.concat([rows, again]))
    models = files.models()
    assert len(models) == 10_000
    for sensor in ("s0", "s999", "s1000", "s9999"):
        stream = pd.concat([part[part["sensor"] == sensor] for part in (rows, again)])
        assert models[sensor] == es.to_bytes(learnt(stream))


def test_a_missing_value_in_a_stream_names_its_column(files):
    files.add(clouds(30).assign(c=np.nan))
    with pytest.raises(Exception, match="Column 'c' has missing values"):
        files.learn_per_key()


def test_large_models_are_warned_of(monkeypatch):
    from everclust.adapters.spark import per_key

    with pytest.warns(UserWarning, match=r"key 'k' has 1,048,577 bytes.*max_nodes"):
        assert len(per_key._checked_size(bytes(2**20 + 1), "k")) == 2**20 + 1


def test_the_key_and_the_sequence_are_checked(files):
    stream = files.stream()
    for key, sequence, message in [
        ("nothing", "t", "no column 'nothing'"),
        ("sensor", "sensor", "'sensor' is of type string, but rows are sorted"),
        ("t", "t", "must differ"),
        ("sensor", "a", "'a' is a feature, too"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            es.learn_per_key(stream, key, FEATURES, sequence)


def test_one_model_of_a_stream(files, tmp_path):
    """With an empty batch; a batch that comes again changes nothing."""
    from everclust.adapters.spark import micro_batches

    batches = [files.add(clouds(5_000, seed=i)) for i in range(3)]
    files.add(batches[0][:0])
    writer = es.fit_stream(files.stream(), FEATURES, tmp_path / "models")
    writer.trigger(availableNow=True).start().awaitTermination()
    newest = tmp_path / "models/batch-2.everclust"
    assert {path.name for path in (tmp_path / "models").glob("batch*")} == {"batch-1.everclust", newest.name}
    model, content = load(newest), newest.read_bytes()
    assert model.n_samples_seen_ == 15_000
    assert model.feature_names_in_.tolist() == FEATURES
    batch = files.session.createDataFrame(batches[2])
    micro_batches._learn_batch(batch, 2, FEATURES, tmp_path / "models", None)
    assert newest.read_bytes() == content
    with pytest.raises(ValueError, match="later micro-batch than 1"):
        micro_batches._learn_batch(batch, 1, FEATURES, tmp_path / "models", None)
