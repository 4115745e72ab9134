import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from tacit.errors import InputError
from tacit.records.noise.local_noise import assign_leaves, local_draws, squares
from tacit.records.noise.multiplicative_noise import (
    corrected_moments,
    factor_variance,
    lognormal_factors,
    truncated_factors,
    two_sided_factors,
)
from tacit.records.noise.outlier_noise import eigenvalue_influence
from tacit.records.noise.restoring_noise import lost_covariance
from tacit.records.noise.restricted_noise import normal_between, restoring_factor
from tacit.stats.moments import decompose, kurtosis, skewness


def mean_of(function):
    """Mean over a uniform number, by quadrature on both halves."""
    halves = [integrate.quad(function, a, a + 0.5, limit=200)[0] for a in (0.0, 0.5)]
    return sum(halves)


@pytest.mark.parametrize(
    ("draw", "variance"),
    [
        (
            lambda u: lognormal_factors(stats.norm.ppf(u), 0.3),
            factor_variance("lognormal", 0.3, 0, 1),
        ),
        (lambda u: truncated_factors(u, 0.3, 0.5), factor_variance("truncated", 0.3, 0, 0.5)),
        (lambda u: truncated_factors(u, 0.9, 0.1), factor_variance("truncated", 0.9, 0, 0.1)),
        (lambda u: two_sided_factors(u, 0.1, 0.3), factor_variance("two_sided", 0, 0.1, 0.3)),
        (lambda u: two_sided_factors(u, 0.0, 0.3), factor_variance("two_sided", 0, 0.0, 0.3)),
    ],
)
def test_factors_have_mean_one_and_the_stated_variance(draw, variance):
    one = lambda u: float(draw(np.array(u)))  # noqa: E731
    assert mean_of(one) == pytest.approx(1, abs=1e-6)
    assert mean_of(lambda u: (one(u) - 1) ** 2) == pytest.approx(variance, rel=1e-4)


def test_factors_stay_within_their_bounds():
    u = np.linspace(0, 1 - 1e-12, 10_001)
    cut = truncated_factors(u, 0.3, 0.2)
    assert cut.min() >= 0.8 - 1e-12
    assert cut.max() <= 1.2 + 1e-12
    away = np.abs(two_sided_factors(u, 0.05, 0.2) - 1)
    assert away.min() >= 0.05 - 1e-12
    assert away.max() <= 0.2 + 1e-12


def test_users_can_correct_multiplied_moments():
    rng = np.random.default_rng(1)
    x = np.exp(rng.multivariate_normal([1, 2], [[0.3, 0.2], [0.2, 0.4]], 400_000))
    f = lognormal_factors(rng.standard_normal(x.shape), 0.3)
    mean, covariance = corrected_moments(x * f, 0.09 * np.eye(2))
    assert mean == pytest.approx(x.mean(axis=0), rel=0.01)
    assert covariance == pytest.approx(np.cov(x.T), rel=0.03)
    shared = lognormal_factors(rng.standard_normal((len(x), 1)), 0.3)
    _, covariance = corrected_moments(x * shared, np.full((2, 2), 0.09))
    assert covariance == pytest.approx(np.cov(x.T), rel=0.03)


@given(st.integers(2, 60), st.floats(0.01, 3))
@settings(max_examples=30, deadline=None)
def test_the_factor_restores_the_expected_sum_of_squares(n, share):
    """E sum (m + c (x - m + e) - m)^2 = c^2 (S + n d S / (n - 1)) must be S."""
    c = restoring_factor(n, share)
    assert c**2 * (1 + n * share / (n - 1)) == pytest.approx(1)


def test_normal_draws_between_bounds():
    u = np.random.default_rng(0).random(200_000)
    for low, high in ((-1.0, 0.5), (2.0, 3.0), (-9.0, -8.0), (8.0, 9.0), (-np.inf, np.inf)):
        z = normal_between(u, np.full(len(u), low), np.full(len(u), high))
        assert z.min() >= low
        assert z.max() <= high
        assert z.mean() == pytest.approx(stats.truncnorm.mean(low, high), abs=0.01)


def test_lost_covariance_of_group_means_is_the_one_within():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(60, 3)) * [1, 100, 0.01]
    labels = np.arange(60) // 3
    means = np.array([x[labels == g].mean(axis=0) for g in range(20)])[labels]
    lost, negative = lost_covariance(x, means)
    assert negative == 0
    scale = np.outer(x.std(axis=0), x.std(axis=0))
    assert lost / scale == pytest.approx(np.cov((x - means).T) / scale, abs=1e-12)
    _, negative = lost_covariance(x, 2 * x)
    assert negative > 1


def test_decomposition_identity():
    rng = np.random.default_rng(3)
    x0, x1 = rng.normal(size=(2, 50, 2))
    parts = decompose(x0, x1)
    assert parts.released + parts.difference + parts.cross + parts.cross.T == pytest.approx(
        parts.original
    )
    assert skewness(x0) == pytest.approx(stats.skew(x0))
    assert kurtosis(x0) == pytest.approx(stats.kurtosis(x0, fisher=False))
    assert np.isnan(skewness(np.ones((4, 1))))[0]


@given(st.integers(1, 4), st.integers(1, 30), st.integers(30, 200))
@settings(max_examples=30, deadline=None)
def test_leaves_are_even_and_boxes(p, parts, n):
    x = np.random.default_rng(p * parts * n).normal(size=(n, p))
    labels = assign_leaves(x, parts)
    sizes = np.bincount(labels)
    assert len(sizes) == parts
    assert sizes.max() - sizes.min() <= 1 + np.ceil(np.log2(parts))
    if p == 1:
        order = np.argsort(x[:, 0])
        assert (np.diff(labels[order]) >= 0).all()


def test_squares_of_the_bounding_box():
    x = np.array([[0, 0], [10, 1], [4.9, 0.49], [5.1, 0.51], [0, 1]], dtype=float)
    assert squares(x, 4).tolist() == [0, 3, 0, 3, 1]
    assert squares(x[:, :1], 10).tolist() == [0, 9, 4, 5, 0]


def test_local_draws_come_from_the_cell_or_the_nearest():
    place = np.array([[0.0]] * 6 + [[1.0]] * 6 + [[10.0]] * 2)
    residual = np.arange(14.0)[:, None]
    cell = np.repeat([0, 1, 2], [6, 6, 2])
    sources = set()
    for seed in range(60):
        drawn = local_draws(residual, place, cell, 5, np.random.default_rng(seed))
        assert drawn.mean() == pytest.approx(residual.mean())
        raw = np.round(drawn - drawn.min(), 9)[:, 0]
        assert set(raw % 1) == {0.0}
        shift = drawn[0, 0] % 1
        values = np.round(drawn[:, 0] - shift)
        sources.add(tuple(values[12:]))
    assert len(sources) > 5
    with pytest.raises(InputError, match="at least 5 complete records"):
        local_draws(residual[:3], place[:3], cell[:3], 5, np.random.default_rng(0))


def test_small_cells_borrow_from_the_nearest_only():
    place = np.r_[np.zeros(50), np.full(50, 5.0), [5.5]][:, None]
    residual = np.r_[np.full(50, -1.0), np.full(50, 1.0), [0.5]][:, None]
    cell = np.r_[np.zeros(50), np.ones(50), [2]].astype(int)
    for seed in range(20):
        drawn = local_draws(residual, place, cell, 5, np.random.default_rng(seed))[:, 0]
        shift = drawn[0] + 1.0
        assert drawn[:50] == pytest.approx(-1 + shift)
        assert round(float(drawn[100] - shift), 6) in (1.0, 0.5)


@given(st.integers(0, 10_000), st.integers(1, 4))
@settings(max_examples=15, deadline=None)
def test_influence_is_the_jackknife(seed, p):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(25, p)) @ rng.normal(size=(p, p))
    x[0] *= 6
    found = eigenvalue_influence(x)
    z = (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
    top = lambda m: np.sort(np.linalg.eigvalsh(np.atleast_2d(np.cov(m.T))))[::-1][: min(2, p)]  # noqa: E731
    whole = top(z)
    for i in range(len(x)):
        pseudo = len(x) * whole - (len(x) - 1) * top(np.delete(z, i, axis=0))
        assert found[i] == pytest.approx(pseudo / whole, rel=1e-6, abs=1e-6)
    assert found[:, 0].mean() > 0


def test_influence_of_normal_data_is_like_chi_square():
    x = np.random.default_rng(4).multivariate_normal(
        np.zeros(3), [[4, 0, 0], [0, 2, 0.9], [0, 0.9, 1]], 20_000
    )
    x = x @ [[1, 0.5, 0.2], [0, 1, 0.4], [0, 0, 1]]
    total = eigenvalue_influence(x).sum(axis=1)
    assert (total > stats.chi2.ppf(0.975, 2)).mean() == pytest.approx(0.025, abs=0.006)
