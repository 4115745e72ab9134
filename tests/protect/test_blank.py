"""Blanking: limits, probabilities, what is dropped."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

import tacit


def sample(n=1000, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.multivariate_normal([0, 0], [[1, 0.25], [0.25, 1]], n)
    return tacit.read(
        {"y": 0.5 + x[:, 0] - x[:, 1] + rng.normal(size=n), "x1": x[:, 0], "x2": x[:, 1]}
    )


@given(st.integers(0, 99), st.floats(0.5, 0.99), st.floats(0.0, 0.4))
@settings(max_examples=25, deadline=None)
def test_plain_blanking_keeps_what_lies_within(seed, upper, lower):
    data = sample(200, seed)
    made = tacit.Blank(response="y", covariates=["x1"], rule="plain", lower=lower, upper=upper)
    kept = made.apply(data)
    y, x = (data.column(c).to_numpy() for c in ("y", "x1"))
    inside = np.ones(len(y), dtype=bool)
    for v in (y, x):
        inside &= v < np.quantile(v, upper)
        if lower > 0:
            inside &= v > np.quantile(v, lower)
    assert kept.column("y").to_numpy().tolist() == y[inside].tolist()
    assert "retention" not in kept.columns


def test_probabilities_are_those_of_the_definition():
    data = sample()
    kept = tacit.Blank(response="y", covariates=["x1"], sd=1.0).apply(data, seed=3)
    y = data.column("y").to_numpy()
    expected = ndtr(np.quantile(y, 0.95) - kept.column("y").to_numpy())
    assert kept.column("retention").to_numpy() == pytest.approx(expected)
    details = kept.history[-1].details
    assert details["dropped"] == 1000 - len(kept)
    assert details["risky_dropped_percent"]["y"] > details["safe_dropped_percent"]["y"]


def test_binned_probabilities_and_sd_by_column():
    spec = tacit.Blank(
        response="y", covariates=["x1"], sd={"y": 1.0, "x1": 0.5}, probability_bins=4
    )
    kept = spec.apply(sample(), seed=3)
    assert len(set(kept.column("retention").to_pylist())) == 4


def test_weighting_undoes_the_selection():
    data = sample(20_000)
    kept = tacit.Blank(response="y", sd=1.0, upper=0.9).apply(data, seed=2)
    y, p = (kept.column(c).to_numpy() for c in ("y", "retention"))
    truth = data.column("y").to_numpy().mean()
    assert abs(np.average(y, weights=1 / p) - truth) < 0.05
    assert abs(y.mean() - truth) > 0.1


def test_the_share_of_extreme_records_left():
    data = sample(5000)
    kept = tacit.Blank(response="y", sd=1.0).apply(data, seed=1)
    risk = tacit.BlankingRisk(columns=["y"]).measure(kept, original=data)
    part = risk.parts["y"]
    assert part.dropped_percent == pytest.approx(100 * (1 - part.risky_kept))
    assert risk.value == part.risky_kept
    told = kept.history[-1].details["risky_dropped_percent"]["y"]
    assert part.dropped_percent == pytest.approx(told, abs=0.5)
    none = tacit.BlankingRisk(columns=["y"], limits={"y": (None, 1e9)})
    assert none.measure(kept, original=data).value == 0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"sd": 1}, "name a response or covariates"),
        ({"response": "y"}, "must be given there"),
        ({"response": "y", "sd": 0}, "greater than 0"),
        ({"response": "y", "sd": 1, "rule": "plain"}, "goes with rule"),
        ({"response": "y", "sd": 1, "lower": 0.9, "upper": 0.5}, "below upper"),
        ({"response": "y", "covariates": ["y"], "sd": 1}, "blanked on once"),
        ({"response": "y", "sd": {"x": 1}}, "every blanked column"),
    ],
)
def test_refusals(parameters, words):
    with pytest.raises(tacit.SdcError, match=words):
        tacit.Blank(**parameters)


def test_a_name_that_is_taken():
    data = tacit.read({"y": [1.0, 2.0, 3.0], "retention": [1, 1, 1]})
    with pytest.raises(tacit.SdcError, match="give another name"):
        tacit.Blank(response="y", sd=1).apply(data)
