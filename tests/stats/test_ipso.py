"""IPSO on arrays: a small example to the digit, and what each variant keeps."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import FIXTURES
from tacit.errors import InputError
from tacit.records.synthesis.ipso import (
    ipso_b,
    ipso_c,
    regress,
    residual_noise,
    same_regression,
)

CASE = json.loads((FIXTURES / "psd20-mahalanobis-linkage" / "ipso_small.json").read_text())
X, Y = np.array(CASE["X"]), np.array(CASE["Y"])


def least_squares(x, y):
    design = np.column_stack([np.ones(len(x)), x])
    b = np.linalg.lstsq(design, y, rcond=None)[0]
    left = y - design @ b
    return b, left.T @ left / len(x)


def test_fitted_values_and_residual_covariance():
    fit = regress(X, Y)
    np.testing.assert_allclose(fit.fitted, CASE["Y_A"], atol=1e-10)
    np.testing.assert_allclose(
        fit.residuals.T @ fit.residuals / 30, CASE["Sigma_hat_ml"], atol=1e-10
    )


@pytest.mark.parametrize("seed", range(5))
def test_what_b_and_c_keep(seed):
    z = np.random.default_rng(seed).normal(size=Y.shape)
    fit = regress(X, Y)
    b, _ = least_squares(X, ipso_b(fit, z))
    np.testing.assert_allclose(b, CASE["B_hat"], atol=1e-10)
    c, sigma = least_squares(X, ipso_c(fit, z))
    np.testing.assert_allclose(c, CASE["B_hat"], atol=1e-10)
    np.testing.assert_allclose(sigma, CASE["Sigma_hat_ml"], atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(12, 60),
    st.integers(1, 3),
    st.integers(1, 3),
    st.floats(-6, 6),
)
def test_c_keeps_the_regression_whatever_the_units(seed, n, q, k, power):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, k)) * 10**power + 3 * 10**power
    y = x @ rng.normal(size=(k, q)) + rng.normal(size=(n, q)) * 10**power + 100
    fit = regress(x, y)
    z = rng.normal(size=y.shape)
    assert same_regression(x, y, ipso_c(fit, z), covariance=True)
    assert same_regression(x, y, ipso_b(fit, z * y.std(axis=0)), covariance=False)
    assert not same_regression(x, y, y[rng.permutation(n)] + y.std(axis=0), covariance=False)


def test_dependent_columns_given():
    x = np.column_stack([X, X.sum(axis=1)])
    np.testing.assert_allclose(regress(x, Y).fitted, CASE["Y_A"], atol=1e-9)


def test_a_column_that_is_determined_stays_as_it_is():
    y = np.column_stack([X @ [1.0, 2.0] + 3, Y[:, 0]])
    fit = regress(X, y)
    assert fit.explained[0] == pytest.approx(1)
    released = ipso_c(fit, np.random.default_rng(1).normal(size=y.shape))
    np.testing.assert_allclose(released[:, 0], y[:, 0], atol=1e-8)
    assert same_regression(X, y, released, covariance=True)


def test_noise_has_the_residual_covariance():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(20_000, 1))
    y = x + rng.normal(size=(20_000, 2)) @ np.array([[1.0, 0.5], [0.0, 2.0]])
    drawn = residual_noise(regress(x, y), rng)
    np.testing.assert_allclose(np.cov(drawn.T), [[1.0, 0.5], [0.5, 4.25]], atol=0.15)


def test_too_few_records():
    with pytest.raises(InputError, match="IPSO C needs at least 6 complete records"):
        ipso_c(regress(X[:5], Y[:5]), np.ones((5, 3)))
