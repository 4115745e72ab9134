import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InvalidParameter
from tacit.records.classes.summaries import (
    attacker_interval,
    find_small_counts,
    protect,
    with_margins,
)


def microdata(table, engine="duckdb"):
    cells = [
        (f"r{i}", f"c{j}")
        for i, row in enumerate(table)
        for j, n in enumerate(row)
        for _ in range(n)
    ]
    return tacit.read({"a": [a for a, _ in cells], "b": [b for _, b in cells]}, engine=engine)


def brute_interval(full, hidden, cell):
    """Try every table of counts that agrees with what is published."""
    top = int(full[-1, -1])
    shape = (full.shape[0] - 1, full.shape[1] - 1)
    seen = []
    for values in itertools.product(range(top + 1), repeat=shape[0] * shape[1]):
        if sum(values) != top:
            continue
        other = with_margins(np.array(values).reshape(shape))
        if (other == full)[~hidden].all():
            seen.append(int(other[cell]))
    return min(seen), max(seen)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
    st.lists(st.booleans(), min_size=8, max_size=8),
)
def test_attack_against_brute_force(counts, flags):
    full = with_margins(np.array(counts).reshape(2, 2))
    hidden = np.append(flags, False).reshape(3, 3)
    for cell in map(tuple, np.argwhere(hidden)):
        assert attacker_interval(full, hidden, cell) == brute_interval(full, hidden, cell)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda c: st.lists(
            st.lists(st.sampled_from([0, 1, 2, 3, 5, 9, 20]), min_size=c, max_size=c),
            min_size=1,
            max_size=4,
        )
    ),
    st.integers(2, 5),
)
def test_no_hidden_count_can_be_worked_out(table, threshold):
    full = with_margins(np.array(table, dtype=np.int64))
    hidden = protect(full, threshold)
    primary = find_small_counts(full, threshold)
    assert hidden[primary].all()
    if not primary.any():
        assert not hidden.any()
    for cell in map(tuple, np.argwhere(hidden)):
        low, high = attacker_interval(full, hidden, cell)
        assert low < high
        if primary[cell]:
            assert high >= threshold


def test_spec(engine):
    found = tacit.Summaries(columns=("a", "b")).measure(
        microdata([[12, 1, 30], [7, 9, 30], [20, 20, 30]], engine)
    )
    assert found.primary.sum() == 1
    assert found.hidden.sum() == 4
    shown = found.frame.filter(~found.frame["total"])
    assert shown["count"].null_count() == 4
    assert sorted(found.frame["status"].to_list()).count("complementary") == 3
    assert found.frame["count"].to_list()[-1] == 159


def test_one_column():
    data = tacit.read({"a": ["x"] * 5 + ["y"] * 2 + ["z"] * 9 + [None] * 4})
    found = tacit.Summaries(columns=("a",)).measure(data)
    assert found.frame.rows() == [
        ("x", False, 5, "published"),
        ("y", False, None, "primary"),
        ("z", False, 9, "published"),
        (None, False, None, "complementary"),
        ("Total", True, 20, "published"),
    ]
    alone = tacit.Summaries(columns=("a",), margins=False).measure(data)
    assert alone.frame["count"].to_list() == [5, None, 9, 4]
    assert alone.numbers["margins hidden"] == 0


def test_withheld_when_nothing_protects():
    found = tacit.Summaries(columns=("a", "b")).measure(microdata([[1]]))
    assert found.hidden.all()
    assert found.frame["count"].to_list() == [None] * 4


def test_empty_and_faults():
    data = tacit.Suppress(level="tuple", where="a != ''").apply(microdata([[3]]))
    assert tacit.Summaries(columns=("a",)).measure(data).value == 0
    for wrong in ((), ("a", "b", "c")):
        with pytest.raises(InvalidParameter):
            tacit.Summaries(columns=wrong)
