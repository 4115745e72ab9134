"""mu-Approx: the forest, the sizes, the bound against the optimum, the published figures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from microaggregation.casc import casc, quiet
from tacit.errors import InputError
from tacit.records.microaggregation.grouping.loss import group_sizes, loss
from tacit.records.microaggregation.grouping.near import Space, find_nearest_records
from tacit.records.microaggregation.mu_approximation import (
    MuApproximation,
    bound,
    grow_forest,
    split_forest,
)
from tacit.records.microaggregation.optimal_groups import over_subsets

RNG = np.random.default_rng(0)


def groups(x, k):
    return MuApproximation(k=k).groups(x, RNG, quiet)


@pytest.mark.parametrize(("k", "factor"), [(2, 54), (3, 250), (10, 2 * 19 * 25**2)])
def test_factor(k, factor):
    assert bound(k) == factor


# Domingo-Ferrer, Sebé (2006), Table 1; the order of the splits is not given there.
@pytest.mark.parametrize(
    ("name", "published", "within"), [("tarragona", 1148.32, 0.025), ("eia600", 66.8219, 2e-4)]
)
def test_published(name, published, within):
    x = casc(name)
    assert loss(x, groups(x, 2)).within == pytest.approx(published, rel=within)


@given(st.integers(6, 60), st.integers(2, 6), st.integers(0, 10**6), st.booleans())
@settings(max_examples=80, deadline=None)
def test_sizes(n, k, seed, ties):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, (n, 2)).astype(float) if ties else rng.lognormal(sigma=2, size=(n, 2))
    if n < k:
        return
    labels = groups(x, k)
    assert group_sizes(labels).min() >= k
    assert group_sizes(labels).max() < 2 * k
    assert set(labels) == set(range(labels.max() + 1))


@pytest.mark.parametrize("name", ["census", "tarragona", "eia10"])
@pytest.mark.parametrize("k", [2, 3, 4, 5, 10])
def test_sizes_on_casc_files(name, k):
    sizes = group_sizes(groups(casc(name), k))
    assert sizes.min() >= k
    assert sizes.max() < 2 * k


@given(st.integers(6, 13), st.integers(2, 4), st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_bound_holds_against_the_optimum(n, k, seed):
    x = np.random.default_rng(seed).lognormal(sigma=1.5, size=(n, 2))
    best = loss(x, over_subsets(Space.of_records(x).squared, k)).within
    assert best - 1e-9 <= loss(x, groups(x, k)).within <= bound(k) * best + 1e-9


@given(st.integers(8, 60), st.integers(2, 6), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_forest_has_trees_of_k_and_one_edge_out(n, k, seed):
    x = np.random.default_rng(seed).normal(size=(n, 2))
    near = find_nearest_records(x, k - 1)[0]
    target = grow_forest(near, k)
    graph = np.zeros((n, n))
    out = np.flatnonzero(target >= 0)
    graph[out, target[out]] = 1
    trees, label = connected_components(graph, directed=False)
    assert len(out) == n - trees
    assert np.bincount(label).min() >= k
    assert all(target[v] in near[v] for v in out)


def test_trees_are_split_to_the_largest_size():
    rng = np.random.default_rng(5)
    for k in (2, 3, 5, 8):
        x = rng.normal(size=(400, 2))
        target = grow_forest(find_nearest_records(x, k - 1)[0], k)
        labels = split_forest(target, k, max(2 * k - 1, 3 * k - 5))
        assert np.bincount(labels).min() >= k


def test_long_chain():
    x = np.cumsum(1.01 ** np.arange(300))[:, None]
    assert group_sizes(groups(x, 3)).max() <= 5


def test_few_records():
    assert groups(np.ones((5, 2)), 3).max() == 0
    with pytest.raises(InputError, match="at least 3 records"):
        groups(np.ones((2, 2)), 3)
