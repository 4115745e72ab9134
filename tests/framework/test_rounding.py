"""Rounding: multiples, unbiasedness, control of totals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InputError
from tacit.tables.compare.formulas import binomial_test
from tacit.tables.rounding.random_rounding import (
    added_variance,
    random_rounding,
    semi_controlled_rounding,
    small_cell_adjustment,
)


def draw(seed=1, shape=(60, 20)):
    return np.random.default_rng(seed).poisson(3, size=shape).astype(float)


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 7), st.integers(0, 1000), st.sampled_from(["table", "rows"]))
def test_semi_controlled_keeps_totals(base, seed, within):
    cells = draw(seed, (7, 9))
    rounded = semi_controlled_rounding(cells, base, np.random.default_rng(seed), within=within)
    assert not np.any(rounded % base)
    assert np.all(np.abs(rounded - cells) < base)
    axis = 1 if within == "rows" else None
    assert np.all(np.abs(rounded.sum(axis=axis) - cells.sum(axis=axis)) < base)
    for s in range(1, base):
        ups = (rounded > cells)[cells % base == s]
        if within == "table":
            assert abs(ups.sum() - len(ups) * s / base) < 1


@pytest.mark.parametrize("method", [random_rounding, semi_controlled_rounding])
def test_rounding_is_unbiased(method):
    cells = np.array([[1.0, 2, 4, 5, 3, 0, 1]])
    rng = np.random.default_rng(3)
    mean = np.mean([method(cells, 3, rng) for _ in range(6000)], axis=0)
    assert mean == pytest.approx(cells, abs=0.1)


def test_binomial_test_accepts_semi_controlled_rounding():
    cells = draw()
    rounded = semi_controlled_rounding(cells, 3, np.random.default_rng(2))
    assert binomial_test(cells, rounded, 3).p_value > 0.5


def test_equal_seeds_round_alike():
    one, two = (semi_controlled_rounding(draw(), 5, np.random.default_rng(8)) for _ in range(2))
    assert np.array_equal(one, two)


@pytest.mark.parametrize("control", ["none", "rows", "table"])
def test_small_cell_adjustment(control):
    cells = draw()
    adjusted = small_cell_adjustment(cells, 3, np.random.default_rng(1), control=control)
    small = cells < 3
    assert set(np.unique(adjusted[small])) <= {0.0, 3.0}
    assert np.array_equal(adjusted[~small], cells[~small])
    if control == "rows":
        assert np.all(np.abs((adjusted - cells).sum(axis=1)) < 3)


def test_added_variance():
    assert added_variance(3) == (0, 2, 2)
    rng = np.random.default_rng(4)
    drawn = random_rounding(np.full((1, 20000), 4.0), 3, rng)
    assert drawn.var() == pytest.approx(2, rel=0.05)


@pytest.mark.parametrize("cells", [[[1.5]], [[-1.0]], [[float("nan")]]])
def test_only_counts_are_rounded(cells):
    with pytest.raises(InputError, match="only counts"):
        random_rounding(cells, 3, np.random.default_rng(1))


def test_refuses_small_bases():
    for action in (
        lambda: random_rounding([[1.0]], 1, np.random.default_rng(1)),
        lambda: added_variance(1),
    ):
        with pytest.raises(InputError, match="at least 2"):
            action()
