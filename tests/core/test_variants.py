import pytest

from everclust.core import variants as readings


def test_published_is_the_default():
    as_written = readings.Reading(2, printed_evidence=False, grows=True, shrinks=True, recalibrates=True)
    assert as_written == readings.PUBLISHED


def test_every_other_reading_differs_in_one_thing():
    others = {
        readings.PRINTED_EVIDENCE: "printed_evidence",
        readings.WITHOUT_GROWTH: "grows",
        readings.WITHOUT_SHRINKING: "shrinks",
        readings.WITHOUT_BOTH: "recalibrates",
    }
    for reading, what in others.items():
        default = getattr(readings.PUBLISHED, what)
        assert reading == readings.PUBLISHED._replace(**{what: not default})


def test_starting_at_changes_the_first_interval_only():
    assert readings.starting_at(500) == readings.PUBLISHED._replace(first_interval=500)
    assert readings.starting_at(9, readings.WITHOUT_GROWTH) == readings.Reading(9, grows=False)


def test_too_short_an_interval_is_refused():
    with pytest.raises(ValueError, match="first interval is 1"):
        readings.starting_at(1)
