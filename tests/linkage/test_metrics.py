"""Distances against the complete matrices of a small example, and against their definitions."""

import json

import numpy as np
import pytest

from conftest import FIXTURES
from tacit.errors import InputError
from tacit.records.linkage.assignment import all_distances
from tacit.records.linkage.attack import (
    Files,
    attack,
    distance_standardised,
    given_covariance,
    make_standardised_metric,
    polynomial,
    projections,
    radial,
    true_covariance,
    zero_covariance,
)
from tacit.records.linkage.metrics import (
    Polynomial,
    condition_number,
    dependent_columns,
    known_scale,
    whitening,
)

SMALL = json.loads((FIXTURES / "psd20-mahalanobis-linkage" / "small_8x3.json").read_text())


def files_of(a, b, **more):
    everyone = np.arange(len(a))
    return Files(np.asarray(a, float), np.asarray(b, float), everyone, everyone, **more)


def matrix(files, metric):
    at = np.arange(files.original.shape[1])
    a = metric.coordinates(files.original, "original", at)
    b = metric.coordinates(files.released, "released", at)
    return metric.reported(all_distances(a, b))


@pytest.fixture
def small():
    return files_of(SMALL["A"], SMALL["B"])


METRICS = {
    "DBRL1": make_standardised_metric,
    "DBRL2": lambda f: distance_standardised(f, "all"),
    "DBRL2_paired": lambda f: distance_standardised(f, "true"),
    "DBRLM_COV0": zero_covariance,
    "DBRLM_COV": true_covariance,
    "KDBRL_2": lambda f: polynomial(f, degree=2, gamma=1.0, coef0=1.0),
    "KDBRL_3": lambda f: polynomial(f, degree=3, gamma=1.0, coef0=1.0),
}


@pytest.mark.parametrize("name", METRICS)
def test_small_example_to_the_digit(small, name):
    metric = METRICS[name](small)
    np.testing.assert_allclose(matrix(small, metric), SMALL["squared_distances"][name], rtol=1e-8)
    found = attack(small, metric)
    assert found.links.nearest.tolist() == SMALL["links_first"][name]
    counts = {rule: found.count(rule) for rule in ("first", "unique", "expected")}
    assert counts == SMALL["correct_links"][name]


def test_kernel_of_degree_one_is_the_euclidean_distance(small):
    one = polynomial(small, degree=1, gamma=1.0, coef0=1.0)
    np.testing.assert_allclose(matrix(small, one), matrix(small, make_standardised_metric(small)))


@pytest.mark.parametrize(
    ("degree", "gamma", "coef0"), [(2, 1.0, 1.0), (3, 0.5, 2.0), (4, 0.1, 0.0)]
)
def test_kernel_features_give_the_kernel(small, degree, gamma, coef0):
    metric = polynomial(small, degree=degree, gamma=gamma, coef0=coef0)
    x = known_scale(small.original).there(small.original)
    y = known_scale(small.released).there(small.released)

    def kernel(u, v):
        return (coef0 + gamma * u @ v.T) ** degree

    own = np.diag(kernel(x, x))[:, None] + np.diag(kernel(y, y))[None, :]
    np.testing.assert_allclose(matrix(small, metric), own - 2 * kernel(x, y), rtol=1e-9)


def test_radial_kernel_ranks_as_the_euclidean_distance(small):
    metric = radial(small, gamma=0.3)
    gap = matrix(small, make_standardised_metric(small))
    np.testing.assert_allclose(matrix(small, metric), 2 - 2 * np.exp(-0.3 * gap), rtol=1e-12)
    assert attack(small, metric).links.nearest.tolist() == SMALL["links_first"]["DBRL1"]


def test_too_many_features_are_refused():
    metric = Polynomial(known_scale(np.eye(60)), known_scale(np.eye(60)), degree=6)
    with pytest.raises(
        InputError, match="needs 90,858,767 features a record, too many for this file"
    ):
        metric.coordinates(np.eye(60), "original", np.arange(60))


def test_a_given_cross_covariance(small):
    a, b = small.original, small.released
    cross = np.cov(np.column_stack([a, b]), rowvar=False)[:3, 3:]
    ours = matrix(small, given_covariance(small, cross))
    np.testing.assert_allclose(ours, matrix(small, true_covariance(small)), rtol=1e-8)
    with pytest.raises(InputError, match="is not a covariance matrix"):
        given_covariance(small, 10 * cross)
    with pytest.raises(InputError, match="one row and column a column compared: 3 x 3"):
        given_covariance(small, cross[:2, :2])


def test_equal_rows_have_equal_coordinates_wherever_they_stand():
    rng = np.random.default_rng(0)
    row = rng.normal(size=7)
    x = rng.normal(size=(1001, 7))
    x[[0, 3, 500, 1000]] = row
    files = files_of(x, x + rng.normal(size=x.shape))
    z = zero_covariance(files).coordinates(x, "original", np.arange(7))
    assert (z[[3, 500, 1000]] == z[0]).all()


def test_dependent_columns_add_nothing():
    rng = np.random.default_rng(1)
    a = rng.normal(size=(200, 2))
    b = a + 0.3 * rng.normal(size=a.shape)

    def total(x):
        return np.column_stack([x, x.sum(axis=1)])

    plain, more = files_of(a, b), files_of(total(a), total(b))
    for metric in (zero_covariance, true_covariance):
        np.testing.assert_allclose(
            matrix(more, metric(more)), matrix(plain, metric(plain)), rtol=1e-6
        )
    base = zero_covariance(more).base
    assert dependent_columns(base).tolist() == [0, 1, 2]
    assert condition_number(base) == np.inf
    assert dependent_columns(zero_covariance(plain).base).tolist() == []


def test_a_column_released_as_it_is_gives_records_away():
    rng = np.random.default_rng(2)
    a = rng.normal(size=(300, 2))
    b = np.column_stack([a[:, 0] + 2 * rng.normal(size=300), a[:, 1]])
    files = files_of(a, b)
    assert attack(files, true_covariance(files)).count("unique") == 300


def test_an_unchanged_file_is_linked_completely():
    a = np.random.default_rng(3).normal(size=(50, 3))
    files = files_of(a, a)
    for metric in (true_covariance, zero_covariance, make_standardised_metric):
        assert attack(files, metric(files)).count("unique") == 50
    assert np.allclose(whitening(np.zeros((1, 1)), np.eye(1)), [[1.0]])


def test_projections_know_noise_and_means():
    rng = np.random.default_rng(4)
    a = rng.normal(size=(2000, 3)) @ rng.normal(size=(3, 3))
    noisy = files_of(a, a + rng.normal(size=a.shape) * 0.5)
    order = np.argsort(a[:, 0])
    means = np.empty_like(a)
    means[order] = a[order].reshape(500, 4, 3).mean(axis=1).repeat(4, axis=0)
    averaged = files_of(a, means)
    assert list(projections(noisy)) == ["added noise"]
    assert list(projections(averaged)) == ["shrinkage"]
    for files in (noisy, averaged):
        (guess,) = projections(files).values()
        real = attack(files, true_covariance(files)).count("expected")
        assert attack(files, guess).count("expected") == pytest.approx(real, rel=0.1, abs=3)
