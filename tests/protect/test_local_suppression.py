"""Local suppression against definitions, brute force and the counts of a published package."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import Infeasible, WeakProtection
from tacit.protect.suppress import local_cells as local

NAMES = ("a", "b", "c", "d")


def quiet(_message, _share):
    pass


def agreeing(codes):
    """How many records agree with each one, from the definition."""
    same = (codes[:, None] == codes[None]) | (codes[:, None] < 0) | (codes[None] < 0)
    return same.all(axis=2).sum(axis=1)


@st.composite
def tables(draw):
    n, q = draw(st.integers(4, 24)), draw(st.integers(1, 4))
    values = st.integers(-1, 3)
    codes = draw(st.lists(st.lists(values, min_size=q, max_size=q), min_size=n, max_size=n))
    return np.array(codes, dtype=np.int64)


@given(tables(), st.integers(2, 4), st.booleans())
@settings(max_examples=60, deadline=None)
def test_each_rare_record_loses_a_lightest_set(codes, k, greedy):
    weights, fixed = np.ones(codes.shape[1]), np.zeros(codes.shape[1], dtype=bool)
    hidden = local.suppress_each(codes, k, weights, fixed, greedy=greedy, tick=quiet)
    before, after = agreeing(codes), agreeing(np.where(hidden, -1, codes))
    assert after.min() >= k
    assert (hidden.any(axis=1) == (before < k)).all()
    if greedy:
        return
    for i in np.flatnonzero(before < k):
        assert hidden[i].sum() <= fewest(codes, i, k)


def fewest(codes, i, k):
    known = np.flatnonzero(codes[i] >= 0)
    for size in range(1, len(known) + 1):
        for columns in itertools.combinations(known, size):
            changed = codes.copy()
            changed[i, list(columns)] = -1
            if agreeing(changed)[i] >= k:
                return size
    raise AssertionError


@given(tables(), st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_shared_never_takes_more_and_leaves_no_needless_cell(codes, k):
    weights, fixed = np.ones(codes.shape[1]), np.zeros(codes.shape[1], dtype=bool)
    hidden = local.suppress_shared(codes, k, weights, fixed, tick=quiet)
    each = local.suppress_each(codes, k, weights, fixed, greedy=False, tick=quiet)
    assert agreeing(np.where(hidden, -1, codes)).min() >= k
    assert hidden.sum() <= each.sum()
    for i, j in np.argwhere(hidden):
        back = hidden.copy()
        back[i, j] = False
        assert agreeing(np.where(back, -1, codes)).min() < k


@given(tables(), st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_strict_gives_classes_of_k(codes, k):
    weights, fixed = np.ones(codes.shape[1]), np.zeros(codes.shape[1], dtype=bool)
    hidden = local.suppress_strict(codes, k, weights, fixed, tick=quiet)
    assert local.class_sizes(np.where(hidden, -1, codes)).min() >= k


@given(tables(), st.integers(2, 3))
@settings(max_examples=30, deadline=None)
def test_compiled_and_plain_kernels_agree(codes, k):
    rows, _ = local.find_rare_rows(codes, k)
    bits = np.arange(1, 1 << codes.shape[1], dtype=np.int64)
    plain = local.enough_arrays(rows.codes, rows.size, rows.rare, bits, k, codes.shape[1])
    assert (
        local.mark_enough(rows.codes, rows.size, rows.rare, bits, k, codes.shape[1]) == plain
    ).all()
    for at in rows.rare:
        new = local.blank_columns(rows.codes[at], [0])
        assert local.count_agreeing(rows.codes, rows.size, new) == rows.count(new)
        found = local.newly_agreeing(rows.codes, rows.rare, rows.codes[at], new)
        assert found.tolist() == rows.find_gained_rows(int(at), new).tolist()


def people(n=400, seed=3):
    rng = np.random.default_rng(seed)
    return tacit.read(
        {
            "a": rng.integers(0, 9, n),
            "b": rng.choice(list("xyz"), n),
            "c": rng.choice(["u", "v", None], n, p=[0.5, 0.4, 0.1]),
            "d": rng.integers(0, 4, n),
        },
        keys=NAMES,
    )


@pytest.mark.parametrize("rule", ["each", "strict"])
def test_the_released_file_keeps_its_claim(rule):
    released = tacit.LocalSuppression(k=4, rule=rule).apply(people())
    claim = released.history[-1].claims[0]
    assert claim.holds(released.frame)
    assert not claim.holds(people().frame)
    missing = "category" if rule == "strict" else "wildcard"
    measured = tacit.KAnonymity(k=4, missing=missing).measure(released)
    assert measured.numbers["smallest class (k)"] >= 4


def test_shared_says_what_it_leaves_open():
    with pytest.warns(WeakProtection, match="released as they are"):
        released = tacit.LocalSuppression(k=3, rule="shared").apply(people())
    details = released.history[-1].details
    assert details["rare_records_left_whole"] > 0
    assert (
        details["cells"] < tacit.LocalSuppression(k=3).apply(people()).history[-1].details["cells"]
    )


def test_importance_and_kept_columns():
    light = tacit.LocalSuppression(k=3, importance={"a": 0.1}).apply(people())
    heavy = tacit.LocalSuppression(k=3, importance={"a": 10}).apply(people())
    assert (
        light.history[-1].details["suppressed"]["a"] > heavy.history[-1].details["suppressed"]["a"]
    )
    told = tacit.LocalSuppression(k=3, importance="entropy").apply(people())
    assert (
        told.history[-1].details["suppressed"]["a"] < light.history[-1].details["suppressed"]["a"]
    )
    kept = tacit.LocalSuppression(k=3, keep=["a", "b"]).apply(people())
    assert kept.history[-1].details["suppressed"]["a"] == 0
    assert kept.column("a").null_count == 0


def test_combinations_have_their_own_k():
    asked = [{"columns": ["a", "b"], "k": 12}, {"columns": ["b", "c", "d"], "k": 5}]
    released = tacit.LocalSuppression(combinations=asked).apply(people())
    assert len(released.history[-1].claims) == 2
    assert all(claim.holds(released.frame) for claim in released.history[-1].claims)


def test_many_columns_are_settled_one_by_one():
    rng = np.random.default_rng(1)
    columns = {f"v{i}": rng.integers(0, 3, 60) for i in range(14)}
    released = tacit.LocalSuppression(k=3).apply(tacit.read(columns, keys=list(columns)))
    details = released.history[-1].details
    assert not details["lightest_for_each_record"]
    assert details["records"] == 60


def test_refusals():
    with pytest.raises(tacit.SdcError, match="needs keys"):
        tacit.LocalSuppression().apply(tacit.read({"a": [1, 2, 3]}))
    with pytest.raises(tacit.SdcError, match="nothing may be suppressed"):
        tacit.LocalSuppression(keep=["a", "b", "c", "d"]).apply(people())
    with pytest.raises(Infeasible, match="fewer records than k"):
        tacit.LocalSuppression(k=500).apply(people())
    data = tacit.read({"a": [1, 2, 3], "b": [1, 1, 1]}, keys=["a", "b"])
    with pytest.raises(Infeasible, match="Allow more columns"):
        tacit.LocalSuppression(k=2, keep=["a"]).apply(data)
    with pytest.raises(tacit.SdcError, match="rule 'each' only"):
        tacit.LocalSuppression(rule="strict", method="greedy")
