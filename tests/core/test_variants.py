import pytest

from everclust.core import variants as variants


def test_published_is_the_default():
    as_written = variants.Variant(2, printed_evidence=False, grows=True, shrinks=True, recalibrates=True)
    assert as_written == variants.PUBLISHED


def test_every_other_reading_differs_in_one_thing():
    others = {
        variants.PRINTED_EVIDENCE: "printed_evidence",
        variants.WITHOUT_GROWTH: "grows",
        variants.WITHOUT_SHRINKING: "shrinks",
        variants.WITHOUT_BOTH: "recalibrates",
    }
    for variant, what in others.items():
        default = getattr(variants.PUBLISHED, what)
        assert variant == variants.PUBLISHED._replace(**{what: not default})


def test_starting_at_changes_the_first_interval_only():
    assert variants.starting_at(500) == variants.PUBLISHED._replace(first_interval=500)
    assert variants.starting_at(9, variants.WITHOUT_GROWTH) == variants.Variant(9, grows=False)


def test_too_short_an_interval_is_refused():
    with pytest.raises(ValueError, match="first interval is 1"):
        variants.starting_at(1)
