"""Retention probabilities and the estimators that weight with them."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from conftest import FIXTURES
from tacit.stats.correction.retention import (
    cumulative,
    estimate_probabilities,
    hajek_mean,
    horvitz_thompson_total,
    retention_probability,
)
from tacit.stats.regression import fit

CASE = json.loads((FIXTURES / "psd14-blanking-and-noise" / "ipw_small.json").read_text())


def test_worked_case():
    given, expected = CASE["input"], CASE["expected"]
    y, x = np.array(given["y"]), np.array(given["x"])
    upper = retention_probability(y, -np.inf, given["q_upper"], given["sigma_v"])
    both = retention_probability(y, given["q_lower"], given["q_upper"], given["sigma_v"])
    assert upper == pytest.approx(expected["P_upper_only"], abs=1e-10)
    assert both == pytest.approx(expected["P_two_sided"], abs=1e-10)
    kept = np.array(given["kept"], dtype=bool)
    plain = fit(x[kept], y[kept]).coefficients
    weighted = fit(x[kept], y[kept], weights=1 / upper[kept]).coefficients
    assert plain == pytest.approx(expected["naive_ols"], abs=1e-10)
    assert weighted == pytest.approx(expected["ipw_wls"], abs=1e-10)


@pytest.mark.parametrize("distribution", ["normal", "uniform", "laplace"])
def test_distribution_functions_match_draws(distribution):
    from tacit.records.noise.add_noise import noise

    draws = noise(200_000, 1.7, distribution, np.random.default_rng(1))
    for x in (-2.0, -0.3, 0.0, 1.1, 2.5):
        assert cumulative(np.array([x]), 1.7, distribution)[0] == pytest.approx(
            (draws <= x).mean(), abs=0.005
        )


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=20), st.floats(0.1, 3))
@settings(max_examples=50, deadline=None)
def test_probabilities_lie_between_0_and_1_and_fall_towards_the_limit(values, sd):
    y = np.sort(np.array(values))
    p = retention_probability(y, -np.inf, 1.0, sd)
    assert ((p >= 0) & (p <= 1)).all()
    assert (np.diff(p) <= 0).all()


def test_totals_and_means_are_unbiased():
    rng = np.random.default_rng(3)
    y = rng.normal(5, 2, 400)
    p = retention_probability(y, -np.inf, 8.0, 2.0)
    totals, means = [], []
    for _ in range(2000):
        kept = rng.random(len(y)) < p
        totals.append(horvitz_thompson_total(y[kept], p[kept]))
        means.append(hajek_mean(y[kept], p[kept]))
    assert np.mean(totals) == pytest.approx(y.sum(), rel=0.01)
    assert np.mean(means) == pytest.approx(y.mean(), rel=0.01)
    with pytest.raises(tacit.SdcError, match="above 0"):
        hajek_mean(y, np.zeros(len(y)))


@pytest.mark.parametrize("family", ["logit", "probit"])
def test_probabilities_can_be_estimated(family):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(4000, 1))
    p = 1 / (1 + np.exp(-(0.5 + x[:, 0])))
    found = estimate_probabilities(rng.random(len(p)) < p, x, family)
    assert np.abs(found - p).mean() < 0.03
