"""k-anonymity: classes, missing values, several quasi-identifiers."""

import narwhals.stable.v2 as nw
import pytest

import tacit

TABLE = {"a": ["x", "x", "y", None], "b": [1, 1, 2, 2], "w": [1.0, 2.0, 4.0, 8.0]}


def test_a_missing_value_is_a_category_or_agrees_with_all(engine):
    data = tacit.read(TABLE, keys=["a", "b"], weight="w", engine=engine)
    plain = tacit.KAnonymity(k=2).measure(data)
    assert (plain.k, plain.uniques, plain.violations) == (1, 2, 2)
    wild = tacit.KAnonymity(k=2, missing="wildcard").measure(data)
    assert (wild.k, wild.uniques, wild.violations) == (2, 0, 0)
    rows = {(r["a"], r["b"]): r for r in wild.frame.rows(named=True)}
    assert rows[("y", 2)]["agreeing"] == 2
    assert rows[("y", 2)]["weighted"] == 12.0


def test_the_chart_has_every_record_with_wildcards_too():
    # With a wildcard, three records may agree with two others each, which is no whole number of classes.
    data = tacit.read({"a": ["x", "y", None, "z"], "b": [1, 1, 1, 2]}, keys=["a", "b"])
    found = tacit.KAnonymity(k=2, missing="wildcard").measure(data)
    drawn = found.plot().spec["data"]["values"]
    assert sum(row["records"] for row in drawn) == len(data)
    assert found.plot().alt.endswith("size 1: 1 records; size 2: 2 records; size 3: 1 records.")


def test_keys_may_bear_the_names_of_our_columns(engine):
    data = tacit.read(
        {"records": [1, 1], "weighted": [1, 2], "size": ["a", "a"]},
        keys=["records", "weighted", "size"],
        engine=engine,
    )
    for missing in ("category", "wildcard"):
        result = tacit.KAnonymity(missing=missing).measure(data)
        assert result.k == 1
        assert len(result.frame) == 2


def test_each_quasi_identifier_counts_by_itself():
    data = tacit.read(TABLE, keys={"one": ["b"], "both": ["a", "b"]})
    result = tacit.KAnonymity(k=2).measure(data)
    assert {name: part.smallest for name, part in result.parts.items()} == {"one": 2, "both": 1}
    assert tacit.KAnonymity(k=2, quasi="one").measure(data).k == 2
    with pytest.raises(tacit.errors.ColumnNotFound, match="Did you mean 'both'"):
        tacit.KAnonymity(quasi="bth").measure(data)


def test_no_records():
    data = tacit.read({"a": ["x"]}, keys=["a"]).filter(nw.col("a") == "z")
    assert tacit.KAnonymity().measure(data).k == 0
