"""Subset counts against counting by hand."""

import itertools
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.engine import subsets
from tacit.engine.subsets import (
    Packing,
    all_subsets,
    class_sizes,
    sizes_by_sorting,
    subset_counts,
    unordered_cells,
    unravel_ids,
)


def by_hand(table, subset):
    rows = zip(*(table.column(k).to_pylist() for k in subset), strict=True)
    return sorted(Counter(rows).values())


def tables(max_rows=40):
    column = st.sampled_from([None, "é", "b", "c", "d"])
    return (
        st.integers(0, max_rows)
        .flatmap(
            lambda n: st.lists(st.lists(column, min_size=n, max_size=n), min_size=1, max_size=5)
        )
        .map(lambda cols: pa.table({f"k{i}": pa.array(c, pa.string()) for i, c in enumerate(cols)}))
    )


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(1, 4), st.sampled_from([1, 30, 1 << 12]))
def test_every_subset_as_by_hand(table, size, smallest):
    data = tacit.read(table)
    sets = all_subsets(table.column_names, size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsets, "SMALLEST", smallest)  # small limits take the paths of large data
        found = dict(subset_counts(data.cells(table.column_names), sets))
    assert set(found) == set(sets)
    for subset in sets:
        assert sorted(found[subset]) == by_hand(table, subset)


def test_engines_agree_on_cells(engine):
    rng = np.random.default_rng(3)
    table = pa.table(
        {
            "a": pa.array([None if x == 4 else int(x) for x in rng.integers(0, 5, 60)], pa.int64()),
            "b": pa.array(rng.choice(["x", "é", "z"], 60)),
            "c": pa.array(rng.integers(0, 2, 60) / 2),
        }
    )
    data = tacit.read(table, keys=["a", "b", "c"], engine=engine)
    ours, usual = unordered_cells(data.frame, ["a", "b", "c"], data.engine), data.cells()
    assert ours.total == 60
    decoded = lambda cells: Counter(  # noqa: E731
        dict(
            zip(
                zip(*(c.decode().to_pylist() for c in cells.keys.values()), strict=True),
                cells.n.tolist(),
                strict=True,
            )
        )
    )
    assert decoded(ours) == decoded(usual)


def test_many_wide_keys_share_several_integers():
    n = 300
    table = {f"k{i}": [f"{(j * (i + 3)) % 251}" for j in range(n)] for i in range(9)}
    data = tacit.read(table, keys=list(table))
    assert len(Packing.of([252] * 9).names) == 2
    cells = unordered_cells(data.frame, list(table), data.engine)
    found = dict(subset_counts(cells, [tuple(table)]))
    assert sorted(found[tuple(table)]) == by_hand(pa.table(table), tuple(table))


def test_packing_is_undone():
    rng = np.random.default_rng(1)
    sizes = [7, 2**31, 2**31, 3]
    columns = [rng.integers(0, s, 50) for s in sizes]
    packing = Packing.of(sizes)
    for mine, theirs in zip(packing.unpack(packing.pack(columns)), columns, strict=True):
        assert np.array_equal(mine, theirs.astype(np.int32))


def test_sorting_and_dense_tables_agree():
    rng = np.random.default_rng(2)
    ids, n = rng.integers(0, 50, 500), rng.integers(1, 9, 500)
    expected = np.bincount(ids, weights=n)
    assert sorted(sizes_by_sorting(ids, 50, n)) == sorted(expected[expected > 0])
    assert sorted(sizes_by_sorting(ids, 2**61, n)) == sorted(expected[expected > 0])
    assert sorted(sizes_by_sorting(ids, 50, None)) == sorted(np.bincount(ids)[np.bincount(ids) > 0])
    assert np.array_equal(class_sizes([ids], [50], n), expected[ids])


def test_unravelled_counts_back():
    sizes = [3, 4, 5]
    tuples = list(itertools.product(*map(range, sizes)))
    columns = unravel_ids(np.arange(60), sizes)
    assert list(zip(*columns, strict=True)) == tuples


def test_no_rows():
    data = tacit.read(
        pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.int64())}), keys=["a", "b"]
    )
    cells = unordered_cells(data.frame, ["a", "b"], data.engine)
    assert [len(s) for _, s in subset_counts(cells, all_subsets(["a", "b"], 2))] == [0, 0, 0]
