"""Changes are counted the same in memory and on the engine."""

import numpy as np
import pyarrow as pa
import pytest

import tacit
from tacit.data.changes import changes, comparable_tables, count_in_memory, count_on_engine

BEFORE = pa.table({"a": ["x", "y", None, "z", "z"], "b": [1, 2, 3, None, 5], "c": list("ppppp")})


@pytest.fixture
def pair(engine):
    before = tacit.read(BEFORE, engine=engine.name).materialise()
    after = before.replace({"a": pa.array(["x", "*", "q", None, "z"])}).drop(["c"])
    return before, after.take(np.array([0, 1, 2, 3])).materialise()


def test_changes_by_column(pair):
    found = changes(*pair)
    assert found == {
        "records_before": 5,
        "records_after": 4,
        "dropped": 1,
        "added": 0,
        "columns_removed": ["c"],
        "columns_added": [],
        "cells": {"a": 3},
    }


def test_memory_and_engine_agree(pair):
    expected = (4, {"a": 3, "b": 0})
    assert count_on_engine(*pair, ["a", "b"]) == expected
    assert count_in_memory(*pair, ["a", "b"]) in (expected, None)


def test_numbers_that_became_text_are_compared_in_memory():
    before = tacit.read(pa.table({"a": [1, 2, 3, None], "x": [0.5, 1.5, None, 2.5]}))
    after = before.replace({"a": ["1", "2-3", "2-3", None], "x": [0.5, 1.0, 1.0, 2.5]})
    after = after.take(np.array([0, 1, 3])).materialise()
    expected = (3, {"a": 1, "x": 1})
    assert count_in_memory(before, after, ["a", "x"]) == expected
    assert count_on_engine(before, after, ["a", "x"]) == expected


def test_other_types_and_doubled_records_are_left_to_the_engine(pair):
    before, _ = pair
    assert changes(before, before.replace({"b": ["1", "2", "3", None, "6"]}))["cells"] == {"b": 1}
    doubled = before.take(np.array([0, 0, 1]))
    assert comparable_tables(before, doubled, ["a"]) is None
