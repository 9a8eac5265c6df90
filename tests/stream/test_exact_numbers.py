"""Numbers in text: whatever the fast way of reading, each is float(text), or its row is rejected."""

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from everclust.stream.columns import Columns
from everclust.stream.dialect import Dialect
from everclust.stream.reject import mark_rejected
from everclust.stream.sources.messages import plain_table, table_of
from everclust.stream.sources.parsers import CsvParser
from everclust.stream.sources.quotes import Quotes

ODD = (
    "", " ", "12:30", "1_000", "0x1F", "1e999", "-1e999", "1e-400", "nan", "NaN", "-nan", "inf", "Infinity",
    "NULL", "NA", "+3", " 5 ", "1.", ".5", "-.5e-3", "1e", "e5", "-", "--1", "1,5", "true", "True", "007",
    "٣", "1 2", "0." + "0" * 30 + "1", "9" * 40, "2.2250738585072011e-308", "1.7976931348623159e308",
    "9007199254740993", "-0",
)  # fmt: skip

plain = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**25), 10**25).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=6).map(str),
    st.from_regex(r"-?[0-9]{1,25}\.[0-9]{0,25}(e[+-]?[0-9]{1,3})?", fullmatch=True).filter(str.isascii),
)
values = st.one_of(plain, plain, plain, st.sampled_from(ODD))
blocks = st.lists(st.tuples(values, values), min_size=1, max_size=12)


def outcome(table, columns):
    """(number of rows, bits of those that are learnt, which they are, why others are not)."""
    rows = columns.take(table)
    reasons = {row: reject.reason for row, reject in rows.rejects.items()}
    return table.num_rows, rows.X.view(np.int64).tolist(), rows.kept.tolist(), reasons


@given(blocks)
def test_a_block_of_csv_is_read_as_value_by_value(block):
    parser = CsvParser(Columns(), "csv", None, "x.csv", Dialect(delimiter=";"))
    parser.read_header(b"a;b\n")
    parser.columns.take(parser.parse(b"1;2\n"))
    text = "".join(f"{a};{b}\n" for a, b in block).encode()
    fast = outcome(parser.parse(text), parser.columns)
    assert fast == outcome(mark_rejected(*parser._repaired(text)), parser.columns)
    assert fast[0] == len(block)
    for row, bits in zip(fast[2], fast[1], strict=True):
        assert bits == np.array([float(value) for value in block[row]]).view(np.int64).tolist()


@given(st.lists(st.tuples(values | st.just("nan(1)"), values), min_size=1, max_size=12))
def test_messages_are_read_as_value_by_value(block):
    columns = Columns()
    columns.take(table_of([{"a": "1", "b": "2"}], columns))
    fast = plain_table([[b"b", b.encode(), b"a", a.encode()] for a, b in block], columns)
    exact = table_of([{"a": a, "b": b} for a, b in block], columns)
    if fast is not None:
        assert outcome(fast, columns) == outcome(exact, columns)
    if all(re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", value, re.ASCII) for row in block for value in row):
        assert fast is not None


def test_messages_with_other_fields_are_read_one_by_one():
    columns = Columns()
    columns.take(table_of([{"a": "1", "b": "2"}], columns))
    same, other = [b"a", b"1", b"b", b"2"], [b"b", b"1", b"a", b"2"]
    assert plain_table([same, same], columns) is not None
    assert plain_table([same, other], columns) is None
    assert plain_table([same[:2]], columns) is None
    assert plain_table([[b"a", b"\xff", b"b", b"2"]], columns) is None


def records(text, delimiter):
    """Ends of records, found byte by byte: a quote at the start of a value opens, a single one closes."""
    ends, is_quoted, k = [], False, 0
    while k < len(text):
        here, before = text[k : k + 1], text[k - 1 : k] if k else b""
        if is_quoted and here == b'"' and text[k + 1 : k + 2] == b'"':
            k += 1
        elif here == b'"' and (is_quoted or before in (b"", b"\n", b"\r", delimiter)):
            is_quoted = not is_quoted
        elif here == b"\n" and not is_quoted:
            ends.append(k + 1)
        k += 1
    return ends


@given(st.text('""\n,;a\r', max_size=30), st.sampled_from(",;"))
def test_records_end_at_line_breaks_outside_of_quotes(text, delimiter):
    ends = records(text.encode(), delimiter.encode())
    quotes = Quotes(delimiter)
    assert quotes.first_end(text.encode()) == next(iter(ends), 0)
    assert quotes.cut(text.encode()).end == (ends[-1] if ends else 0)
