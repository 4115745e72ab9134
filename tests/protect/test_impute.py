"""Imputation: where values come from, what stays, what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit


@given(
    st.lists(st.one_of(st.none(), st.integers(0, 5)), min_size=3, max_size=30),
    st.sampled_from(["hot_deck", "mean", "median"]),
    st.integers(0, 9),
)
@settings(max_examples=40, deadline=None)
def test_known_values_stay_and_holes_are_filled(values, method, seed):
    if all(v is None for v in values):
        values = [1, *values]
    made = tacit.Impute(columns=["x"], method=method).apply(tacit.read({"x": values}), seed=seed)
    filled = made.column("x").to_pylist()
    known = [v for v in values if v is not None]
    assert all(a == b for a, b in zip(values, filled, strict=True) if a is not None)
    assert None not in filled
    assert min(known) <= min(filled)
    assert max(filled) <= max(known)
    if method == "hot_deck":
        assert set(filled) <= set(known)


def test_donors_are_of_the_same_class():
    data = tacit.read({"g": ["a", "a", "b", "b"], "x": ["p", None, "q", None]})
    made = tacit.Impute(columns=["x"], by=["g"]).apply(data, seed=1)
    assert made.column("x").to_pylist() == ["p", "p", "q", "q"]
    assert made.history[-1].details["filled"] == {"x": 2}
    empty = tacit.read({"g": ["a", "b"], "x": ["p", None]})
    with pytest.raises(tacit.SdcError, match="no known value"):
        tacit.Impute(columns=["x"], by=["g"]).apply(empty, seed=1)


def test_the_nearest_donor():
    data = tacit.read({"age": [20, 30, 60, 61, 22], "x": ["a", "b", "c", None, None]})
    made = tacit.Impute(columns=["x"], method="nearest", given=["age"]).apply(data)
    assert made.column("x").to_pylist()[3:] == ["c", "a"]


def test_regression_keeps_the_relation_and_the_spread():
    rng = np.random.default_rng(1)
    x = rng.normal(size=3000)
    y = 2 * x + rng.normal(size=3000)
    holes = rng.random(3000) < 0.3
    data = tacit.read({"x": x, "y": [None if h else v for v, h in zip(y, holes, strict=True)]})
    made = tacit.Impute(columns=["y"], method="regression", given=["x"]).apply(data, seed=2)
    filled = made.column("y").to_numpy()
    assert np.polyfit(x[holes], filled[holes], 1)[0] == pytest.approx(2, abs=0.15)
    assert filled.std() == pytest.approx(y.std(), rel=0.05)
    with pytest.raises(tacit.SdcError, match="too few known values"):
        tacit.Impute(columns=["y"], method="regression", given=["x"]).apply(data.take(np.arange(2)))


def test_blanking_and_imputation_in_a_plan():
    rng = np.random.default_rng(1)
    data = tacit.read({"income": rng.lognormal(10, 1, 500), "age": rng.integers(20, 80, 500)})
    plan = tacit.Plan(
        [
            tacit.Suppress(columns=["income"], where="income > 60000"),
            tacit.Impute(columns=["income"]),
        ]
    )
    made = plan.run(data, seed=1).data
    assert made.column("income").null_count == 0
    assert made.column("income").to_numpy().max() <= 60000


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"method": "nearest"}, "needed there"),
        ({"given": ["y"]}, "needed there"),
        ({"by": ["x"]}, "at once"),
    ],
)
def test_refusals(parameters, words):
    with pytest.raises(tacit.SdcError, match=words):
        tacit.Impute(columns=["x"], **parameters)


def test_very_large_whole_numbers():
    large = [2**53 + 1 + 2 * i for i in range(9)]
    made = tacit.Impute(columns=["x"], method="median").apply(tacit.read({"x": [*large, None]}))
    assert made.column("x").to_pylist()[:9] == large
    with pytest.raises(tacit.SdcError, match=r"beyond 2\^53"):
        tacit.Mdav(k=2).apply(tacit.read({"x": large}))
    with pytest.raises(tacit.SdcError, match="beyond 1e100"):
        tacit.Mdav(k=2).apply(tacit.read({"x": [1e200, 1.0, 2.0, 3.0]}))
