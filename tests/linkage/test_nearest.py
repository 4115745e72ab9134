"""Nearest records against brute force: links, second distances, ties; with and without numba."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.numerics.kernels import run_kernels
from tacit.records.linkage.nearest import TIE, find_nearest_rows, match_probability
from tacit.records.linkage.rows import distinct_rows


def brute(a, b):
    d = ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)
    best = d.min(axis=1)
    tied = d <= (best * (1 + TIE) + 1e-24 * (1 + (a**2).sum(axis=1)))[:, None]
    ranked = np.sort(d, axis=1)
    second = ranked[:, 1] if d.shape[1] > 1 else np.full(len(a), np.inf)
    return tied.argmax(axis=1), best, second, tied.sum(axis=1)


def check(a, b):
    found = find_nearest_rows(a, b)
    link, best, second, ties = brute(a, b)
    np.testing.assert_array_equal(found.nearest, link)
    np.testing.assert_allclose(found.distance, best, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(found.second, second, rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(found.ties, ties)


@pytest.fixture(params=["compiled", "tree"])
def way(request):
    with run_kernels("plain" if request.param == "tree" else "compiled"):
        yield request.param


@pytest.mark.parametrize("p", [1, 2, 5, 12])
def test_random_points(way, p):
    rng = np.random.default_rng(p)
    check(rng.normal(size=(900, p)), rng.normal(size=(700, p)) * 2)


def test_many_ties_on_a_grid(way):
    rng = np.random.default_rng(1)
    check(rng.integers(0, 4, (300, 3)) + 0.5, rng.integers(0, 4, (250, 3)).astype(float))


def test_groups_of_equal_records(way):
    rng = np.random.default_rng(2)
    means = rng.normal(size=(100, 4))
    check(means.repeat(3, axis=0) + 0.1 * rng.normal(size=(300, 4)), means.repeat(3, axis=0))


def test_one_target(way):
    a = np.array([[0.0, 1.0], [2.0, 2.0]])
    found = find_nearest_rows(a, np.array([[0.0, 0.0]]))
    assert found.nearest.tolist() == [0, 0]
    assert found.ties.tolist() == [1, 1]
    assert np.isinf(found.second).all()


def test_ties_between_distinct_targets_count_their_copies(way):
    b = np.array([[1.0], [-1.0], [1.0], [5.0]])
    found = find_nearest_rows(np.array([[0.0]]), b)
    assert found.nearest.tolist() == [0]
    assert found.ties.tolist() == [3]


@settings(max_examples=30, deadline=None)
@given(
    st.integers(2, 40),
    st.integers(2, 40),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
def test_any_small_files(n, m, p, seed, coarse):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(n, p)), rng.normal(size=(m, p))
    check(*((np.round(a), np.round(b)) if coarse else (a, b)))


def test_distinct_rows():
    x = np.array([[1.0, 0.0], [2.0, 3.0], [1.0, -0.0], [np.nan, 1.0], [np.nan, 1.0]])
    found = distinct_rows(x)
    assert len(found) == 3
    assert found.first[found.of].tolist() == [0, 1, 0, 3, 3]
    assert found.count[found.of].tolist() == [2, 1, 2, 2, 2]


def test_rows_that_hash_alike_are_told_apart(monkeypatch):
    from tacit.records.linkage import rows

    monkeypatch.setattr(rows, "hash_rows", lambda x: np.zeros(len(x), dtype=np.uint64))
    assert len(distinct_rows(np.array([[1.0], [2.0], [1.0]]))) == 2


def test_match_probability_is_the_share_of_the_likelihood(way):
    rng = np.random.default_rng(3)
    a = rng.normal(size=(60, 2)) * 3
    b = np.concatenate([a + rng.normal(size=a.shape), a[:20]])
    links = find_nearest_rows(a, b)
    likely = np.exp(-((a[:, None] - b[None]) ** 2).sum(axis=2) / 2)
    np.testing.assert_allclose(
        match_probability(a, b, links),
        likely[np.arange(60), links.nearest] / likely.sum(axis=1),
        rtol=1e-9,
    )


@pytest.mark.slow
@pytest.mark.parametrize("p", [3, 10, 30])
def test_large_files_against_a_tree(p):
    from scipy.spatial import cKDTree

    rng = np.random.default_rng(p)
    a = rng.normal(size=(30_000, 3)) @ rng.normal(size=(3, p)) + 0.3 * rng.normal(size=(30_000, p))
    b = a + 0.3 * rng.normal(size=a.shape)
    found = find_nearest_rows(a, b)
    distance, link = cKDTree(b).query(a, k=2, workers=-1)
    np.testing.assert_array_equal(found.nearest, link[:, 0])
    np.testing.assert_allclose(found.second, distance[:, 1] ** 2, rtol=1e-9)
