"""Minimum spanning trees and the groups that removing their long edges leaves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist

from microaggregation.casc import as_groups, casc, quiet
from tacit.records.microaggregation.grouping.loss import group_sizes, loss
from tacit.records.microaggregation.spanning_tree_groups import (
    SpanningTreeGroups,
    cut,
    minimum_tree,
)

RNG = np.random.default_rng(0)


def groups(x, k):
    return SpanningTreeGroups(k=k).groups(x, RNG, quiet)


def check_tree(x):
    edges, weights = minimum_tree(x, quiet)
    n = len(x)
    assert edges.shape == (n - 1, 2)
    graph = np.zeros((n, n))
    graph[edges[:, 0], edges[:, 1]] = 1
    assert connected_components(graph, directed=False)[0] == 1
    assert weights == pytest.approx(((x[edges[:, 0]] - x[edges[:, 1]]) ** 2).sum(axis=1))
    # Zeros are no edges to SciPy: one is added to all lengths, which leaves the tree as it is.
    whole = minimum_spanning_tree(1.0 + cdist(x, x)).sum() - (n - 1)
    assert np.sqrt(weights).sum() == pytest.approx(whole, abs=1e-9)


@given(st.integers(2, 60), st.integers(1, 4), st.integers(0, 10**6), st.booleans())
@settings(max_examples=60, deadline=None)
def test_tree_is_minimal(n, p, seed, ties):
    rng = np.random.default_rng(seed)
    check_tree(rng.integers(0, 5, (n, p)).astype(float) if ties else rng.normal(size=(n, p)))


@pytest.mark.parametrize("name", ["census", "tarragona"])
def test_tree_of_casc_files(name):
    check_tree(casc(name))


def test_tree_of_far_clusters():
    x = np.random.default_rng(1).normal(size=(400, 3)) + 1000.0 * np.repeat(
        np.eye(4, 3), 100, axis=0
    )
    check_tree(x)


def naive_cut(n, edges, k):
    """Remove edges in turn, counting the sides again each time."""
    kept = list(map(tuple, edges.tolist()))
    for edge in list(kept):
        rest = [e for e in kept if e != edge]
        graph = np.zeros((n, n))
        for a, b in rest:
            graph[a, b] = 1
        label = connected_components(graph, directed=False)[1]
        if min((label == label[v]).sum() for v in edge) >= k:
            kept = rest
    graph = np.zeros((n, n))
    for a, b in kept:
        graph[a, b] = 1
    return connected_components(graph, directed=False)[1]


@given(st.integers(6, 30), st.integers(2, 4), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_cuts_as_defined(n, k, seed):
    x = np.random.default_rng(seed).normal(size=(n, 2))
    edges, weights = minimum_tree(x, quiet)
    edges = edges[np.argsort(-weights, kind="stable")]
    expected = naive_cut(n, edges, k) if n >= 2 * k else np.zeros(n)
    assert as_groups(cut(n, edges, k)) == as_groups(expected)


@pytest.mark.parametrize("name", ["census", "tarragona", "eia10"])
@pytest.mark.parametrize("k", [2, 3, 4, 5, 10])
def test_sizes(name, k):
    sizes = group_sizes(groups(casc(name), k))
    assert sizes.min() >= k
    assert sizes.max() < 2 * k


def test_clusters_are_found():
    centres = np.array([[0, 0], [50, 0], [0, 50], [50, 50]], dtype=float)
    member = np.repeat(np.arange(4), [3, 4, 5, 3])
    x = centres[member] + np.random.default_rng(2).normal(size=(15, 2))
    assert as_groups(groups(x, 3)) == as_groups(member)


def test_loss_is_that_of_the_literature():
    # Laszlo, Mukherjee (2005) split large parts by another fixed-size method: equal within a per cent.
    assert loss(casc("tarragona"), groups(casc("tarragona"), 3)).percent == pytest.approx(
        16.6869, abs=1e-4
    )
    assert loss(casc("census"), groups(casc("census"), 3)).percent == pytest.approx(
        6.1410, abs=1e-4
    )


def test_alike_records_and_few_records():
    assert group_sizes(groups(np.ones((20, 2)), 3)).min() >= 3
    assert groups(np.ones((5, 2)), 3).max() == 0
