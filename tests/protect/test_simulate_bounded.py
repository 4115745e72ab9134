"""Bounded simulation: bounds hold, shares hold, estimates barely move."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError


def survey(n=4500, seed=0):
    """Income with a heavy upper tail, net worth and debt log-linear in income and age."""
    rng = np.random.default_rng(seed)
    income = rng.lognormal(10.8, 0.9, n)
    income[rng.random(n) < 0.03] *= 10
    age = rng.integers(20, 90, n)
    worth = np.exp(0.9 * np.log(income) + 0.03 * age + rng.normal(0, 1, n))
    debt = np.exp(0.6 * np.log(income) + rng.normal(3, 1, n)) * (rng.random(n) < 0.8)
    region = rng.choice(list("nesw"), n)
    return tacit.read(
        {"income": income, "worth": worth, "debt": debt, "age": age, "region": region}
    )


AMOUNTS = ("income", "worth", "debt")


@given(st.integers(0, 50), st.sampled_from(["clip", "truncated"]), st.floats(0.01, 0.5))
@settings(max_examples=20, deadline=None)
def test_bounds_signs_and_numbers_of_records(seed, draw, bound):
    data = survey(400, seed)
    spec = tacit.SimulateBounded(
        columns=AMOUNTS, given=["age", "region"], draw=draw, bound=bound, spread=0.2
    )
    made = spec.apply(data, seed=seed)
    x = np.column_stack([data.column(c).to_numpy() for c in AMOUNTS])
    y = np.column_stack([made.column(c).to_numpy() for c in AMOUNTS])
    assert (np.abs(y - x) <= 1.2 * bound * np.abs(x) * (1 + 1e-9)).all()
    assert ((y == 0) == (x == 0)).all()
    assert (np.sign(x) == np.sign(y)).all()
    changed = (x != y).any(axis=1).sum()
    assert changed == made.history[-1].details["changed"]
    assert changed <= round(0.05 * 400) + round(0.025 * 400)


def largest_change(data, made):
    before, after = (np.concatenate([group_estimates(d, c) for c in AMOUNTS]) for d in (data, made))
    return np.abs(100 * (before - after) / before)


def group_estimates(data, column):
    income = data.column("income").to_numpy()
    values = data.column(column).to_numpy()
    cuts = np.quantile(income, [0, 0.2, 0.4, 0.6, 0.8, 0.9, 1])
    groups = np.clip(np.searchsorted(cuts, income, side="right") - 1, 0, 5)
    means = [values[groups == g].mean() for g in range(6)]
    medians = [np.median(values[groups == g]) for g in range(6)]
    return np.array([*means, *medians])


def test_estimates_move_little_and_more_with_wider_bounds():
    data = survey()
    changes = [
        largest_change(
            data,
            tacit.SimulateBounded(columns=AMOUNTS, given=["age"], bound=b, draw="clip").apply(
                data, seed=1
            ),
        )
        for b in (0.08, 0.25)
    ]
    assert np.median(changes[0]) < 1
    assert changes[0].max() < changes[1].max()


def test_a_truncated_draw_moves_the_mean_less_than_clipping():
    data = survey()
    income = data.column("income").to_numpy().mean()
    gap = {}
    for draw in ("clip", "truncated"):
        spec = tacit.SimulateBounded(columns=AMOUNTS, given=["age"], draw=draw)
        gap[draw] = abs(spec.apply(data, seed=1).column("income").to_numpy().mean() / income - 1)
    assert gap["truncated"] < gap["clip"]


def test_refusals():
    with pytest.raises(tacit.SdcError, match="without predictors"):
        tacit.SimulateBounded(columns=["income"])
    with pytest.raises(tacit.SdcError, match="simulated and given"):
        tacit.SimulateBounded(columns=["income", "debt"], given=["debt"])
    with pytest.raises(tacit.SdcError, match="greater than 0"):
        tacit.SimulateBounded(columns=AMOUNTS, bound=0)
    twice = tacit.read({"a": np.arange(50.0), "b": np.ones(50), "c": 2 * np.arange(50.0)})
    with pytest.raises(tacit.SdcError, match="all predictors are constant"):
        tacit.SimulateBounded(columns=["a"], given=["b"]).apply(twice)
    same = tacit.read({"a": np.arange(50.0), "b": np.arange(50.0), "c": np.arange(50.0) + 1})
    with pytest.raises(tacit.SdcError, match="depend on each other"):
        tacit.SimulateBounded(columns=["a"], given=["b", "c"]).apply(same)
    with pytest.raises(tacit.SdcError, match="too few complete records"):
        tacit.SimulateBounded(columns=AMOUNTS, given=["age"]).apply(survey(5))


def test_a_given_column_of_one_category_is_no_predictor():
    data = tacit.read({"a": [float(i) for i in range(20)], "b": ["x"] * 20})
    with pytest.raises(InputError, match="all predictors are constant"):
        tacit.SimulateBounded(columns=["a"], given=["b"]).apply(data, seed=1)
