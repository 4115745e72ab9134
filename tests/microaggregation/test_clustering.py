"""Clustering before grouping: right clusters, small ones joined, transformations, PAM by brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit.errors import InputError
from tacit.records.microaggregation.base import Units
from tacit.records.microaggregation.grouping import clustering
from tacit.records.microaggregation.grouping.clustering import (
    cluster_labels,
    group_within_clusters,
    join_small_clusters,
    transform_columns,
)
from tacit.records.microaggregation.grouping.sorting import group_in_file_order

METHODS = list(clustering.CLUSTERS)


def rng():
    return np.random.default_rng(4)


def tick(message, share):
    del message, share


def three_kinds(n=90):
    kind = np.repeat([0, 1, 2], n // 3)
    centres = np.array([[0.0, 0.0, 0.0], [8.0, 0.0, 9.0], [0.0, 9.0, -9.0]])
    return kind, np.exp(rng().normal(size=(n, 3)) * 0.5 + centres[kind])


def same_partition(a, b):
    return len({*zip(a.tolist(), b.tolist(), strict=True)}) == len(set(a)) == len(set(b))


@pytest.mark.parametrize(
    ("method", "transform"), [*((m, "log") for m in METHODS), ("medoids", "boxcox")]
)
def test_three_kinds_are_found(method, transform):
    kind, x = three_kinds()
    found = cluster_labels(x, 3, cluster=method, transform=transform, rng=rng())
    assert same_partition(kind, found)


@pytest.mark.parametrize("method", METHODS)
def test_large_files_are_clustered_on_a_sample(method, monkeypatch):
    for limit in ("FIT_RECORDS", "TREE_RECORDS", "PAM_RECORDS"):
        monkeypatch.setattr(clustering, limit, 60)
    kind, x = three_kinds(600)
    found = cluster_labels(x, 3, cluster=method, clusters=3, transform="log", rng=rng())
    assert same_partition(kind, found)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("clusters", [1, 2, 4])
def test_a_given_number_of_clusters(method, clusters):
    x = rng().normal(size=(80, 2))
    found = cluster_labels(x, 2, cluster=method, clusters=clusters, rng=rng())
    assert len(set(found)) == clusters


@pytest.mark.parametrize("method", METHODS)
def test_records_all_alike_are_one_cluster(method):
    found = cluster_labels(np.ones((12, 2)), 3, cluster=method, rng=rng())
    assert np.bincount(found).min() >= 3


def test_too_many_clusters_are_refused():
    with pytest.raises(InputError, match="5 clusters of at least 3 records need 15 records"):
        cluster_labels(rng().normal(size=(14, 2)), 3, cluster="medoids", clusters=5, rng=rng())


def test_logarithms_of_nothing_are_refused_by_column():
    x = np.array([[1.0, 2.0], [3.0, 0.0]])
    for transform in ("log", "boxcox"):
        with pytest.raises(InputError, match="needs values above 0, and column 'debt' has others"):
            transform_columns(x, transform, ("income", "debt"))
    assert transform_columns(x, "none") is x


def test_boxcox_leaves_a_constant_column():
    x = np.column_stack([rng().lognormal(size=40), np.full(40, 2.0)])
    out = transform_columns(x, "boxcox")
    assert out[:, 1].tolist() == [2.0] * 40
    assert abs(np.mean((out[:, 0] - out[:, 0].mean()) ** 3)) < 0.5


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_small_clusters_join_until_all_are_large_enough(seed, k):
    generator = np.random.default_rng(seed)
    z = generator.normal(size=(30, 2))
    labels = np.unique(generator.integers(0, 12, 30), return_inverse=True)[1]
    found = join_small_clusters(z, labels, k)
    assert np.bincount(found).min() >= k
    # No cluster is torn.
    assert len({*zip(labels.tolist(), found.tolist(), strict=True)}) == labels.max() + 1


def test_the_nearest_centre_takes_a_small_cluster():
    z = np.array([0.0, 0.1, 0.2, 9.0, 9.1, 9.2, 7.5])[:, None]
    assert join_small_clusters(z, np.array([0, 0, 0, 1, 1, 1, 2]), 2).tolist() == [
        0,
        0,
        0,
        1,
        1,
        1,
        1,
    ]


@pytest.mark.parametrize("n_medoids", [1, 2, 3])
def test_pam_finds_the_best_medoids_of_small_files(n_medoids):
    for seed in range(8):
        z = np.random.default_rng(seed).normal(size=(14, 2))
        away = np.sqrt(((z[:, None] - z[None]) ** 2).sum(axis=2))
        costs = {
            chosen: away[:, list(chosen)].min(axis=1).sum()
            for chosen in itertools.combinations(range(14), n_medoids)
        }
        cost = away[:, clustering.pam(z, n_medoids)].min(axis=1).sum()
        assert cost <= 1.1 * min(costs.values())
        # No single exchange lowers the cost: that is what PAM promises.
        chosen = set(clustering.pam(z, n_medoids).tolist())
        for out, into in itertools.product(chosen, set(range(14)) - chosen):
            assert costs[tuple(sorted(chosen - {out} | {into}))] >= cost - 1e-9


def test_influence_sorts_each_cluster_by_its_most_unusual_column():
    x = np.vstack(
        [
            np.column_stack([rng().normal(0, 1, 12), rng().normal(0, 1, 12)]),
            np.column_stack([rng().normal(0, 1, 12), 50 + rng().permutation(np.arange(12.0))]),
        ]
    )
    units = Units(x, np.zeros(24, dtype=int), None, np.arange(24), ("a", "b"))
    method = tacit.InfluenceGroups(k=3, cluster="medoids", clusters=2)
    labels = method.groups_of(units, np.arange(24), x, rng(), tick)
    assert np.bincount(labels).tolist() == [3] * 8
    second = labels[12:]
    rank = x[12:, 1].argsort().argsort()
    assert len({*zip(second.tolist(), (rank // 3).tolist(), strict=True)}) == 4


def test_groups_stay_within_clusters():
    x = rng().normal(size=(40, 2))
    clusters = rng().integers(0, 3, 40)
    labels = group_within_clusters(x, clusters, lambda part: group_in_file_order(part, 3))
    assert len({*zip(labels.tolist(), clusters.tolist(), strict=True)}) == labels.max() + 1
