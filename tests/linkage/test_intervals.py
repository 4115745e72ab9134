"""Intervals around released values."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import FIXTURES
from tacit.records.linkage.intervals import shares_within, widths_in_ranks, widths_in_sd
from tacit.records.linkage.metrics import known_scale


def within_ranks(before, after, percent):
    """By the definition: between the released values w ranks away."""
    out = np.zeros(before.shape, dtype=bool)
    for j in range(before.shape[1]):
        values = np.sort(after[:, j])
        n = len(values)
        w = int(n * percent / 100 + 1e-9)
        for i in range(n):
            low = max(np.searchsorted(values, after[i, j], side="left") - w, 0)
            high = min(np.searchsorted(values, after[i, j], side="right") - 1 + w, n - 1)
            out[i, j] = values[low] <= before[i, j] <= values[high]
    return out


def inside(needed, width):
    return (needed <= width + 1e-9)[:, 0].tolist()


def test_the_derived_example():
    case = json.loads((FIXTURES / "psd29-sdc-in-r" / "il1_and_interval_risk.json").read_text())
    x, y = (np.array(case["input"][k], float) for k in ("X", "X_masked"))
    expected = case["expected"]
    np.testing.assert_allclose(known_scale(y).spread, expected["sd_masked_n-1"])
    np.testing.assert_allclose(known_scale(x).spread, expected["sd_original_n-1"])
    for name, share in expected["interval_risk_sd"].items():
        needed = widths_in_sd(x, y, known_scale(y).spread)
        assert shares_within(needed, float(name[2:]))[0] == share


def test_rank_windows_by_hand():
    after = np.array([[10.0], [20.0], [30.0], [40.0], [50.0]])
    before = np.array([[14.0], [31.0], [30.0], [29.0], [61.0]])
    # 20 % of 5 ranks is one: 10 has [10, 20], 20 has [10, 30], ..., 50 has [40, 50].
    assert inside(widths_in_ranks(before, after), 20) == [True, False, True, False, False]
    assert inside(widths_in_ranks(before, after), 19) == [False, False, True, False, False]
    assert inside(widths_in_ranks(before, after), 100) == [True, True, True, True, False]


def test_equal_released_values_share_their_ranks():
    after = np.array([[1.0], [1.0], [1.0], [5.0], [9.0]])
    before = np.array([[5.0], [5.1], [1.0], [1.0], [5.0]])
    assert inside(widths_in_ranks(before, after), 20) == [True, False, True, True, True]


def test_missing_values():
    before = np.array([[1.0, 2.0], [np.nan, 2.0], [np.nan, np.nan], [1.0, 2.0]])
    after = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, np.nan]])
    together, alone = shares_within(widths_in_sd(before, after, np.ones(2)), 1.0)
    assert together == pytest.approx(2 / 3)
    assert alone.tolist() == [1.0, pytest.approx(2 / 3)]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 40))
def test_wider_intervals_hold_more(seed, n):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    y = x + rng.normal(size=x.shape)
    sd, ranks = widths_in_sd(x, y, known_scale(y).spread), widths_in_ranks(x, y)
    for needed, widths in ((sd, (0.01, 0.1, 1.0, 9.0)), (ranks, (1, 5, 20, 60))):
        shares = [shares_within(needed, w)[0] for w in widths]
        assert shares == sorted(shares)
    for percent in (1, 7, 20, 60):
        np.testing.assert_array_equal(ranks <= percent * (1 + 1e-12), within_ranks(x, y, percent))
    assert (sd <= 0.3).tolist() == (np.abs(x - y) <= 0.3 * y.std(axis=0, ddof=1)).tolist()
    assert shares_within(widths_in_sd(x, x, known_scale(x).spread), 0.01)[0] == 1.0
    assert shares_within(widths_in_ranks(x, x), 1)[0] == 1.0


def test_a_constant_release():
    before, after = np.array([[1.0], [2.0], [2.0]]), np.full((3, 1), 2.0)
    assert widths_in_sd(before, after, np.zeros(1))[:, 0].tolist() == [np.inf, 0, 0]
    assert widths_in_ranks(before, after)[:, 0].tolist() == [np.inf, 0, 0]
