"""Invariants of Datafly on generated data."""

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import Infeasible, InvalidParameter, PlanError, WeakProtection

codes = st.sampled_from(["000", "001", "010", "011", "100", "110", "111"])
records = st.lists(
    st.tuples(codes, st.sampled_from("fm"), st.one_of(st.none(), st.integers(0, 3))),
    min_size=1,
    max_size=25,
).filter(
    lambda rows: any(
        r[2] is not None for r in rows
    )  # a key without any value is refused on reading
)


def data_of(rows, keys=("code", "sex", "group")):
    table = {
        "code": [r[0] for r in rows],
        "sex": [r[1] for r in rows],
        "group": [r[2] for r in rows],
    }
    rules = {
        "code": tacit.hierarchy.digits(3),
        "sex": tacit.hierarchy.flat(),
        "group": tacit.hierarchy.flat(),
    }
    return tacit.read(table, keys=keys if isinstance(keys, dict) else list(keys), hierarchies=rules)


def class_sizes(data, keys):
    rows = [tuple(r.values()) for r in data.to_arrow(list(keys)).to_pylist()]
    return [rows.count(r) for r in rows]


@settings(deadline=None, max_examples=40)
@given(records, st.integers(2, 4), st.integers(0, 5))
def test_every_class_reaches_k_and_few_records_are_dropped(rows, k, max_drop):
    data = data_of(rows)
    try:
        released = tacit.Datafly(k=k, max_drop=max_drop).apply(data, seed=1)
    except Infeasible:
        assert len(rows) - max_drop < k
        return
    assert min(class_sizes(released, data.keys), default=k) >= k
    assert len(rows) - len(released) <= max_drop
    details = released.history[-1].details
    assert details["dropped"] == len(rows) - len(released)
    # The loop stops at the first state that meets the limit.
    assert all(step["left_over"] > max_drop for step in details["trace"][:-1])


@settings(deadline=None, max_examples=25)
@given(records, st.integers(2, 3))
def test_two_quasi_identifiers_hold_at_once(rows, k):
    groups = {"one": ["code", "sex"], "two": ["sex", "group"]}
    data = data_of(rows, groups)
    try:
        released = tacit.Datafly(k=k, max_drop=len(rows) // 3).apply(data, seed=1)
    except Infeasible:
        return
    for keys in groups.values():
        assert min(class_sizes(released, keys), default=k) >= k


def rows_of_twelve():
    return [("000", "f", 1), ("001", "m", 2), ("010", "f", None)] * 4


def test_level_one_suppresses_every_key_and_level_zero_changes_nothing():
    data = data_of(rows_of_twelve())
    top = tacit.Datafly(anonymity_level=1).apply(data, seed=1)
    assert {tuple(r.values()) for r in top.to_arrow(["code", "sex", "group"]).to_pylist()} == {
        ("***", "*", "*")
    }
    assert top.history[-1].claims[0].parameters == {"k": 12}
    with pytest.warns(WeakProtection):
        same = tacit.Datafly(anonymity_level=0).apply(data, seed=1)
    assert same.to_arrow() == data.to_arrow()
    assert same.history[-1].claims == ()


def test_a_trusted_column_is_left_alone():
    data = data_of(rows_of_twelve())
    released = tacit.Datafly(k=12, linking={"code": 0}).apply(data, seed=1)
    assert released.column("code").to_pylist() == data.column("code").to_pylist()
    [claim] = released.history[-1].claims
    assert claim.columns == ("sex", "group")
    assert any("code" in text for text in claim.assumptions)


def test_the_profile_comes_before_the_number_of_values():
    data = data_of([(c, s, 1) for c in ("000", "001", "010", "011") for s in "fm"])
    most_distinct = tacit.Datafly(k=2).apply(data, seed=1).history[-1].details["levels"]
    by_profile = (
        tacit.Datafly(k=2, distortion={"code": 0.1})
        .apply(data, seed=1)
        .history[-1]
        .details["levels"]
    )
    assert most_distinct == {"code": 1, "sex": 0, "group": 0}
    assert by_profile["sex"] == 1
    assert by_profile["code"] == 0


def test_per_attribute_asks_less():
    data = data_of([("000", "f", 1), ("000", "m", 2), ("001", "f", 2), ("001", "m", 1)])
    released = tacit.Datafly(k=2, per_attribute=True).apply(data, seed=1)
    assert released.history[-1].details["levels"] == {"code": 0, "sex": 0, "group": 0}


@pytest.mark.parametrize("given", [{}, {"k": 2, "anonymity_level": 0.5}])
def test_one_requirement_is_given(given):
    with pytest.raises(InvalidParameter, match=r"^Datafly: give either k or anonymity_level$"):
        tacit.Datafly(**given)
    with pytest.raises(PlanError, match="give either k or anonymity_level"):
        tacit.Plan([{"kind": "datafly", **given}])


def test_k_of_one_warns():
    with pytest.warns(WeakProtection, match="no protection"):
        tacit.Datafly(k=1).apply(data_of(rows_of_twelve()), seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tacit.Datafly(k=2, max_drop=0.5).apply(data_of(rows_of_twelve()), seed=1)
