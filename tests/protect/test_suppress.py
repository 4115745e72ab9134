import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import ColumnNotFound, InputError, InvalidParameter, RoleMissing


def data(engine="duckdb"):
    return tacit.read(
        {"a": ["x", "x", "y", None, "z"], "b": [1, 2, 3, 4, None], "w": [1.0, 2.0, 3.0, 4.0, 5.0]},
        keys=["a"],
        weight="w",
        hierarchies={"a": tacit.hierarchy.flat()},
        engine=engine,
    )


def column(result, name):
    return result.column(name).to_pylist()


def test_attribute(engine):
    result = tacit.Suppress(level="attribute", columns=("b",)).apply(data(engine))
    assert column(result, "b") == [None] * 5
    assert result.history[-1].details["suppressed"] == {"b": 4}
    assert result.frame.collect_schema()["b"] == data(engine).frame.collect_schema()["b"]


def test_cells_where(engine):
    result = tacit.Suppress(columns=("a", "b"), where="b > 2 or a == 'z'").apply(data(engine))
    assert column(result, "a") == ["x", "x", None, None, None]
    assert column(result, "b") == [1, 2, None, None, None]
    assert column(result, "w") == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_rare_values(engine):
    result = tacit.Suppress(threshold=2).apply(data(engine))
    assert column(result, "a") == ["x", "x", None, None, None]
    assert result.history[-1].claims[0].model == "k-combinations"


def test_listed_cells(engine):
    result = tacit.Suppress(cells=((1, 2), (5, "a"))).apply(data(engine))
    assert column(result, "a") == ["x", "x", "y", None, None]
    assert column(result, "b") == [None, 2, 3, 4, None]


def test_top_mark(engine):
    result = tacit.Suppress(threshold=2, mark="top").apply(data(engine))
    assert column(result, "a") == ["x", "x", "*", None, "*"]


def test_tuples(engine):
    assert column(tacit.Suppress(level="tuple", where="b >= 3").apply(data(engine)), "a") == [
        "x",
        "x",
        "z",
    ]
    small = tacit.Suppress(level="tuple", k=2).apply(data(engine))
    assert column(small, "a") == ["x", "x"]
    assert small.history[-1].details["removed"] == 3
    assert small.history[-1].claims[0].model == "k-anonymity"


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30), st.integers(1, 4))
def test_small_classes_of_two_quasi_identifiers(records, k):
    data = tacit.read(
        {"a": [a for a, _ in records], "b": [b for _, b in records]}
        if records
        else {"a": [1], "b": [1]},
        keys={"one": ["a"], "two": ["b"]},
    )
    result = tacit.Suppress(level="tuple", k=k).apply(data)
    left = list(zip(column(result, "a"), column(result, "b"), strict=True))
    for i in (0, 1):
        held = [r[i] for r in left]
        assert all(held.count(v) >= k for v in held)


@pytest.mark.parametrize(
    "wrong",
    [
        {"level": "attribute"},
        {"level": "attribute", "columns": ("a",), "k": 2},
        {"level": "tuple"},
        {"level": "tuple", "where": "a == 'x'", "k": 2},
        {"level": "cell"},
        {"where": "a == 'x'"},
        {"columns": ("a",), "cells": ((1, 1),)},
        {"level": "tuple", "columns": ("a",), "k": 2},
        {"cells": ((0, 1),)},
    ],
)
def test_contradictory_parameters(wrong):
    with pytest.raises(InvalidParameter):
        tacit.Suppress(**wrong)


def test_faults():
    with pytest.raises(ColumnNotFound):
        tacit.Suppress(level="tuple", where="c > 1").apply(data())
    with pytest.raises(InputError):
        tacit.Suppress(cells=((9, 1),)).apply(data())
    with pytest.raises(InputError):
        tacit.Suppress(cells=((1, 9),)).apply(data())
    with pytest.raises(InputError):
        tacit.Suppress(level="tuple", where="b == 'x'").apply(data())
    with pytest.raises(RoleMissing):
        tacit.Suppress(level="tuple", k=2).apply(tacit.read({"x": [1]}))
    with pytest.raises(RoleMissing):
        tacit.Suppress(columns=("w",), where="b > 1", mark="top").apply(data())


def test_round_trip():
    spec = tacit.Suppress(cells=((1, 2), (5, "a")))
    assert tacit.Suppress(**spec.to_dict()) == spec
