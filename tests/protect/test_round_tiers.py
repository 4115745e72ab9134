"""Tiered rounding: the published example, unbiasedness, tiers."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from conftest import FIXTURES

CASES = json.loads((FIXTURES / "psd25-survey-of-consumer-finances" / "expected.json").read_text())[
    "rounding"
]


@pytest.mark.parametrize("case", CASES["examples"], ids=lambda c: str(c["value"]))
def test_outcomes_and_their_probabilities(case):
    n = 20_000
    # A value that is rounded already stays; the second column has something to round.
    data = tacit.read({"x": [case["value"]] * n, "y": [1_234_567] * n})
    made = tacit.RoundTiers(columns=["x", "y"], tiers=CASES["tiers"]).apply(data, seed=1)
    found, counts = np.unique(made.column("x").to_numpy(), return_counts=True)
    assert found.tolist() == [value for value, p in case["outcomes"] if p > 0]
    expected = np.array([p for _, p in case["outcomes"]])
    assert np.abs(counts / n - expected).max() < 4 * np.sqrt(0.25 / n)


@given(st.lists(st.floats(-5e6, 5e6), min_size=1, max_size=40), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_multiples_within_one_base(values, seed):
    made = tacit.RoundTiers(columns=["x"]).apply(tacit.read({"x": values}), seed=seed)
    x, y = np.array(values), made.column("x").to_numpy()
    base = np.where(np.abs(x) >= 1e6, 1e4, np.where(np.abs(x) >= 1e4, 1e3, 0.0))
    assert (y[base == 0] == x[base == 0]).all()
    big = base > 0
    assert (np.mod(y[big], base[big]) == 0).all()
    assert (np.abs(y - x)[big] < base[big]).all()


def test_the_mean_is_kept_within_the_noise_of_rounding():
    x = np.random.default_rng(2).lognormal(11, 1.5, 20_000)
    y = tacit.RoundTiers(columns=["x"]).apply(tacit.read({"x": x}), seed=3).column("x").to_numpy()
    base = np.where(x >= 1e6, 1e4, np.where(x >= 1e4, 1e3, 1.0))
    rest = np.mod(x, base) * (base > 1)
    assert abs((y - x).mean()) < 3 * np.sqrt((rest * (base - rest)).sum()) / len(x)


@pytest.mark.parametrize(
    ("tiers", "words"),
    [
        ([[10, 5], [20, 1]], "descending limits"),
        ([[20, 1], [10, 5]], "do not grow"),
        ([[20, 0]], "greater than 0"),
        ([], "at least 1"),
    ],
)
def test_refusals(tiers, words):
    with pytest.raises(tacit.SdcError, match=words):
        tacit.RoundTiers(columns=["x"], tiers=tiers)
