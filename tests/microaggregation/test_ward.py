"""k-Ward: the same groups as joining the nearest pair again and again; sizes; refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microaggregation.casc import as_groups, casc, quiet
from tacit.records.microaggregation.grouping.loss import group_sizes, loss
from tacit.records.microaggregation.ward_groups import WardGroups

RNG = np.random.default_rng(0)


def groups(x, k):
    return WardGroups(k=k).groups(x, RNG, quiet)


def naive(x, records, k):
    """Join the pair of least cost, never two of k, until all have k; then the large ones again."""
    if len(records) < 2 * k:
        return [tuple(sorted(records))]
    order = sorted(records, key=lambda v: (x[v].mean(), v))
    parts = [order[:k], order[-k:], *[[v] for v in order[k:-k]]]
    while min(map(len, parts)) < k:
        _, a, b = min(
            (
                len(parts[i])
                * len(parts[j])
                / (len(parts[i]) + len(parts[j]))
                * ((x[parts[i]].mean(axis=0) - x[parts[j]].mean(axis=0)) ** 2).sum(),
                i,
                j,
            )
            for i in range(len(parts))
            for j in range(i)
            if len(parts[i]) < k or len(parts[j]) < k
        )
        joined = parts[a] + parts[b]
        parts = [p for i, p in enumerate(parts) if i not in (a, b)] + [joined]
    return [group for part in parts for group in naive(x, part, k)]


@given(st.integers(2, 24), st.integers(2, 4), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_as_defined(n, k, seed):
    x = np.random.default_rng(seed).normal(size=(n, 2))
    assert as_groups(groups(x, k)) == set(naive(x, list(range(n)), k))


@pytest.mark.parametrize("name", ["census", "tarragona"])
@pytest.mark.parametrize("k", [2, 3, 5, 10])
def test_sizes_on_casc_files(name, k):
    sizes = group_sizes(groups(casc(name), k))
    assert sizes.min() >= k
    assert sizes.max() < 2 * k


@given(st.integers(2, 60), st.integers(2, 5), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_sizes_with_ties(n, k, seed):
    x = np.random.default_rng(seed).integers(0, 3, (n, 2)).astype(float)
    sizes = group_sizes(groups(x, k))
    assert sizes.min() >= min(n, k)
    assert sizes.max() < 2 * k


def test_labels_are_numbered_without_gaps():
    labels = groups(casc("tarragona"), 3)
    assert set(labels) == set(range(labels.max() + 1))


def test_loss_is_kept():
    assert loss(casc("census"), groups(casc("census"), 3)).percent == pytest.approx(
        6.4028, abs=1e-4
    )
    assert loss(casc("tarragona"), groups(casc("tarragona"), 3)).percent == pytest.approx(
        19.1584, abs=1e-4
    )
