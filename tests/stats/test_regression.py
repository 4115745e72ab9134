"""Regressions against closed forms, likelihood equations and other solvers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InputError, InvalidParameter
from tacit.stats import regression
from tacit.stats.designs import (
    design_matrix,
    dummies,
    has_clashing_dummies,
    parse_term,
    polynomial,
)
from tacit.stats.propensity import term_count
from tacit.stats.regression import fit, mean_of


def example(seed, n=300, p=3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, p)) * [1.0, 1e3, 1e-4][:p] + [5.0, 1e6, 0.0][:p]
    w = rng.uniform(0.5, 2.0, n)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    return rng, x, z, w


def test_least_squares_with_weights():
    rng, x, z, w = example(0)
    y = 3 + z @ [1.0, -2.0, 0.5] + rng.normal(size=len(x))
    found = fit(x, y, weights=w)
    design = np.column_stack([np.ones(len(x)), x])
    root = np.sqrt(w)[:, None]
    expected, rest, *_ = np.linalg.lstsq(root * design, root[:, 0] * y, rcond=None)
    assert found.coefficients == pytest.approx(expected, rel=1e-8)
    scale = x.std(axis=0)
    # Computed in standard units, where the normal equations keep their digits.
    centred = np.column_stack([np.ones(len(x)), z])
    covariance = np.linalg.inv((root * centred).T @ (root * centred)) * rest[0] / (len(x) - 4)
    assert found.standard_errors[1:] * scale == pytest.approx(np.sqrt(np.diag(covariance))[1:])
    assert found.deviance == pytest.approx(rest[0])
    assert found.null_deviance == pytest.approx(w @ (y - np.average(y, weights=w)) ** 2)
    assert found.predict(x) == pytest.approx(found.fitted)
    assert (found.n, found.rank, found.converged) == (300, 4, True)


@pytest.mark.parametrize("family", ["logit", "probit", "poisson"])
def test_likelihood_equations_hold(family):
    rng, x, z, w = example(1)
    mean = mean_of(0.3 + z @ [0.6, -0.4, 0.2], family)
    y = rng.poisson(mean) if family == "poisson" else (rng.random(len(x)) < mean)
    found = fit(x, y.astype(float), family, w)
    design = np.column_stack([np.ones(len(x)), z])
    mu = found.fitted
    if family == "probit":
        eta = found.linear_predictor(x)
        weight = np.exp(-0.5 * eta**2) / np.sqrt(2 * np.pi) / (mu * (1 - mu))
    else:
        weight = 1.0
    assert design.T @ (w * weight * (y - mu)) == pytest.approx(np.zeros(4), abs=1e-4)
    assert found.converged
    assert not found.separated


def test_logit_as_another_solver_finds_it():
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng, x, z, w = example(2)
    y = (rng.random(len(x)) < mean_of(z.sum(axis=1), "logit")).astype(float)
    other = linear_model.LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(z, y, w)
    assert fit(z, y, "logit", w).coefficients[1:] == pytest.approx(other.coef_[0], rel=1e-5)


def test_poisson_and_logit_standard_errors_are_the_inverse_information():
    rng, _, z, _ = example(3)
    y = rng.poisson(np.exp(0.5 * z[:, 0])).astype(float)
    found = fit(z, y, "poisson")
    design = np.column_stack([np.ones(len(z)), z])
    information = (design * found.fitted[:, None]).T @ design
    assert found.covariance == pytest.approx(np.linalg.inv(information), rel=1e-6)


def test_robust_covariance_of_least_squares():
    rng, _, z, w = example(4)
    y = z[:, 0] * (1 + rng.normal(size=len(z)))
    found = fit(z, y, weights=w, robust=True)
    design = np.column_stack([np.ones(len(z)), z])
    bread = np.linalg.inv((design * w[:, None]).T @ design)
    scores = design * (w * (y - found.fitted))[:, None]
    expected = bread @ scores.T @ scores @ bread * len(z) / (len(z) - 4)
    assert found.covariance == pytest.approx(expected, rel=1e-8)


def test_integer_weights_are_repeated_records():
    rng, _, z, _ = example(5, n=60)
    y = (rng.random(60) < 0.4).astype(float)
    times = rng.integers(0, 4, 60)
    short = fit(z, y, "logit", times.astype(float))
    long = fit(np.repeat(z, times, axis=0), np.repeat(y, times), "logit")
    assert short.coefficients == pytest.approx(long.coefficients)
    assert short.covariance == pytest.approx(long.covariance)


def test_separation_is_reported_and_stays_finite():
    x = np.arange(20.0)
    found = fit(x, (x > 9).astype(float), "logit")
    assert found.separated
    assert np.isfinite(found.coefficients).all()
    assert found.fitted[:9].max() < 1e-6
    rare = np.zeros(400)
    rare[:3] = 1
    y = (np.arange(400) % 2).astype(float)
    y[:3] = 1
    assert fit(rare, y, "logit").separated
    assert not fit(np.arange(400.0) % 7, y, "logit").separated


def test_aliased_columns_are_left_out_in_their_order():
    rng, _, z, _ = example(6)
    y = z[:, 0] + rng.normal(size=len(z))
    twice = fit(np.column_stack([z, z[:, 0] - 2 * z[:, 1], np.full(len(z), 7.0)]), y)
    assert twice.aliased.tolist() == [False, False, False, False, True, True]
    assert twice.fitted == pytest.approx(fit(z, y).fitted)
    assert twice.coefficients[4:].tolist() == [0.0, 0.0]


def test_chunks_give_the_same(monkeypatch):
    rng, _, z, w = example(7)
    y = (rng.random(len(z)) < 0.5).astype(float)
    whole = fit(z, y, "logit", w, expand=polynomial(z, 2))
    monkeypatch.setattr(regression, "CHUNK_CELLS", 50)
    parts = fit(z, y, "logit", w, expand=polynomial(z, 2))
    assert parts.coefficients == pytest.approx(whole.coefficients)
    assert parts.covariance == pytest.approx(whole.covariance)


def test_no_constant():
    _, _, z, w = example(8)
    found = fit(z, z @ [1.0, 2.0, 3.0], weights=w, intercept=False)
    assert found.coefficients == pytest.approx([1.0, 2.0, 3.0])
    assert not found.intercept


@given(st.integers(0, 10_000), st.integers(5, 40))
@settings(max_examples=30, deadline=None)
def test_shifts_and_units_only_move_coefficients(seed, n):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(n, 2)), rng.normal(size=n)
    there = fit(x * [1e6, 1e-6] + [1e7, 3.0], y)
    here = fit(x, y)
    assert there.fitted == pytest.approx(here.fitted, abs=1e-6)
    assert there.coefficients[1:] * [1e6, 1e-6] == pytest.approx(here.coefficients[1:], abs=1e-6)


@pytest.mark.parametrize(
    ("y", "w", "family", "words"),
    [
        ([0.0, 2.0, 1.0], None, "logit", "between 0 and 1"),
        ([0.0, -2.0, 1.0], None, "poisson", "not negative"),
        ([0.0, np.nan, 1.0], None, "linear", "missing or infinite"),
        ([0.0, 1.0, 1.0], [1.0, -1.0, 1.0], "linear", "weights must not be negative"),
        ([0.0, 1.0], None, "linear", "one row per record"),
    ],
)
def test_refusals(y, w, family, words):
    with pytest.raises(InputError, match=words):
        fit(np.arange(3.0), np.array(y), family, None if w is None else np.array(w))


# -- designs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("p", "degree"), [(2, 1), (2, 2), (3, 3), (10, 2)])
def test_polynomials_have_all_terms(p, degree):
    x = np.random.default_rng(0).normal(size=(20, p))
    design = polynomial(x, degree)
    assert len(design.terms) == math.comb(p + degree, degree) - 1 == term_count([-1] * p, degree)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    expected = np.column_stack([np.prod(z[:, list(t)], axis=1) for t in design.terms])
    assert design(x) == pytest.approx(expected)


def test_dummies_are_not_multiplied_with_themselves():
    codes = np.array([0, 1, 2, 1, 0])
    x = np.column_stack([np.arange(5.0), dummies(codes, 3)])
    groups = [-1, 0, 0]
    design = polynomial(x, 2, groups)
    assert design.terms == ((0,), (1,), (2,), (0, 0), (0, 1), (0, 2))
    assert term_count(groups, 2) == len(design.terms)
    assert has_clashing_dummies([0, 0])
    assert not has_clashing_dummies([-1, -1, 0])


@given(st.lists(st.integers(-1, 2), min_size=1, max_size=6), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_terms_are_counted_without_listing_them(groups, degree):
    x = np.ones((2, len(groups)))
    assert term_count(groups, degree) == len(polynomial(x, degree, groups).terms)


def test_terms_as_text():
    columns = {"age": np.array([1.0, 2.0]), "net worth": np.array([np.e, 0.0])}
    found = design_matrix(
        [parse_term(t) for t in ("age", "age^2", "log(net worth)", "age * log( net worth )^2")],
        columns,
    )
    assert found[0] == pytest.approx([1, 1, 1, 1])
    assert found[1, :2] == pytest.approx([2, 4])
    assert np.isnan(found[1, 2:]).all()
    assert parse_term("age * log(net worth)").columns == ("age", "net worth")


@pytest.mark.parametrize(
    ("text", "words"),
    [("cube(age)", "no function 'cube'"), ("age *", "product of columns"), ("age^0", "at least 1")],
)
def test_terms_that_cannot_be_read(text, words):
    with pytest.raises(InvalidParameter, match=words):
        parse_term(text)
