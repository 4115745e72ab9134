"""Regression on categories that were randomised."""

import numpy as np
import pytest
from scipy.special import expit, ndtr

from tacit.errors import InputError, InvalidParameter
from tacit.records.pram import equal, explicit, parse
from tacit.stats.correction.misclassification import (
    corrected_regression,
    mc_simex,
    misclassified_regression,
    power,
)

P = parse("3E(0.75)").dense()


def register(n, seed, *, link=expit):
    rng = np.random.default_rng(seed)
    k = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    x = rng.normal(size=n)
    eta = -0.5 + 0.7 * x + np.array([0, 1.0, -1.2])[k]
    y = (rng.random(n) < link(eta)).astype(int)
    return k, x, y, explicit(P).draw(k, rng), rng


def test_means_by_category_are_those_of_the_paper():
    rng = np.random.default_rng(1)
    codes, y = rng.integers(0, 3, 500), rng.normal(10, 2, 500)
    fit = corrected_regression(y, [codes], [P])
    back = np.linalg.inv(P).T
    counts, sums = np.bincount(codes, minlength=3), np.bincount(codes, y, 3)
    assert fit.coefficients == pytest.approx((back @ sums) / (back @ counts))
    plain = corrected_regression(y, [codes], [np.eye(3)])
    assert plain.coefficients == pytest.approx(sums / counts)


def test_without_misclassification_it_is_least_squares():
    rng = np.random.default_rng(2)
    n = 300
    a, b, x = rng.integers(0, 3, n), rng.integers(0, 2, n), rng.normal(size=(n, 2))
    y, w = rng.normal(size=n) + a, rng.uniform(1, 3, n)
    design = np.column_stack([np.ones(n), x, a == 1, a == 2, b == 1]).astype(float)
    want = np.linalg.lstsq(design * np.sqrt(w)[:, None], y * np.sqrt(w), rcond=None)[0]
    fit = corrected_regression(y, [a, b], [np.eye(3), np.eye(2)], covariates=x, weights=w)
    assert fit.coefficients == pytest.approx(want)
    assert fit.names == ("intercept", "x0", "x1", "0:1", "0:2", "1:1")


def test_corrected_regression_recovers_the_truth_and_knows_its_error():
    rng = np.random.default_rng(3)
    n, runs = 3000, 150
    truth = np.array([2.0, 0.5, 1.0, -2.0, 0.8])
    q = equal(2, 0.8).dense()
    found, errors = [], []
    for _ in range(runs):
        k, j, x = rng.choice(3, n, p=[0.5, 0.3, 0.2]), rng.integers(0, 2, n), rng.normal(size=n)
        y = 2 + 0.5 * x + np.array([0, 1.0, -2.0])[k] + 0.8 * j + rng.normal(size=n)
        fit = corrected_regression(
            y,
            [explicit(P).draw(k, rng), explicit(q).draw(j, rng)],
            [P, q],
            covariates=x,
        )
        found.append(fit.coefficients)
        errors.append(fit.standard_errors)
    spread = np.std(found, axis=0)
    assert (np.abs(np.mean(found, axis=0) - truth) < 4 * spread / np.sqrt(runs)).all()
    assert np.mean(errors, axis=0) == pytest.approx(spread, rel=0.2)


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_maximum_likelihood_undoes_a_misclassified_covariate(link):
    _, x, y, released, _ = register(12_000, 4, link=expit if link == "logit" else ndtr)
    naive = misclassified_regression(y, codes=released, covariates=x, link=link)
    fit = misclassified_regression(y, codes=released, matrix=P, covariates=x, link=link)
    truth = np.array([-0.5, 0.7, 1.0, -1.2])
    assert (np.abs(fit.coefficients - truth) < 4 * fit.standard_errors).all()
    assert abs(naive.coefficients[3] - truth[3]) > 5 * naive.standard_errors[3]
    assert fit.shares == pytest.approx(np.array([[0.5, 0.3, 0.2]]), abs=0.03)
    assert fit.names == ("intercept", "x0", "category 1", "category 2")


def test_maximum_likelihood_undoes_a_misclassified_response():
    k, x, y, _, rng = register(12_000, 5)
    r = np.array([[0.8, 0.2], [0.2, 0.8]])
    seen = explicit(r).draw(y, rng)
    fit = misclassified_regression(seen, codes=k, response_matrix=r, covariates=x)
    assert (np.abs(fit.coefficients - [-0.5, 0.7, 1.0, -1.2]) < 4 * fit.standard_errors).all()


def test_shares_may_differ_by_group():
    rng = np.random.default_rng(6)
    n = 12_000
    group = rng.integers(0, 2, n)
    k = np.where(group == 0, rng.random(n) < 0.2, rng.random(n) < 0.8).astype(int)
    q = equal(2, 0.75).dense()
    y = (rng.random(n) < expit(-0.3 + 0.9 * k)).astype(int)
    fit = misclassified_regression(y, codes=explicit(q).draw(k, rng), matrix=q, given=group)
    assert fit.shares[:, 1] == pytest.approx([0.2, 0.8], abs=0.04)
    assert (np.abs(fit.coefficients - [-0.3, 0.9]) < 4 * fit.standard_errors).all()


def test_plain_logistic_regression_is_the_usual_one():
    from sklearn.linear_model import LogisticRegression

    _, x, y, _, _ = register(500, 7)
    want = LogisticRegression(C=np.inf, tol=1e-10).fit(x[:, None], y)
    fit = misclassified_regression(y, covariates=x)
    assert fit.coefficients == pytest.approx([want.intercept_[0], want.coef_[0, 0]], abs=1e-4)


def test_simex_moves_towards_the_truth():
    _, x, y, released, rng = register(8_000, 8)

    def slopes(codes):
        return misclassified_regression(y, codes=codes, covariates=x).coefficients

    found = mc_simex(slopes, released, P, rng=rng, repeats=4)
    truth = np.array([1.0, -1.2])
    assert (np.abs(found.estimate[2:] - truth) < np.abs(found.naive[2:] - truth)).all()
    assert found.added.tolist() == [0, 0.5, 1, 1.5, 2]


def test_simex_uses_whole_powers_where_half_ones_do_not_exist():
    rng = np.random.default_rng(9)
    odd = np.array([[0.4, 0.6], [0.6, 0.4]])
    assert power(odd, 0.5) is None
    codes = rng.integers(0, 2, 200)
    found = mc_simex(lambda c: [c.mean()], codes, odd, rng=rng, repeats=2)
    assert found.added.tolist() == [0, 1, 2, 3, 4]


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="singular"):
        corrected_regression(np.ones(4), [np.array([0, 1, 0, 1])], [np.full((2, 2), 0.5)])
    with pytest.raises(InvalidParameter, match="0 or 1"):
        misclassified_regression([0, 1, 2])
    with pytest.raises(InputError, match="no unique solution"):
        corrected_regression(np.ones(4), [np.array([0, 0, 0, 0])], [np.eye(2)])
