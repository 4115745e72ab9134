"""Blocks: the split, what they cost, and the estimate of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.numerics.kernels import run_kernels
from tacit.records.microaggregation import mdav as blocking
from tacit.records.microaggregation.grouping import group_sizes, loss
from tacit.records.microaggregation.grouping.mdav_groups import mdav
from tacit.records.microaggregation.mdav import (
    automatic_blocks,
    blocked_mdav,
    kd_blocks,
)


def silent(_message, _share):
    pass


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 200), blocks=st.integers(1, 17), seed=st.integers(0, 99))
def test_blocks_are_a_partition_of_even_sizes(n, blocks, seed):
    x = np.random.default_rng(seed).integers(0, 9, (n, 2)).astype(float)
    blocks = min(blocks, n)
    parts, twins = kd_blocks(x, blocks)
    assert len(parts) == blocks
    assert sorted(np.concatenate(parts).tolist()) == list(range(n))
    sizes = [len(p) for p in parts]
    assert max(sizes) - min(sizes) <= 1 + np.log2(blocks)
    assert all((np.diff(p) > 0).all() for p in parts)
    assert all(i + 1 < blocks for i in twins)


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(6, 400),
    k=st.integers(2, 5),
    blocks=st.integers(1, 9),
    seeds=st.sampled_from([1, 2]),
    seed=st.integers(0, 99),
)
def test_groups_respect_blocks_and_sizes(n, k, blocks, seeds, seed):
    x = np.random.default_rng(seed).normal(size=(n, 3))
    found = blocked_mdav(x, k, blocks, seeds=seeds, tick=silent)
    sizes = group_sizes(found.labels)
    assert n < k or sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert found.blocks <= blocks
    assert found.gap >= 0
    if found.blocks > 1:
        outer = blocking.form_outer_groups(
            x, k, seeds, max(2 * k, int((1 - blocking.OUTER) * n)), silent
        )
        rest = np.flatnonzero(outer < 0)
        assert (found.labels[outer >= 0] == outer[outer >= 0]).all()
        block = np.empty(n, dtype=int)
        for b, part in enumerate(kd_blocks(x[rest], found.blocks)[0]):
            block[rest[part]] = b
        for g in np.unique(found.labels[rest]):
            assert len(set(block[found.labels == g])) == 1


def test_one_block_is_mdav():
    x = np.random.default_rng(0).normal(size=(100, 2))
    found = blocked_mdav(x, 3, 1, tick=silent)
    assert (found.labels == mdav(x, 3, rng=np.random.default_rng(0), tick=silent)).all()
    assert (found.blocks, found.gap) == (1, 0.0)


@pytest.mark.parametrize("kind", ["normal", "lognormal"])
@pytest.mark.parametrize("blocks", [4, 11])
def test_the_estimated_gap_is_about_the_true_one(kind, blocks):
    x = getattr(np.random.default_rng(1), kind)(size=(20_000, 4))
    exact = loss(x, mdav(x, 3, rng=np.random.default_rng(0), tick=silent)).within
    found = blocked_mdav(x, 3, blocks, tick=silent)
    true = loss(x, found.labels).within / exact - 1
    assert 0 < true < 0.1
    assert found.gap == pytest.approx(true, abs=0.02)


def test_blocks_by_size():
    assert automatic_blocks(100_000, 5) == 1
    assert automatic_blocks(1_000_000, 10) == 16
    with run_kernels("plain"):
        assert automatic_blocks(100_000, 5) == 1
