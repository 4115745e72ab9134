"""Hansen and Mukherjee's recursion: published optima, brute force, precision; the path method."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microaggregation.casc import casc, partitions, quiet, sse
from tacit.errors import InputError
from tacit.records.microaggregation.grouping.loss import group_sizes, loss
from tacit.records.microaggregation.grouping.mdav_groups import mdav
from tacit.records.microaggregation.grouping.sorting import by_score
from tacit.records.microaggregation.optimal_univariate import (
    OptimalUnivariate,
    group_along_order,
)
from tacit.records.microaggregation.path_groups import PathGroups, path

RNG = np.random.default_rng(0)


def optimum(x, k):
    x = np.asarray(x, dtype=np.float64).reshape(-1, 1)
    labels = OptimalUnivariate(k=k).groups(x, RNG, quiet)
    return labels, loss(x, labels).within


@pytest.mark.parametrize(("k", "value"), [(2, 2.0), (3, 6.0), (4, 15.5)])
def test_twelve_numbers(k, value):
    assert optimum([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8], k)[1] == pytest.approx(value)


# Fayyoumi, Oommen (2006), Table 1: 100 SSE / SST of sorted blocks of three, which the paper calls optimal;
# groups of three to five do better for every variable.
@pytest.mark.parametrize(
    ("name", "column", "blocks", "value"),
    [
        ("tarragona", 0, 7.151996, 7.140953),
        ("tarragona", 1, 0.635861, 0.552595),
        ("tarragona", 7, 0.421819, 0.26456),
        ("tarragona", 12, 5.005625, 4.951077),
        ("census", 0, 0.131553, 0.130762),
        ("census", 4, 0.024491, 0.023453),
        ("census", 9, 0.006114, 0.003048),
    ],
)
def test_fixed_and_variable_size_on_casc_files(name, column, blocks, value):
    x = casc(name)[:, [column]]
    assert loss(x, by_score(x[:, 0], 3)).percent == pytest.approx(blocks, abs=1e-6)
    labels, _ = optimum(x, 3)
    assert loss(x, labels).percent == pytest.approx(value, abs=1e-6)


@given(
    st.lists(st.integers(0, 20).map(float) | st.floats(-5, 5, width=32), min_size=4, max_size=9),
    st.integers(2, 4),
)
@settings(max_examples=30, deadline=None)
def test_brute_force(values, k):
    x = np.array(values).reshape(-1, 1)
    labels, found = optimum(x, k)
    best = min(
        (sse(x, groups) for groups in partitions(list(range(len(x))), k)),
        default=sse(x, [range(len(x))]),
    )
    assert found == pytest.approx(best, abs=1e-9)
    assert group_sizes(labels).min() >= k
    assert group_sizes(labels).max() < 2 * k


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_digits_survive_a_large_offset(offset):
    x = offset + np.repeat(np.arange(30.0), 3) * 1000 + np.tile([0.0, 0.5, 1.0], 30)
    labels, found = optimum(x, 3)
    assert found == pytest.approx(15.0)
    assert (labels == np.repeat(np.arange(30), 3)).all()


def test_a_million_values():
    x = np.random.default_rng(1).random(1_000_000)
    labels, found = optimum(x, 3)
    assert found <= loss(x[:, None], by_score(x, 3)).within
    assert group_sizes(labels).min() == 3


def test_equal_values_and_few_records():
    assert optimum(np.ones(9), 3)[1] == 0
    assert optimum([1.0, 2.0, 3.0], 2)[0].max() == 0
    with pytest.raises(InputError, match="at least 4 records"):
        optimum([1.0, 2.0, 3.0], 4)
    with pytest.raises(InputError, match="one column at a time"):
        OptimalUnivariate(k=2).groups(np.ones((5, 2)), RNG, quiet)


@pytest.mark.parametrize("name", ["census", "tarragona", "eia10"])
@pytest.mark.parametrize("k", [2, 3, 5, 10])
def test_path_is_never_above_mdav(name, k):
    x = casc(name)
    labels = PathGroups(k=k).groups(x, RNG, quiet)
    assert k <= group_sizes(labels).min()
    assert group_sizes(labels).max() < 2 * k
    assert loss(x, labels).within < loss(x, mdav(x, k, rng=RNG, tick=quiet)).within


@given(st.integers(6, 40), st.integers(2, 3), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_path_with_ties(n, k, seed):
    x = np.random.default_rng(seed).integers(0, 4, (n, 2)).astype(float)
    labels = PathGroups(k=k).groups(x, RNG, quiet)
    assert group_sizes(labels).min() >= k
    assert loss(x, labels).within <= loss(x, mdav(x, k, rng=RNG, tick=quiet)).within + 1e-9


def test_path_visits_nearest_next():
    x = np.array([[0.0], [10.0], [1.0], [11.0], [2.5], [12.5]])
    labels = np.array([0, 1, 0, 1, 0, 1])
    members = np.argsort(labels, kind="stable")
    order = path(x, labels, members, np.array([0, 3, 6]), 0)
    assert order.tolist() == [0, 2, 4, 1, 3, 5]


def test_groups_along_an_order_are_consecutive():
    x = np.random.default_rng(2).normal(size=(50, 3))
    order = np.random.default_rng(3).permutation(50)
    assert (np.diff(group_along_order(x, order, 4)[order]) >= 0).all()
