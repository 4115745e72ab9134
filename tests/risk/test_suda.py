"""SUDA: minimal uniques and scores against brute force from the definitions."""

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InvalidParameter, RoleMissing
from tacit.records.classes import suda as search

# Ten records on four keys, small enough to check by hand.
SURVEY = {
    "area": ["u", "u", "r", "u", "r", "u", "r", "u", "r", "u"],
    "sex": ["f", "f", "f", "m", "m", "f", "m", "f", "f", "m"],
    "school": ["2", "2", "1", "3", "3", "2", "1", "3", "1", "2"],
    "work": ["e", "e", "e", "e", "i", "e", "i", "i", "e", "i"],
}


def agree(a, b, missing):
    if missing == "wildcard" and (a is None or b is None):
        return True
    if missing == "ignore" and (a is None or b is None):
        return False
    return a == b


def twin(rows, max_size, missing):
    """The minimal uniques of each row: sets of positions, straight from the definition."""
    m = len(rows[0])
    found = []
    for i, row in enumerate(rows):
        unique = []
        for size in range(1, min(max_size, m) + 1):
            for s in itertools.combinations(range(m), size):
                if missing != "category" and any(row[j] is None for j in s):
                    continue
                alone = not any(
                    all(agree(row[j], other[j], missing) for j in s)
                    for o, other in enumerate(rows)
                    if o != i
                )
                if alone and not any(set(u) < set(s) for u in unique):
                    unique.append(s)
        found.append(set(unique))
    return found


def weigh(s, m, largest, scores):
    if scores == "ihsn":
        return (2 ** (m - s) - 1) * math.factorial(s) * math.factorial(m - s) / math.factorial(m)
    weight = 1
    for i in range(s, largest + 1):
        if i < m:
            weight *= m - i
    return weight


def dis_twin(score, uniques, pairs, f, m):
    dis = uniques * f / (uniques * f + pairs * (1 - f))
    q = 1 + (8 - m) / 20
    adjust = sum(x**-q for x in score if x)
    return [1 / (1 + (uniques / dis - uniques) / (x**q * adjust)) if x else 0 for x in score]


def read(rows, m):
    names = [f"k{j}" for j in range(m)]
    table = pa.table({n: pa.array([r[j] for r in rows], pa.string()) for j, n in enumerate(names)})
    return tacit.read(table, keys=names)


value = st.sampled_from(["a", "b", "c", None])
files = st.integers(1, 4).flatmap(lambda m: st.lists(st.tuples(*[value] * m), max_size=14))


@settings(max_examples=60, deadline=None)
@given(
    rows=files, missing=st.sampled_from(["category", "wildcard", "ignore"]), size=st.integers(1, 5)
)
def test_search_agrees_with_the_definition(rows, missing, size):
    m = len(rows[0]) if rows else 2
    rows = [("a",) * m, *rows]  # a key without any value is refused
    data = read(rows, m)
    found = tacit.Suda(max_size=size, missing=missing).measure(data)
    wanted = twin(rows, size, missing)
    frame = found.frame
    assert frame["minimal_uniques"].to_list() == [len(w) for w in wanted]
    assert frame["smallest"].to_list() == [min(map(len, w), default=0) for w in wanted]
    score = [sum(weigh(len(s), m, size, "elliot") for s in w) for w in wanted]
    assert frame["score"].to_list() == pytest.approx(score)
    uniques = sum(rows.count(r) == 1 for r in rows)
    pairs = sum(rows.count(r) == 2 for r in rows)
    if uniques:
        assert frame["dis"].to_list() == pytest.approx(dis_twin(score, uniques, pairs, 0.01, m))
    sets = {r["columns"]: r["records"] for r in found.minimal_uniques.rows(named=True)}
    told = [" x ".join(f"k{j}" for j in s) for w in wanted for s in w]
    assert sets == {s: told.count(s) for s in told}
    for j, row in enumerate(found.contributions.rows(named=True)):
        mine = sum(weigh(len(s), m, size, "elliot") for w in wanted for s in w if j in s)
        assert row["score"] == pytest.approx(mine)
    by_value = {
        (r["key"], r["value"]): r["score"] for r in found.value_contributions.rows(named=True)
    }
    for j in range(m):
        for v in {r[j] for r in rows}:
            mine = sum(
                weigh(len(s), m, size, "elliot")
                for r, w in zip(rows, wanted, strict=True)
                for s in w
                if j in s and r[j] == v
            )
            assert by_value.get((f"k{j}", v), 0) == pytest.approx(mine)


@pytest.mark.parametrize("missing", ["category", "wildcard", "ignore"])
def test_large_sets_are_found_by_hashing_as_by_tables(monkeypatch, missing):
    rng = np.random.default_rng(3)
    rows = [
        tuple(None if v == 9 else str(v % 4) for v in rng.integers(0, 10, 5)) for _ in range(80)
    ]
    data = read(rows, 5)
    wanted = [len(w) for w in twin(rows, 4, missing)]
    suda = tacit.Suda(max_size=4, missing=missing)
    assert suda.measure(data).frame["minimal_uniques"].to_list() == wanted
    monkeypatch.setattr(search, "dense_limit", lambda n: 20)
    assert suda.measure(data).frame["minimal_uniques"].to_list() == wanted


def test_a_small_file_by_hand():
    data = tacit.read(pa.table(SURVEY), keys=list(SURVEY))
    found = tacit.Suda(max_size=3, fraction=0.2).measure(data)
    # Records 1, 2 and 6 are equal, and so are 3 and 9; the other five are unique on all four keys.
    assert found.numbers["unique on all keys"] == 5
    score = found.frame["score"].to_list()
    assert [i for i, s in enumerate(score) if s] == [3, 4, 6, 7, 9]
    # Record 4 (u, m, 3, e) is alone on sex x work, on school x work and on area x sex x school; with m = 4 and
    # M = 3 sets of one, two and three keys weigh 6, 2 and 1.
    assert score[3] == 2 + 2 + 1
    sets = {r["columns"]: r["records"] for r in found.minimal_uniques.rows(named=True)}
    assert sets["sex x work"] == 2  # record 4, and record 8 (f, i)
    odds = 2 * 0.8 / 0.2  # one pair of records
    q = 1.2
    adjust = sum(s**-q for s in score if s)
    assert found.frame["dis"].to_list()[3] == pytest.approx(1 / (1 + odds / (5**q * adjust)))


def test_other_weights_and_shares():
    data = tacit.read(pa.table(SURVEY), keys=list(SURVEY))
    plain = tacit.Suda(max_size=4).measure(data)
    other = tacit.Suda(max_size=4, scores="ihsn").measure(data)
    assert plain.frame["minimal_uniques"].to_list() == other.frame["minimal_uniques"].to_list()
    assert other.frame["score"].to_list()[3] == pytest.approx(2 * 3 / 6 + 1 / 4)
    mine = [c for c in plain.frame.columns if c.startswith("contribution of")]
    assert sum(plain.frame[c].to_list()[3] for c in mine) == pytest.approx((4 + 4 + 3) / 5)


def test_a_limit_is_a_promise():
    data = tacit.read(pa.table(SURVEY), keys=list(SURVEY))
    assert tacit.Suda().measure(data).shortfall == ""
    asked = tacit.Suda(limit=0.0).measure(data)
    assert "5 of 10 records have a DIS score above 0" in asked.shortfall
    assert asked.value == 0.5
    assert tacit.Suda(limit=0.9).measure(data).shortfall == ""


def test_mistakes_get_one_sentence():
    with pytest.raises(RoleMissing, match="keys"):
        tacit.Suda().measure(tacit.read(pa.table(SURVEY)))
    with pytest.raises(InvalidParameter, match="fraction must be greater than 0"):
        tacit.Suda(fraction=0)
    wide = pa.table({f"k{j}": ["a", "b"] for j in range(63)})
    with pytest.raises(tacit.errors.InputError, match="at most 62 keys"):
        tacit.Suda().measure(tacit.read(wide, keys=wide.column_names))
