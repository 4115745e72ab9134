"""Extrapolants on exact curves; corrected regressions against the truth."""

import json

import numpy as np
import pytest

import tacit
from conftest import FIXTURES
from tacit.errors import Approximate
from tacit.stats.correction.simex_fit import (
    errors_in_variables,
    extrapolate_curve,
    linear_simex,
    regression_estimator,
    reliability,
    simex,
)

CASES = json.loads((FIXTURES / "psd14-blanking-and-noise" / "simex_extrapolation.json").read_text())


@pytest.mark.parametrize("case", CASES["cases"], ids=lambda c: c["id"])
def test_extrapolants_on_exact_curves(case):
    given, expected = case["input"], case["expected"]
    grid = np.array(given["lambda_grid"])
    v, s2 = given["partial_variance_x"], given["sigma_u2"]
    curve = given["beta"] * v / (v + (1 + grid) * s2)
    assert curve == pytest.approx(expected["naive_curve"], abs=1e-12)
    for name in ("linear", "quadratic", "cubic"):
        found = extrapolate_curve(grid, curve[:, None], name).corrected[0]
        assert found == pytest.approx(expected[name], abs=1e-9)
    found = extrapolate_curve(grid, curve[:, None], "rational").corrected[0]
    assert found == pytest.approx(expected["rational_linear"], abs=1e-6)
    assert curve[0] == pytest.approx(given["beta"] * reliability(v, s2))


def noisy(n=20_000, seed=1, variance=0.5):
    rng = np.random.default_rng(seed)
    x = rng.multivariate_normal([0, 0], [[1, 0.25], [0.25, 1]], n)
    y = 0.5 + x[:, 0] - x[:, 1] + rng.normal(size=n)
    seen = x.copy()
    seen[:, 0] += rng.normal(0, np.sqrt(variance), n)
    return seen, y, np.diag([variance, 0.0])


def test_corrections_find_the_truth_and_agree_with_each_other():
    x, y, noise = noisy()
    ones = np.ones(len(y))
    truth = pytest.approx([0.5, 1, -1], abs=0.05)
    assert errors_in_variables(x, y, ones, noise) == truth
    fast = linear_simex(x, y, ones, noise, rng=np.random.default_rng(2), extrapolant="rational")
    slow = simex(
        regression_estimator(y, ones, "linear"),
        x,
        noise,
        rng=np.random.default_rng(3),
        draws=20,
        extrapolant="rational",
    )
    assert fast.corrected == truth
    assert slow.corrected == pytest.approx(fast.corrected, abs=0.05)
    assert fast.naive[1] < 0.7
    quadratic = linear_simex(x, y, ones, noise, rng=np.random.default_rng(2))
    assert quadratic.corrected[1] == pytest.approx(0.8875, abs=0.03)


def test_a_nonlinear_model():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(20_000, 1))
    y = (rng.random(len(x)) < 1 / (1 + np.exp(-(0.3 + x[:, 0])))).astype(float)
    seen = x + rng.normal(0, 0.5, x.shape)
    found = simex(
        regression_estimator(y, np.ones(len(y)), "logit"),
        seen,
        np.array([[0.25]]),
        rng=rng,
        draws=10,
        extrapolant="rational",
    )
    assert found.naive[1] < 0.9
    assert found.corrected[1] == pytest.approx(1, abs=0.08)


def test_a_curve_without_a_pole_falls_back():
    grid = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
    with pytest.warns(Approximate, match="quadratic one"):
        found = extrapolate_curve(grid, (grid**2)[:, None], "rational")
    assert found.fell_back.all()
    assert found.corrected[0] == pytest.approx(1)
    flat = extrapolate_curve(grid, np.full((5, 1), 2.0), "rational")
    assert flat.corrected[0] == pytest.approx(2)


def test_refusals():
    with pytest.raises(tacit.SdcError, match="must hold 0"):
        linear_simex(*noisy(50)[:2], np.ones(50), np.eye(2), rng=None, lambdas=[0.5, 1])
    with pytest.raises(tacit.SdcError, match="at least 3 lambdas"):
        extrapolate_curve(np.array([0.0, 1.0]), np.ones((2, 1)), "quadratic")
    x, y, _ = noisy(50)
    with pytest.raises(tacit.SdcError, match="given too large"):
        errors_in_variables(x, y, np.ones(50), np.diag([50.0, 0.0]))
