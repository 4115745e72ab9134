"""mu-Argus: combinations, suppression, sessions."""

import json
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import tacit
from conftest import FIXTURES
from tacit.errors import Approximate, InputError, InvalidParameter, RoleMissing, WeakProtection
from tacit.records.suppression import mu_argus, rare_combinations
from tacit.records.suppression.mu_argus import Session, list_checked_combinations
from tacit.records.suppression.rare_combinations import greedy_sets, smallest_sets

ROWS = {
    "a": ["x", "x", "x", "y", "y", "y", "y"],
    "b": [1, 1, 1, 2, 2, 2, 1],
    "c": ["p", "p", None, "q", "q", "q", "q"],
    "w": [1.5, 2.0, 1.0, 1.0, 1.0, 1.0, 3.0],
}


def test_no_record_is_lost_and_types_and_weights_stay(engine):
    data = tacit.read(pa.table(ROWS), keys=["a", "b", "c"], weight="w", engine=engine)
    released = tacit.MuArgus(k=2).apply(data)
    rows = released.to_arrow().to_pylist()
    # (y, 1) and (1, q) are held by the last record alone; column b meets both.
    assert rows[-1] == {"a": "y", "b": None, "c": "q", "w": 3.0}
    assert rows[:-1] == data.to_arrow().to_pylist()[:-1]
    assert released.to_arrow().schema.types == data.to_arrow().schema.types
    details = released.history[-1].details
    assert details["suppressed"] == {"a": 0, "b": 1, "c": 0}
    assert details["rounds"] == [{"records": 1, "cells": 1}]


def test_rounds_follow_from_one_another(engine):
    """Hiding a cell makes another combination rare, which the next round must see."""
    rows = {"a": ["x", "x", "y", "y", "y"], "b": ["1", "2", "2", "3", "3"], "c": ["p"] * 5}
    released = tacit.MuArgus(k=2).apply(
        tacit.read(pa.table(rows), keys=["a", "b", "c"], engine=engine)
    )
    details = released.history[-1].details
    assert len(details["rounds"]) > 1
    assert released.history[-1].claims[0].holds(released.frame)


def test_ratings_in_words_numbers_and_from_metadata():
    assert list_checked_combinations({"a": 1, "b": 1}, 3) == [("a",), ("b",)]
    assert ("a", "b", "c") not in list_checked_combinations({"a": 2, "b": 2, "c": 2}, 3)
    assert ("a", "b", "c") in list_checked_combinations({"a": 3, "b": 3, "c": 1}, 3)
    assert ("a", "b", "c") not in list_checked_combinations({"a": 3, "b": 1, "c": 1}, 3)
    data = tacit.read(ROWS, keys=["a", "b", "c"])
    words = tacit.MuArgus(ratings={"a": "most", "b": "more", "c": "not"})
    numbers = tacit.MuArgus(ratings={"a": 3, "b": 2, "c": 0})
    assert words.combinations(data) == numbers.combinations(data) == [("a",), ("b",), ("a", "b")]
    assert tacit.MuArgus(ratings={"a": 3}).ranks(data) == {"a": 3, "b": 1, "c": 1}
    assert tacit.MuArgus().ranks(data) == {"a": 3, "b": 3, "c": 3}
    assert len(tacit.MuArgus(max_dim=2).combinations(data)) == 6
    described = {
        "a": SimpleNamespace(format={"idlevel": 1}),
        "b": SimpleNamespace(format={"idlevel": 3}),
        "c": SimpleNamespace(format={}),
    }
    assert mu_argus.metadata_ranks(SimpleNamespace(columns=described)) == {"a": 3, "b": 1}


@pytest.mark.parametrize("weights", [np.ones(5), np.array([3.0, 1, 2, 0.5, 1])])
def test_smallest_sets_by_brute_force(weights):
    rng = np.random.default_rng(4)
    sets = [s for size in (1, 2, 3) for s in combinations(range(5), size)]
    patterns = rng.integers(1, 2 ** len(sets), (1, 60)) & rng.integers(1, 2 ** len(sets), (1, 60))
    patterns = patterns[:, patterns[0] > 0] & ~((1 << 5) - 1 - 1)
    patterns = patterns[:, patterns[0] > 0]
    found = smallest_sets(patterns, sets, weights)
    quick = greedy_sets(patterns, sets, weights)
    for bits, mine, greedy in zip(patterns[0], found, quick, strict=True):
        must = [set(s) for j, s in enumerate(sets) if bits >> j & 1]
        every = [c for size in range(6) for c in combinations(range(5), size)]
        valid = [c for c in every if all(set(c) & m for m in must)]
        assert weights[mine].sum() == min(weights[list(c)].sum() for c in valid)
        assert all(set(np.flatnonzero(mine)) & m for m in must)
        assert all(set(np.flatnonzero(greedy)) & m for m in must)


def test_more_than_sixty_combinations():
    sets = [s for size in (1, 2, 3) for s in combinations(range(8), size)]
    last = len(sets) - 1
    pattern = np.zeros((last // rare_combinations.BITS + 1, 1), dtype=np.int64)
    pattern[last // rare_combinations.BITS] = 1 << (last % rare_combinations.BITS)
    assert np.flatnonzero(smallest_sets(pattern, sets, np.ones(8))[0]).tolist() == [5]
    assert np.flatnonzero(greedy_sets(pattern, sets, np.ones(8))[0]).tolist() == [5]


def test_greedy_takes_the_most_frequent_value_first():
    sets = [(0, 1), (0, 2), (1, 2), (0, 3)]
    assert np.flatnonzero(greedy_sets(np.array([[0b1011]]), sets, np.ones(4))[0]).tolist() == [0]
    tie = greedy_sets(np.array([[0b0001]]), sets, np.array([2.0, 1, 1, 1]))
    assert np.flatnonzero(tie[0]).tolist() == [1]


def test_a_search_that_is_too_long_says_so(monkeypatch):
    monkeypatch.setattr(rare_combinations, "CANDIDATES", 1)
    with pytest.warns(Approximate, match="greedily"):
        found = smallest_sets(np.array([[0b1]]), [(1, 2)], np.ones(3))
    assert np.flatnonzero(found[0]).tolist() == [1]


def test_identifiers_rated_most_are_emptied(engine):
    rows = {"id": ["1", "2", "3", "4"], "a": ["x", "x", "y", "y"]}
    data = tacit.read(pa.table(rows), identifiers=["id"], keys=["a"], engine=engine)
    released = tacit.MuArgus(ratings={"id": "most", "a": "more"}).apply(data)
    assert released.column("id").to_pylist() == [None] * 4
    assert released.column("a").to_pylist() == rows["a"]


def test_k_above_the_records_hides_everything():
    data = tacit.read(ROWS, keys=["a", "b", "c"])
    released = tacit.MuArgus(k=8).apply(data)
    assert all(released.column(c).null_count == 7 for c in ("a", "b", "c"))


def test_faults():
    data = tacit.read(ROWS, keys=["a", "b"], hierarchies={"a": tacit.hierarchy.flat()})
    with pytest.raises(RoleMissing, match="needs ratings"):
        tacit.MuArgus().apply(tacit.read(ROWS))
    with pytest.raises(RoleMissing, match="no hierarchy"):
        tacit.MuArgus(recode={"b": 1}).apply(data)
    with pytest.raises(InputError, match="levels 0 to 1"):
        tacit.MuArgus(recode={"a": 2}).apply(data)
    with pytest.raises(InvalidParameter, match="ratings"):
        tacit.MuArgus(ratings={"a": "very"})
    with pytest.warns(WeakProtection, match="no protection"):
        tacit.MuArgus(k=1).apply(data)


def test_session(fig28):
    ratings = {"SSN": "most", "Birth": "more", "Sex": "more", "ZIP": "more", "Ethnicity": 1}
    session = Session(fig28, 2, ratings)
    start = session.outliers().rows(named=True)
    assert len(start) == 21
    assert start[0] == {"combination": "SSN", "size": 1, "outliers": 12, "records": 12}
    recoded = {
        r["combination"]: r["records"]
        for r in session.recode("Birth", 2).outliers().rows(named=True)
    }
    assert recoded["Birth"] == 0
    assert [c for c, n in recoded.items() if n == 1] == [
        "Ethnicity x Birth",
        "Ethnicity x Sex",
        "Birth x ZIP",
        "Sex x ZIP",
    ]
    session.recode("ZIP", 1)
    assert session.levels == {"Birth": 2, "ZIP": 1}
    assert session.undo().levels == {"Birth": 2}
    assert session.redo().levels == {"Birth": 2, "ZIP": 1}
    with pytest.raises(InputError, match="nothing to redo"):
        session.redo()
    assert session.undo().undo().outliers().rows(named=True) == start
    with pytest.raises(InputError, match="nothing to undo"):
        session.undo()
    released = session.recode("Birth", 2).apply()
    assert (
        released.to_arrow()
        == tacit.MuArgus(ratings=ratings, recode={"Birth": 2}).apply(fig28).to_arrow()
    )
    with pytest.raises(RoleMissing, match="no hierarchy"):
        session.recode("SSN", 1)


@pytest.mark.parametrize("weights", ["by_entropy", "by_priority"])
def test_the_lightest_cells_by_entropy_and_by_priority(weights):
    path = FIXTURES / "psd28-argus-software" / "local_suppression.json"
    case = json.loads(path.read_text())
    names = case["input"]["variables"]
    data = tacit.read(
        dict(zip(names, zip(*case["input"]["records"], strict=True), strict=True)), keys=names
    )
    importance = "entropy" if weights == "by_entropy" else case["input"]["priority"]
    made = tacit.MuArgus(k=case["input"]["threshold"] + 1, importance=importance).apply(data)
    gone = {
        i: [c for c in names if row[c] is None]
        for i, row in enumerate(made.to_arrow().to_pylist(), start=1)
        if None in row.values()
    }
    assert gone == {r["record"]: r[weights]["suppress"] for r in case["expected"]["records"]}


def test_by_dimension_each_with_its_own_k():
    data = tacit.read(ROWS, keys=["a", "b", "c"])
    method = tacit.MuArgus(dimensions={1: 4, 2: 2})
    assert len(method.combinations(data)) == 6
    assert {k for c, k in method.checked(data) if len(c) == 1} == {4}
    released = method.apply(data)
    claims = released.history[-1].claims
    assert [c.parameters["k"] for c in claims] == [4, 2]
    assert not all(c.holds(data.frame) for c in claims)
    listed = tacit.MuArgus(tables=[{"columns": ["b", "a"], "k": 4}]).apply(data)
    assert listed.history[-1].details["suppressed"] == {"a": 7, "b": 0}
    with pytest.raises(InputError, match="rated columns, 3"):
        tacit.MuArgus(dimensions={4: 2}).apply(data)
    with pytest.raises(InvalidParameter, match="not both"):
        tacit.MuArgus(dimensions={1: 2}, tables=[{"columns": ["a"], "k": 2}])


def test_values_of_households_go_together(engine):
    """The size of a household is hidden for all members or for none; a person's own value for one."""
    rng = np.random.default_rng(3)
    home = np.repeat(np.arange(60), 3)
    rows = {
        "home": home.tolist(),
        "place": (rng.integers(0, 9, 60)[home]).tolist(),
        "age": rng.integers(0, 12, 180).tolist(),
        "sex": rng.integers(0, 2, 180).tolist(),
    }
    data = tacit.read(pa.table(rows), keys=["place", "age", "sex"], household="home", engine=engine)
    released = tacit.MuArgus(k=3).apply(data)
    details = released.history[-1].details
    assert details["household_wide"] == ["place"]
    gone = np.array([v is None for v in released.column("place").to_pylist()]).reshape(60, 3)
    assert gone.any()
    assert (gone.any(axis=1) == gone.all(axis=1)).all()
    assert all(c.holds(released.frame) for c in released.history[-1].claims)


def test_priorities_of_the_metadata_are_honoured(fig28):
    """The priority 100 spares a column that would go otherwise."""
    import dataclasses

    def with_priorities(given):
        columns = {
            n: dataclasses.replace(c, format={**c.format, "suppression_weight": given[n]})
            if n in given
            else c
            for n, c in fig28.columns.items()
        }
        return dataclasses.replace(fig28, columns=columns)

    def hidden(data, **more):
        made = tacit.MuArgus(recode={"Birth": 2}, **more).apply(data)
        return made.history[-1].details["suppressed"]

    plain = hidden(fig28)
    spared = max((c for c in plain), key=plain.get)
    assert plain[spared] > 0
    data = with_priorities({spared: 100, **{c: 10 for c in plain if c != spared}})
    assert hidden(data)[spared] < plain[spared]
    assert hidden(data, importance=dict.fromkeys(plain, 1.0)) == plain


def test_many_columns_are_settled_exactly():
    """Thirty columns with weights: the lightest set by branch and bound, against an integer program."""
    rng = np.random.default_rng(6)
    weights = rng.integers(1, 8, 30).astype(float)
    sets = [tuple(sorted(rng.choice(30, 3, replace=False).tolist())) for _ in range(50)]
    pattern = np.array([[(1 << 50) - 1]])
    found = np.flatnonzero(smallest_sets(pattern, sets, weights)[0])
    assert all(set(found.tolist()) & set(s) for s in sets)
    from scipy.optimize import LinearConstraint, milp

    meets = np.array([[c in s for c in range(30)] for s in sets], dtype=float)
    best = milp(weights, integrality=1, bounds=(0, 1), constraints=LinearConstraint(meets, 1))
    assert weights[found].sum() == round(best.fun)
