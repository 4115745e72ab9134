"""V-MDAV: sizes, and the two ways to find it (published losses are with MDAV's)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.records.microaggregation import v_mdav as module
from tacit.records.microaggregation.grouping import group_sizes
from tacit.records.microaggregation.grouping.mdav_groups import compute_squared_distances
from tacit.records.microaggregation.v_mdav import VMdav

RNG = np.random.default_rng(0)


def silent(_message, _share):
    pass


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(4, 150),
    p=st.integers(1, 3),
    k=st.integers(2, 5),
    gamma=st.sampled_from([0.2, 0.7, 1.1, 3.0]),
    grid=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_both_ways_agree(n, p, k, gamma, grid, seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 5, (n, p)).astype(float) if grid else rng.normal(size=(n, p))
    seeds = np.argsort(-compute_squared_distances(x.T, x.mean(axis=0)), kind="stable")
    ways = [
        f(x, k, gamma, seeds, silent)
        for f in (module.form_variable_groups, module.grow_groups_by_tree)
    ]
    assert (ways[0] == ways[1]).all()
    assert (ways[0] < 0).sum() < k
    sizes = group_sizes(ways[0][ways[0] >= 0]) if n >= k else np.array([k])
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


def test_clusters_of_different_sizes_are_found():
    rng = np.random.default_rng(1)
    sizes = (3, 5, 4, 3)
    x = np.concatenate([rng.normal(10 * i, 0.1, (s, 2)) for i, s in enumerate(sizes)])
    labels = VMdav(k=3, gamma=1.1).groups(x, RNG, silent)
    assert len(set(zip(labels, np.repeat(range(4), sizes), strict=True))) == 4


@pytest.mark.parametrize("n", [6, 7, 8])
def test_leftovers_join_the_nearest_mean(n):
    x = np.r_[0.0, 0.1, 0.2, 9.0, 9.1, 9.2, 8.0, 7.9][:n, None]
    labels = VMdav(k=3, gamma=0.01).groups(x, RNG, silent)
    assert (labels[:3] == labels[0]).all()
    assert (labels[3:] == labels[3]).all()
