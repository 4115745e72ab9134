"""Fingerprints: equal for equal content, different for any change."""

# ruff: noqa: DTZ001 - these formats know no time zones

import datetime as dt

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.data.fingerprint import fingerprint

TABLE = pa.table(
    {
        "t": pa.array(["a", "", None, "é"]),
        "i": pa.array([1, None, -3, 2**62]),
        "f": pa.array([0.5, None, -0.0, 1e300]),
        "d": pa.array([dt.date(1850, 1, 1), None, dt.date(2020, 2, 29), dt.date(1970, 1, 1)]),
        "s": pa.array(
            [
                dt.datetime(2020, 1, 1, 1, 2, 3, 4),
                None,
                dt.datetime(1960, 1, 1),
                dt.datetime(2000, 1, 1),
            ]
        ),
        "b": pa.array([True, None, False, True]),
        "n": pa.nulls(4, pa.string()),
    }
)


def test_engines_agree(engine):
    assert fingerprint(tacit.read(TABLE, engine=engine)) == fingerprint(TABLE)


def test_widths_dictionaries_chunks_and_views_do_not_matter():
    other = TABLE.set_column(0, "t", TABLE.column("t").dictionary_encode())
    other = other.set_column(2, "f", pa.array([0.5, float("nan"), 0.0, 1e300]))
    other = other.set_column(6, "n", pa.nulls(4))
    other = pa.concat_tables([other.slice(0, 1), other.slice(1)])
    assert fingerprint(other) == fingerprint(TABLE)
    small = pa.table(
        {"i": pa.array([1, 2], pa.int8()), "t": pa.array(["a", None], pa.large_string())}
    )
    wide = pa.table({"i": pa.array([1, 2], pa.uint64()), "t": pa.array(["a", None])})
    assert fingerprint(small) == fingerprint(wide)
    assert fingerprint(TABLE.slice(1, 2)) == fingerprint(
        pa.Table.from_pylist(TABLE.to_pylist()[1:3], TABLE.schema)
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": ["x", "yz"]}, {"a": ["xy", "z"]}),
        ({"a": ["1"]}, {"a": [1]}),
        ({"a": [1]}, {"a": [1.0]}),
        ({"a": ["", "x"]}, {"a": [None, "x"]}),
        ({"a": [1, 2]}, {"a": [2, 1]}),
        ({"a": [1]}, {"b": [1]}),
        ({"a": [1], "b": [2]}, {"b": [2], "a": [1]}),
        ({"a": [None]}, {"a": [None, None]}),
        ({"a": [0, 1]}, {"a": [None, 1]}),
    ],
)
def test_changes_show(one, other):
    assert fingerprint(pa.table(one)) != fingerprint(pa.table(other))


values = st.none() | st.integers(-5, 5)


@settings(max_examples=60, deadline=None)
@given(st.lists(values, max_size=6), st.lists(values, max_size=6))
def test_equal_means_equal(left, right):
    same = fingerprint(pa.table({"a": pa.array(left, pa.int64())})) == fingerprint(
        pa.table({"a": pa.array(right, pa.int64())})
    )
    assert same == (left == right)


def test_no_records():
    empty = TABLE.slice(0, 0)
    assert fingerprint(empty) == fingerprint(tacit.read(empty))
