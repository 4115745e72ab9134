"""Groups of k around outliers by robust distance."""

import numpy as np
import pytest

import tacit


def quiet(*_):
    """Ignore progress."""


def test_groups_by_hand():
    """The farthest record left takes its nearest; 2k - 1 records at most are left for the last group."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 2))
    labels = tacit.RobustDistanceGroups(k=4, covariance="classical").groups(x, rng, quiet)
    away = np.einsum(
        "ij,jk,ik->i", x - x.mean(0), np.linalg.inv(np.cov(x, rowvar=False)), x - x.mean(0)
    )
    left, expected = list(range(50)), np.zeros(50, dtype=int)
    group = 0
    while len(left) >= 8:
        seed = max(left, key=lambda i: away[i])
        near = sorted(left, key=lambda i: ((x[i] - x[seed]) ** 2).sum())[:4]
        expected[near] = group
        left = [i for i in left if i not in near]
        group += 1
    expected[left] = group
    assert labels.tolist() == expected.tolist()


@pytest.mark.parametrize("n", [6, 7, 40, 203])
def test_every_value_is_shared_by_k(n):
    rng = np.random.default_rng(n)
    data = tacit.read({c: rng.lognormal(size=n) for c in "abc"})
    masked = tacit.RobustDistanceGroups(k=3).apply(data, seed=1)
    rows = np.column_stack([masked.column(c).to_numpy() for c in "abc"])
    assert np.unique(rows, axis=0, return_counts=True)[1].min() >= 3
    assert masked.history[-1].claims[0].model == "k-combinations"


def test_many_equal_records_end():
    x = np.repeat(np.random.default_rng(2).normal(size=(9, 2)), 7, axis=0)
    labels = tacit.RobustDistanceGroups(k=3, covariance="classical").groups(
        x, np.random.default_rng(1), quiet
    )
    assert np.bincount(labels).min() >= 3
