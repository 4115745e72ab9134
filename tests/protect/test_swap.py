from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.engine.base import ROW
from tacit.errors import (
    DisclosureRefused,
    Infeasible,
    InputError,
    InvalidParameter,
    RoleMissing,
    WeakProtection,
)
from tacit.records.swapping.swap import SOURCE, TICKETS, derange, pair_up

small = st.lists(st.integers(0, 4), max_size=25)


def column(result, name):
    return result.column(name).to_pylist()


def tickets(groups, values, seed):
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, 1 << 62, (2, len(groups)))
    columns = [np.arange(len(groups)), np.array(groups, int), np.array(values, int), *drawn]
    return tacit.get_engine("duckdb").from_arrow(pa.table(columns, schema=TICKETS))


def rows(frame):
    table = frame.collect("pyarrow")
    return table.get_column(ROW).to_list(), table.get_column(SOURCE).to_list()


@settings(max_examples=60, deadline=None)
@given(small, st.integers(0, 20), st.integers(0, 2**32))
def test_random_pairs_are_disjoint_and_within(groups, wanted, seed):
    engine = tacit.get_engine("duckdb")
    own, source = rows(pair_up(tickets(groups, groups, seed), wanted, engine))
    assert len(own) == 2 * min(wanted, sum(n // 2 for n in Counter(groups).values()))
    assert len(set(own)) == len(own)
    assert dict(zip(own, source, strict=True)) == dict(zip(source, own, strict=True))
    assert all(groups[a] == groups[b] and a != b for a, b in zip(own, source, strict=True))


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=25), st.integers(0, 2**32)
)
def test_derangement_exists_exactly_when_no_value_has_the_majority(records, seed):
    values = np.array([v for v, _ in records], dtype=np.int64)
    groups = np.array([g for _, g in records], dtype=np.int64)
    possible = all(
        2 * n <= (groups == g).sum()
        for (g, _), n in Counter(zip(groups.tolist(), values.tolist(), strict=True)).items()
    )
    drawn, rng = tickets(groups, values, seed), np.random.default_rng(seed)
    if not possible:
        with pytest.raises(Infeasible):
            derange(drawn, rng, tacit.get_engine("duckdb"))
        return
    own, source = rows(derange(drawn, rng, tacit.get_engine("duckdb")))
    assert sorted(own) == sorted(source) == list(range(len(records)))
    assert (groups[source] == groups[own]).all()
    assert (values[source] != values[own]).all()


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.one_of(st.none(), st.text(max_size=2))),
        min_size=1,
        max_size=20,
    ),
    st.floats(0, 0.6),
    st.integers(0, 99),
)
def test_swap_keeps_the_table_of_within_and_swapped(records, share, seed):
    data = tacit.read(
        {"g": [g for g, _ in records], "x": [x for _, x in records], "y": list(range(len(records)))}
    )
    try:
        result = tacit.Swap(columns=("x",), share=share, within=("g",)).apply(data, seed=seed)
    except (WeakProtection, DisclosureRefused):  # few values, or none, changed place
        return
    assert Counter(zip(column(result, "g"), column(result, "x"), strict=True)) == Counter(records)
    assert column(result, "y") == list(range(len(records)))
    assert column(data, "x") == [x for _, x in records]


def test_share_moves_that_many_records():
    data = tacit.read({"x": list(range(100))})
    result = tacit.Swap(columns=("x",), share=0.3).apply(data, seed=1)
    assert sum(a != b for a, b in zip(column(result, "x"), range(100), strict=True)) == 30
    assert column(tacit.Swap(columns=("x",), share=0.3).apply(data, seed=1), "x") == column(
        result, "x"
    )


def test_unit_swap_leaves_nobody_their_own(fig28, engine):
    data = tacit.read(fig28.to_arrow(), keys=["Ethnicity", "Birth", "Sex", "ZIP"], engine=engine)
    result = tacit.Swap().apply(data, seed=1)
    old, new = data.to_arrow(data.keys).to_pylist(), result.to_arrow(data.keys).to_pylist()
    assert all(a != b for a, b in zip(old, new, strict=True))
    assert sorted(map(str, old)) == sorted(map(str, new))
    assert result.column("Problem") == data.column("Problem")


def test_share_and_pairs_are_secret():
    method = tacit.Swap(columns=("x",), share=0.3141592)
    assert "share" not in method.to_dict(public=True)
    assert "0.3141592" not in repr(method)
    data = tacit.read({"x": [1, 2, 3, 4]})
    assert "0.3141592" not in str(method.apply(data, seed=1).history[-1])


def test_faults():
    data = tacit.read({"x": [1, 2], "g": [1, 2]})
    with pytest.raises(Infeasible):
        tacit.Swap(columns=("x",)).apply(data)
    with pytest.raises(InputError):
        tacit.Swap(columns=("x",), pairs=((1, 9),)).apply(data)
    with pytest.raises(InputError):
        tacit.Swap(columns=("x",), pairs=((1, 2),), within=("g",)).apply(data)
    with pytest.raises(RoleMissing):
        tacit.Swap(share=0.5).apply(data)
    with pytest.warns(WeakProtection):
        tacit.Swap(columns=("x",), share=1, within=("g",)).apply(data)
    for wrong in (
        {"pairs": ((1, 1),)},
        {"pairs": ((1, 2),), "share": 0.1},
        {"columns": ("x",), "within": ("x",)},
    ):
        with pytest.raises(InvalidParameter):
            tacit.Swap(**wrong)
