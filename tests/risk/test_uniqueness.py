"""Uniqueness by set of columns."""

from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import ColumnNotFound, RoleMissing

ROWS = {
    "sex": ["f", "f", "m", "m", "m", None],
    "age": [31, 31, 31, 40, 40, 40],
    "zip": ["a", "b", "a", "a", "a", "a"],
}


def test_small_table_by_hand(engine):
    data = tacit.read(pa.table(ROWS), keys=["sex", "age", "zip"], engine=engine)
    result = tacit.Uniqueness(reach=0.5).measure(data)
    rows = {r["columns"]: r for r in result.frame.rows(named=True)}
    assert len(rows) == 7
    assert rows["sex"] | {"share": 0} == {
        "columns": "sex",
        "size": 1,
        "uniques": 1,
        "at_risk": 1,
        "share": 0,
        "classes": 3,
        "smallest": 1,
    }
    assert rows["age"]["uniques"] == 0
    assert rows["age"]["smallest"] == 3
    assert rows["sex x age"]["uniques"] == 2
    assert rows["sex x age x zip"]["uniques"] == 4
    assert result.value == pytest.approx(4 / 6)
    assert result.minimal == (("sex", "zip"),) or set(result.minimal) == {
        ("sex", "zip"),
        ("sex", "age", "zip"),
    }


def test_threshold_counts_small_classes():
    data = tacit.read(ROWS, keys=["sex", "age", "zip"])
    result = tacit.Uniqueness(max_size=1, threshold=2).measure(data)
    rows = {r["columns"]: r for r in result.frame.rows(named=True)}
    assert (rows["sex"]["uniques"], rows["sex"]["at_risk"]) == (1, 3)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=1, max_size=30), st.floats(0, 1))
def test_shares_grow_with_columns_and_minimal_sets_are_minimal(rows, share):
    data = tacit.read(
        {f"k{i}": list(c) for i, c in enumerate(zip(*rows, strict=True))},
        keys=["k0", "k1", "k2", "k3"],
    )
    result = tacit.Uniqueness(max_size=4).measure(data)
    for a, b in combinations(result.shares, 2):
        if set(a) < set(b):
            assert result.shares[a] <= result.shares[b]
    found = result.smallest_sets(share)
    reaching = [s for s, v in result.shares.items() if v >= share]
    assert set(found) == {s for s in reaching if not any(set(r) < set(s) for r in reaching)}


def test_charts_and_names():
    result = tacit.Uniqueness().measure(tacit.read(ROWS, keys=["sex", "age", "zip"]))
    bars, pairs = result.charts()
    assert "sex x age x zip" in bars.alt
    assert "sex with age" in pairs.alt
    assert pairs.svg().startswith("<svg")
    with pytest.raises(ColumnNotFound):
        result.share("sex", "height")


def test_columns_or_keys_are_needed():
    data = tacit.read(ROWS)
    assert tacit.Uniqueness(columns=["age"]).measure(data).value == 0
    with pytest.raises(RoleMissing, match="needs columns"):
        tacit.Uniqueness().measure(data)
