"""kill -9 of an executor and of the driver in the middle of a stream: nothing is lost, nothing is doubled."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from everclust import EverClust, load
from support.paths import TESTS
from support.spark_session import environment, missing, spark_session

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.filterwarnings("ignore::FutureWarning:pyspark", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
if not missing():
    import pandas as pd

    from everclust.adapters import spark as es

FEATURES = ["a", "b", "c"]
N_BATCHES = 8
LONGEST = 400  # seconds of waiting
LOCAL, CLUSTER = "local[2]", "local-cluster[2,1,1024]"


@pytest.fixture
def batches(tmp_path):
    """Micro-batches of shuffled rows of five sensors, as files in `in/`."""
    rng = np.random.default_rng(4)
    (tmp_path / "in").mkdir()
    found = []
    for number in range(N_BATCHES):
        X = rng.normal(size=(6, 3))[rng.integers(0, 6, 5_000)] * 5 + rng.normal(size=(5_000, 3))
        rows = pd.DataFrame(X, columns=FEATURES).assign(
            sensor=[f"s{i % 5}" for i in range(5_000)], t=np.arange(5_000) + 5_000 * number
        )
        path = tmp_path / f"in/{number}.parquet"
        rows.sample(frac=1, random_state=number).to_parquet(path, index=False)
        os.utime(path, (number + 1, number + 1))  # Spark reads the oldest first
        found.append(rows)
    return found


class Query:
    """A query in a process group of its own."""

    def __init__(self, kind, master, folder):
        self.folder, self.log = folder, folder / "log.txt"
        command = [
            sys.executable,
            "-W",
            "ignore",
            str(TESTS / "support/spark_stream.py"),
            kind,
            master,
            str(folder),
        ]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command, env=os.environ | environment(), stdout=log, stderr=log, start_new_session=True
            )

    def wait_until(self, happened):
        stop = time.monotonic() + LONGEST
        while not happened():
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            assert time.monotonic() < stop, self.log.read_text()[-3000:]
            time.sleep(0.05)

    def wait_for_batch(self, number):
        """Until a micro-batch is planned, so that it is being learnt."""
        self.wait_until((self.folder / f"checkpoint/offsets/{number}").exists)

    def kill(self):
        """kill -9 of the driver, its JVM and its workers."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def kill_executor(self):
        executors = [pid for pid in session_members(self.process.pid) if is_executor(pid)]
        assert len(executors) == 2
        os.kill(executors[0], signal.SIGKILL)

    def finish(self):
        assert self.process.wait(LONGEST) == 0, self.log.read_text()[-3000:]


def session_members(leader):
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(path.name)) == leader:
                yield int(path.name)
        except ProcessLookupError:
            pass


def is_executor(pid):
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return b"CoarseGrainedExecutorBackend" in command and b"java" in command.split(b"\0")[0]


def undisturbed(batches):
    """Models and predictions of a run that nothing disturbs, in plain Python."""
    models, found = {}, {}
    for rows in batches:
        for sensor, part in rows.groupby("sensor"):
            model, X = models.setdefault(sensor, EverClust()), np.ascontiguousarray(part[FEATURES].to_numpy())
            model._learn_rows(X)
            found |= {(sensor, t): c for t, c in zip(part["t"], model._predict_rows(X), strict=True)}
    return models, found


def check_per_key(batches, folder):
    models, expected = undisturbed(batches)
    session = spark_session()
    try:
        rows = session.read.parquet(str(folder / "out")).toPandas()
        stored = es.read_models(session, str(folder / "checkpoint")).collect()
    finally:
        session.stop()
    assert len(rows) == sum(map(len, batches))
    assert dict(zip(zip(rows["sensor"], rows["t"], strict=True), rows["cluster"], strict=True)) == expected
    assert {row.key: bytes(row.model) for row in stored} == {
        sensor: es.to_bytes(model) for sensor, model in models.items()
    }
    events = [(e["sample"], e["text"]) for events in rows["events"] for e in events]
    assert sorted(events) == sorted((e.sample, e.text) for model in models.values() for e in model.events())


def test_kill_9_of_the_driver(batches, tmp_path):
    for number in (1, 4):
        query = Query("learn_per_key", LOCAL, tmp_path)
        query.wait_for_batch(number)
        query.kill()
    Query("learn_per_key", LOCAL, tmp_path).finish()
    check_per_key(batches, tmp_path)


def test_kill_9_of_an_executor(batches, tmp_path):
    """Spark starts another one and repeats what was lost; then the driver is killed, too."""
    query = Query("learn_per_key", CLUSTER, tmp_path)
    query.wait_for_batch(2)
    query.kill_executor()
    query.wait_for_batch(5)
    query.kill()
    Query("learn_per_key", CLUSTER, tmp_path).finish()
    check_per_key(batches, tmp_path)


def test_kill_9_of_the_driver_of_one_model(batches, tmp_path):
    """Killed after a model is saved, and before Spark knows that its micro-batch is done."""
    for number in (1, 4):
        query = Query("fit_stream", LOCAL, tmp_path)
        query.wait_until((tmp_path / f"batch-{number}.everclust").exists)
        query.kill()
    Query("fit_stream", LOCAL, tmp_path).finish()
    model = load(tmp_path / f"batch-{N_BATCHES - 1}.everclust")
    assert model.n_samples_seen_ == sum(map(len, batches))
    whole = pd.concat(batches)[FEATURES].to_numpy()
    assert np.allclose(model.snapshot().mean, whole.mean(axis=0))
    assert np.allclose(model.snapshot().deviation, whole.std(axis=0, ddof=1))


def test_a_model_learnt_on_two_executors(batches, tmp_path):
    """Models are broadcast, merged and counted across processes."""
    session = spark_session(CLUSTER, spark_executor_memory="1g")
    try:
        df = session.read.parquet(str(tmp_path / "in")).repartition(12).cache()
        model = es.fit(df, FEATURES)
        found = es.predict(df, model).toPandas()
    finally:
        session.stop()
    assert model.n_samples_seen_ == len(found) == sum(map(len, batches))
    assert np.array_equal(found["cluster"], model.predict(found[FEATURES]))
