"""How far one record moves each query: the bound against brute force, and the fast influence against it."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.graphics import jackknife, kde

whole = st.integers(-20, 20).map(float)
GRID = np.linspace(-25.0, 25.0, 41)


def without(x, i):
    return np.delete(x, i, axis=0)


@given(st.lists(whole, min_size=3, max_size=10), st.floats(0.5, 8.0))
@settings(max_examples=60, deadline=None)
def test_the_fast_influence_is_that_of_leaving_each_record_out(values, least):
    x = np.array(values)
    for bandwidth in (None, 2.0):
        fast = jackknife.curve_influence(x, GRID, bandwidth=bandwidth, beta=2.0, least=least)

        def curve(some, bandwidth=bandwidth):
            h = kde.local_bandwidths(some, 2.0, least) if bandwidth is None else bandwidth
            return kde.kernel_sums(some, GRID, h)

        slow = [np.linalg.norm(curve(x) - curve(without(x, i))) for i in range(len(x))]
        assert fast == pytest.approx(slow, abs=1e-12)
        affected = kde.AFFECTED[1] if bandwidth is None else 0
        h = least if bandwidth is None else bandwidth
        assert fast.max() <= kde.curve_bound([GRID[1] - GRID[0]], [h], affected) * (1 + 1e-12)


@given(
    st.lists(st.tuples(whole, whole), min_size=3, max_size=14),
    st.integers(0, 6),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_no_record_moves_a_map_further_than_its_bound(values, trim, local):
    x = np.array(values)
    grids, least = [np.linspace(-22, 22, 12), np.linspace(-22, 22, 9)], [3.0, 2.0]

    def sums(some):
        classes = None
        if local:
            scaled = some / np.array(least)
            classes = kde.round_up_to_class(4.0 * kde.nearest_distances(scaled))
        return kde.lattice_sums(some, grids, least, classes=classes, trim=trim)

    bound = kde.curve_bound([4.0, 5.5], least, kde.AFFECTED[2] if local else 0)
    base = sums(x)
    for i in range(len(x)):
        assert np.linalg.norm(base - sums(without(x, i))) <= bound * (1 + 1e-9)


@given(st.lists(st.tuples(whole, whole), min_size=2, max_size=25), st.booleans())
@settings(max_examples=100, deadline=None)
def test_one_record_decides_few_bandwidths_even_with_ties(values, line):
    x = np.array(values)[:, :1] if line else np.array(values)
    before = kde.nearest_distances(x)
    brute = np.array(
        [min(np.linalg.norm(x[i] - x[j]) for j in range(len(x)) if j != i) for i in range(len(x))]
    )
    assert before == pytest.approx(brute, abs=1e-12)
    for i in range(len(x)):
        after = kde.nearest_distances(without(x, i))
        changed = (~np.isclose(after, without(before, i))).sum()
        assert changed <= kde.AFFECTED[x.shape[1]]


@given(st.floats(0.05, 10), st.floats(0.3, 5), st.floats(-3, 3), st.integers(2, 60))
@settings(max_examples=100, deadline=None)
def test_the_norm_of_a_kernel_is_largest_on_a_point(step, h, place, points):
    grid = np.arange(points) * step
    own = kde.kernel_sums(np.array([place]), grid, h)
    assert np.linalg.norm(own) <= kde.curve_bound([step], [h]) * (1 + 1e-12)
    # And smaller the wider the kernel is.
    assert kde.curve_bound([step], [h * 1.3]) <= kde.curve_bound([step], [h])


def test_rounded_records_give_nearly_the_definition():
    rng = np.random.default_rng(2)
    x = rng.normal(0, 5, 300)
    exact = kde.kernel_sums(x, GRID, 2.0)
    found = kde.lattice_sums(x[:, None], [GRID], [2.0])
    assert found == pytest.approx(exact, abs=0.01 * exact.max())
    rounded = GRID[0] + np.rint((x - GRID[0]) * 8) / 8
    assert found == pytest.approx(kde.kernel_sums(rounded, GRID, 2.0), rel=1e-9)
    for trim in (1, 4):
        some = kde.lattice_sums(x[:, None], [GRID], [2.0], trim=trim)
        assert some == pytest.approx(kde.kernel_sums(rounded, GRID, 2.0, trim), abs=1e-9)
    weights = rng.uniform(0, 3, 300)
    heavy = kde.lattice_sums(x[:, None], [GRID], [2.0], weights=weights)
    each = np.stack(
        [w * kde.kernel_sums(v[None], GRID, 2.0) for v, w in zip(rounded, weights, strict=True)]
    )
    assert heavy == pytest.approx(each.sum(axis=0), rel=1e-9)
    least = kde.lattice_sums(x[:, None], [GRID], [2.0], weights=weights, trim=2)
    assert least == pytest.approx(
        each.sum(axis=0) - np.sort(each, axis=0)[-2:].sum(axis=0), abs=1e-9
    )


def test_maps_agree_with_the_definition():
    rng = np.random.default_rng(3)
    x = rng.normal(0, 5, (200, 2))
    grids, least = [np.linspace(-10, 10, 15), np.linspace(-12, 12, 11)], [2.0, 3.0]
    scale = np.maximum(3.0 * kde.nearest_distances(x / least), 1.0)
    classes = kde.round_up_to_class(scale)
    up = 2.0 ** (classes / kde.CLASSES)
    assert (up >= scale * (1 - 1e-9)).all()
    assert (up <= scale * 2 ** (1 / kde.CLASSES) * (1 + 1e-9)).all()
    for trim in (0, 6):
        exact = kernel_sums_2d(x, grids, least, up, trim)
        found = kde.lattice_sums(x, grids, least, classes=classes, trim=trim)
        assert found == pytest.approx(exact, abs=0.02 * exact.max())


def test_influence_of_any_statistic():
    x = np.array([1.0, 2.0, 3.0, 4.0, 10.0])
    assert jackknife.influence(x, np.mean) == pytest.approx(4.0 - 2.5)
    assert jackknife.influence(x, np.median) == pytest.approx(0.5)
    assert jackknife.influence(x, np.mean, replacements=[20.0]) == pytest.approx(19 / 5)
    counts = jackknife.influence(x, lambda v: np.histogram(v, [0, 5, 20])[0])
    assert counts == 1.0
    two = jackknife.influence(x, lambda v: np.histogram(v, [0, 5, 20])[0], replacements=[7.0])
    assert two == pytest.approx(math.sqrt(2))
    band = jackknife.publish(4.0, 1.5, seed=1)
    assert band.interval[1] - band.interval[0] == pytest.approx(6.0)
    low, high = jackknife.publish(4.0, 1.5, form="interval", seed=1)
    assert low <= 4.0 <= high
    assert high - low == pytest.approx(6.0)


def kernel_sums_2d(x, grids, bandwidth, scale, trim=0):
    """Return the sums of product kernels with bandwidths (h_1 s_i, h_2 s_i), at grid points in rows and columns."""
    one, two = (
        np.exp(-(((g[:, None] - x[None, :, j]) / (h * scale)) ** 2) / 2) / (h * scale * kde.ROOT)
        for j, (g, h) in enumerate(zip(grids, bandwidth, strict=True))
    )
    if not trim:
        return one @ two.T
    return np.stack([kde.less_the_largest(row[None, :] * two, trim) for row in one])
