"""The stream's own time: it is not learnt, and events, reports and the page carry it."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from everclust import EverClust, load
from everclust.live_page.watcher import Watcher
from everclust.model import times as model_times
from everclust.model.times import SampleTimes, iso
from everclust.stream.times import times_of
from support.stream_fixtures import NAMES

NOON = 1_790_000_000.0
EVENTS = ["--algorithm", "idat", "-e", "e.jsonl"]


def clock(n_rows):
    """One row every seven seconds, with a pause in the middle."""
    return NOON + 7.0 * np.arange(n_rows) + 3_600.0 * (np.arange(n_rows) >= n_rows // 2)


def write(path, X, times):
    lines = [",".join(["at", *NAMES])]
    lines += [",".join([str(time), *map(repr, map(float, row))]) for time, row in zip(times, X, strict=True)]
    path.write_text("\n".join(lines) + "\n")


def events(path="e.jsonl"):
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_events_carry_the_time_of_their_sample(folder, X, call):
    write(folder / "x.csv", X, map(iso, clock(len(X))))
    call("fit", "x.csv", "-m", "m", "--time", "at", *EVENTS)
    found = events()
    assert len(found) > 5
    assert [event["time"] for event in found] == [iso(clock(len(X))[event["sample"] - 1]) for event in found]
    model = load("m")
    assert list(model.feature_names_in_) == NAMES, "the time is not learnt"
    said = call("watch", "x.csv", "--time", "at", "--algorithm", "idat").splitlines()
    assert said[0] == f"sample {found[0]['sample']:,} ({found[0]['time']}): {found[0]['text']}"


def test_without_times_there_are_none(points, folder, call):
    call("fit", points, "-m", "m", "--columns", "a,b", *EVENTS)
    assert "time" not in events()[0]
    assert b"times" not in (folder / "m").read_bytes()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-09-21T14:13:20Z", 1_790_000_000.0),
        ("2026-09-21T16:13:20.250+02:00", 1_790_000_000.25),
        ("2026-09-21 14:13:20", 1_790_000_000.0),
        ("2026-09-21", 1_789_948_800.0),
        ("1790000000", 1_790_000_000.0),
        ("1790000000.5", 1_790_000_000.5),
        ("1790000000500", 1_790_000_000.5),
        ("1790000000500000", 1_790_000_000.5),
        ("1790000000500000000", 1_790_000_000.5),
        ("-86400", -86_400.0),
        ("yesterday", np.nan),
        ("", np.nan),
        (None, np.nan),
        ("1e300", np.nan),
        ("nan", np.nan),
    ],
)
def test_texts(text, seconds):
    """Alone, where a whole column is read at once, and among others, where each value is."""
    for others in ([], ["2026-01-01T00:00:00", "1767225600", "2026-01-01T00:00:00Z", "tomorrow"]):
        found = times_of(pa.chunked_array([pa.array([text, *others], pa.string())]))
        np.testing.assert_array_equal(found[0], seconds)
        if others:
            np.testing.assert_array_equal(found[1:], [1_767_225_600.0] * 3 + [np.nan])


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1_790_000_000, None]),
        pa.array([1_790_000_000_000.0, None]),
        pa.array([1_790_000_000_000, None], pa.timestamp("ms")),
        pa.array([1_790_000_000, None], pa.timestamp("s", "Europe/Berlin")),
    ],
)
def test_columns_of_numbers_and_timestamps(column):
    np.testing.assert_array_equal(times_of(pa.chunked_array([column])), [1_790_000_000.0, np.nan])


def test_all_formats_give_the_same_events(folder, X, call):
    seconds = clock(600)
    write(folder / "x.csv", X[:600], seconds.astype(int))
    table = pa.table({name: X[:600, k] for k, name in enumerate(NAMES)})
    stamps = pa.array([datetime.fromtimestamp(s, UTC) for s in seconds])
    parquet.write_table(table.append_column("at", stamps), folder / "x.parquet")
    rows = table.append_column("at", pa.array([iso(s) for s in seconds])).to_pylist()
    (folder / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = []
    for kind in ("csv", "parquet", "jsonl"):
        call("fit", f"x.{kind}", "-m", f"{kind}.m", "--time", "at", "--algorithm", "idat", "-e", f"{kind}.e")
        found.append(events(f"{kind}.e"))
    assert found[0] == found[1] == found[2]
    assert found[0][0]["time"].startswith("2026-09-21T")


def test_rows_without_a_time_are_bad_rows(folder, call, record, sentence):
    times = ["2026-01-01T00:00:00Z"] * 50
    times[10], times[20] = "", "noon"
    write(folder / "x.csv", np.random.default_rng(0).normal(size=(50, 4)), times)
    told = record("fit", "x.csv", "-m", "m", "--time", "at", "--rejects", "r.jsonl")
    assert told["reasons"] == {"no time in column 'at'": 2}
    assert (told["samples"], told["skipped"]) == (48, 2)
    kept = events("r.jsonl")
    assert [(reject["row"], reject["text"]) for reject in kept] == [(11, ""), (21, "noon")]
    said = call("fit", "x.csv", "-m", "n", "--time", "at", "--on-bad-row", "error", code=1)
    assert "Row 21 of what was read has no time in column 'at', 'noon'" in said
    assert "Row 11" in sentence("fit", "x.csv", "-m", "o", "--time", "at", "--missing", "error")
    assert "There is no column 'when'" in sentence("fit", "x.csv", "-m", "p", "--time", "when")


def test_a_resumed_run_has_the_same_times_and_the_same_model(folder, X, call):
    write(folder / "x.csv", X, map(iso, clock(len(X))))
    words = ["fit", "x.csv", "--time", "at", "--algorithm", "idat"]
    call(*words, "-m", "whole", "-e", "whole.e")
    again = [*words, "-m", "cut", "-e", "cut.e", "--checkpoint", "kept", "--every", 700]
    call(*again, "--limit", 1_500)
    call(*again)
    assert (folder / "cut").read_bytes() == (folder / "whole").read_bytes()
    assert (folder / "cut.e").read_bytes() == (folder / "whole.e").read_bytes()


def test_reports_carry_times(folder, X, call):
    write(folder / "x.csv", X, map(iso, clock(len(X))))
    call("fit", "x.csv", "-m", "m", "--time", "at")
    report = json.loads(call("report", "m", "--json"))
    for row in report:
        born = clock(len(X))[max(len(X) - row["age"], 1) - 1]
        seen = clock(len(X))[row["last_seen"] - 1]
        for name, exact in (("born_at", born), ("last_seen_at", seen)):
            off = datetime.fromisoformat(row[name]) - datetime.fromtimestamp(exact, UTC)
            assert abs(off) <= timedelta(seconds=7 * 4 + 3_600 * (abs(row["last_seen"] - 1_500) < 4))
    assert "born_at" not in load("m").fit(X).cluster_report(), "another stream"


def test_the_page_carries_times(X):
    model = EverClust()
    model._times = SampleTimes()
    model._times.add(0, clock(len(X)))
    model.partial_fit(X)
    watcher = Watcher(model, lambda: NAMES)
    watcher.update()
    listed = watcher.events.since(0)[1]
    assert listed
    assert [event[-2] for event in listed] == [iso(clock(len(X))[event[0] - 1]) for event in listed]
    assert watcher.time(len(X)) == iso(clock(len(X))[-1])
    assert Watcher(EverClust().partial_fit(X), lambda: NAMES).time(1) is None


# Times of samples


@pytest.mark.parametrize("step", [1, 7, 1_000, 40_000])
def test_marks_do_not_depend_on_batches(step):
    seconds = np.cumsum(np.random.default_rng(1).exponential(size=40_000))
    times, whole = SampleTimes(), SampleTimes()
    whole.add(5, seconds)
    for start in range(0, len(seconds), step):
        times.add(5 + start, seconds[start : start + step])
    assert times.record() == whole.record()
    assert len(times.record()["marks"]) <= model_times.MAX_MARKS


def test_times_are_exact_while_recent_and_close_to_it_when_old():
    seconds = NOON + np.arange(100_000) * 0.5
    times = SampleTimes()
    times.add(3, seconds)
    assert times.of(3) is None
    assert times.of(100_004) is None
    assert [times.of(4), times.of(50_000), times.of(100_003)] == [seconds[0], seconds[49_996], seconds[-1]]
    again = SampleTimes(json.loads(json.dumps(times.record())))
    assert again.of(50_000) == pytest.approx(seconds[49_996]), "a steady clock"
    assert (again.of(4), again.of(100_003)) == (seconds[0], seconds[-1])
    twin = again.copy()
    again.add(100_003, seconds + 60_000)
    assert twin.of(100_100) is None


def test_recent_times_are_bounded(monkeypatch):
    monkeypatch.setattr(model_times, "MAX_RECENT", 1_000)
    times = SampleTimes()
    for k in range(100):
        times.add(k * 100, np.arange(100.0))
    assert sum(len(part) for _, part in times._recent) <= 1_100


@pytest.mark.parametrize(
    "broken",
    [
        {"spacing": 0, "marks": [], "ends": [[1, 1.0], [2, 2.0]]},
        {"spacing": 1, "marks": [[2, 1.0], [1, 2.0]], "ends": [[1, 1.0], [2, 2.0]]},
        {"spacing": 1, "marks": [["a", 1.0]], "ends": [[1, 1.0], [2, 2.0]]},
        {"spacing": 1, "marks": [], "ends": []},
    ],
)
def test_invalid_records_are_refused(broken):
    with pytest.raises(ValueError, match="invalid times of samples"):
        SampleTimes(broken)


def test_times_that_cannot_be_read_are_told_how_to_be_written(folder, call):
    (folder / "x.csv").write_text("at,a\n18.11.2026 01:30,1\n18.11.2026 01:31,2\n")
    said = call("fit", "x.csv", "-m", "m", "--time", "at", code=1)
    assert "times are written as 2026-11-18T01:30:00Z" in said


@pytest.mark.parametrize(
    ("format", "text", "seconds"),
    [
        ("%d.%m.%Y %H:%M:%S", "21.09.2026 14:13:20", NOON),
        ("%d.%m.%Y %H:%M:%S", " 21.9.2026 14:13:20", NOON),
        ("%d.%m.%Y %H:%M:%S", "31.02.2026 14:13:20", np.nan),
        ("%d.%m.%Y %H:%M:%S", "21.09.2026 14:13:61", np.nan),
        ("%d.%m.%Y %H:%M:%S", "21.09.2026", np.nan),
        ("%d.%m.%Y %H:%M:%S", None, np.nan),
        ("%m/%d/%y %I:%M:%S %p %z", "09/21/26 04:13:20 PM +0200", NOON),
        ("%d %b %Y %H:%M:%S.%f", "21 Sep 2026 14:13:20.250", NOON + 0.25),
        ("%Y%m%d", 20260921, 1_789_948_800.0),
        ("%Y-%m-%dT%H:%M:%S", "1969-12-31T23:59:59", -1.0),
    ],
)
def test_times_in_a_format(format, text, seconds):
    kind = pa.int64() if isinstance(text, int) else pa.string()
    found = times_of(pa.chunked_array([pa.array([text], kind)]), format)
    np.testing.assert_array_equal(found, [seconds])


def test_a_format_on_the_command_line(folder, X, call, sentence):
    texts = [datetime.fromtimestamp(at, UTC).strftime("%d.%m.%Y %H:%M:%S") for at in clock(len(X))]
    write(folder / "x.csv", X, [*texts[:-1], "noon"])
    words = ["fit", "x.csv", "-m", "m", "--time", "at", *EVENTS]
    assert "or as --time-format says" in call(*words, code=1).splitlines()[-1]
    words += ["--time-format", "%d.%m.%Y %H:%M:%S", "--checkpoint", "saved"]
    assert call(*words).startswith("3,000 rows, 1 skipped; ")
    found = events()
    assert [event["time"] for event in found] == [iso(clock(len(X))[event["sample"] - 1]) for event in found]
    words[-3] = "%m.%d.%Y %H:%M:%S"
    assert "were made with time_format '%d.%m.%Y %H:%M:%S'" in sentence(*words)


def test_formats_that_can_read_no_time(points, call, sentence):
    words = ["fit", points, "-m", "m", "--time-format"]
    assert "but there is no --time" in call(*words, "%Y", code=2)
    assert "must have a year" in sentence(*words, "%d.%m. %H:%M", "--time", "name")
    assert "use %z" in sentence(*words, "%Y %Z", "--time", "name")
    assert "by which no time can be read: 'Q' is a bad directive" in sentence(
        *words, "%Y %Q", "--time", "name"
    )


def test_timestamps_need_no_format(folder, sentence):
    table = {"at": np.array(["2026-01-01"] * 20, "datetime64[s]"), "a": np.arange(20.0)}
    parquet.write_table(pa.table(table), "x.parquet")
    words = ["fit", "x.parquet", "-m", "m", "--time", "at", "--time-format", "%Y-%m-%d"]
    assert "holds timestamps, not text; leave --time-format out" in sentence(*words)
