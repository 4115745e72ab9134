"""Coded cells against brute force."""

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.engine.codes import Cells, Coded, densify, encode, group_ids, wildcard_sizes

values = st.one_of(st.none(), st.sampled_from(["a", "b", "c", "é"]))
tables = st.lists(st.tuples(values, values, values), min_size=1, max_size=30)


def test_encode_sorts_values_and_puts_null_last():
    coded = encode(pa.array(["b", None, "a", "b"]))
    assert coded.codes.tolist() == [1, 2, 0, 1]
    assert coded.values.to_pylist() == ["a", "b"]
    assert coded.decode().to_pylist() == ["b", None, "a", "b"]


def test_encode_of_nothing_and_of_nulls_only():
    assert encode(pa.array([], pa.string())).codes.tolist() == []
    assert encode(pa.array([None, None], pa.string())).codes.tolist() == [0, 0]


@settings(deadline=None, max_examples=60)
@given(tables)
def test_group_ids_group_like_tuples(table):
    coded = [encode(pa.array([row[j] for row in table], pa.string())) for j in range(3)]
    ids, bound = group_ids([c.codes for c in coded], [c.size for c in coded])
    assert ids.max() < bound
    for i, one in enumerate(table):
        for j, two in enumerate(table):
            assert (ids[i] == ids[j]) == (one == two)


def test_group_ids_beyond_64_bits_are_hashed():
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, 2**20, 500) for _ in range(5)]
    ids, bound = group_ids(columns, [2**20] * 5)
    expected = np.unique(np.stack(columns, axis=1), axis=0)
    assert bound == len(expected) == len(np.unique(ids))


def test_densify_keeps_the_grouping():
    ids, bound = densify(np.array([2**61, 5, 2**61, 7]))
    assert bound == 3
    assert ids[0] == ids[2] != ids[1]


@settings(deadline=None, max_examples=60)
@given(tables)
def test_wildcard_sizes_match_the_definition(table):
    distinct = list(dict.fromkeys(table))
    n = np.array([table.count(row) for row in distinct])
    keys = {f"k{j}": encode(pa.array([row[j] for row in distinct], pa.string())) for j in range(3)}
    found = wildcard_sizes(Cells(keys, n))
    for i, one in enumerate(distinct):
        agreeing = sum(
            all(a is None or b is None or a == b for a, b in zip(one, two, strict=True))
            for two in table
        )
        assert found[i] == agreeing


def test_class_sizes_over_no_keys_are_the_total():
    cells = Cells(
        {"a": Coded(np.array([0, 1], dtype=np.int32), pa.array(["x", "y"]))}, np.array([2, 3])
    )
    assert cells.class_sizes([]).tolist() == [5, 5]
