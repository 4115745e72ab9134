"""Aggregates of groups: equal to one group at a time, weights as frequencies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tacit.records.microaggregation.grouping.aggregates import aggregate, group_medians, group_modes
from tacit.stats import robust

HOW = ["mean", "median", "trimmed", "one_step", "m_estimate"]

ONE_GROUP = {
    "mean": np.mean,
    "median": np.median,
    "trimmed": lambda v: stats.trim_mean(v, 0.2),
    "one_step": robust.one_step_mean,
    "m_estimate": robust.huber_mean,
}


def case(seed, n=40):
    rng = np.random.default_rng(seed)
    labels = np.unique(rng.integers(0, 6, n), return_inverse=True)[1]
    x = np.round(rng.standard_t(2, size=(n, 3)), 1)
    return rng, x, labels


@pytest.mark.parametrize("how", HOW)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_groups_are_aggregated_as_if_alone(how, seed):
    _, x, labels = case(seed)
    found = aggregate(x, labels, how, trim=0.2)
    for g in range(labels.max() + 1):
        expected = [float(ONE_GROUP[how](column)) for column in x[labels == g].T]
        assert found[g] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("how", ["mean", "median", "one_step", "m_estimate"])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_whole_weights_count_like_repeated_records(how, seed):
    rng, x, labels = case(seed)
    times = rng.integers(1, 4, len(x))
    weighted = aggregate(x, labels, how, weights=times * 0.7)
    repeated = aggregate(np.repeat(x, times, axis=0), np.repeat(labels, times), how)
    assert weighted == pytest.approx(repeated, abs=1e-7)


@pytest.mark.parametrize("how", HOW)
def test_equal_weights_change_nothing_even_in_a_long_file(how):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(20_000, 1))
    labels = np.sort(rng.integers(0, 5_000, 20_000))
    labels = np.unique(labels, return_inverse=True)[1]
    weights = np.full(20_000, 0.1)
    assert aggregate(x, labels, how, weights=weights, trim=0.25) == pytest.approx(
        aggregate(x, labels, how, trim=0.25), abs=1e-9
    )


def test_trimming_cuts_whole_records_by_weight():
    x = np.array([[1.0], [2.0], [3.0], [100.0]])
    labels = np.zeros(4, dtype=int)
    assert aggregate(x, labels, "trimmed", trim=0.25)[0, 0] == 2.5
    assert aggregate(x, labels, "trimmed", trim=0.24)[0, 0] == 26.5
    weights = np.array([1.0, 1.0, 1.0, 7.0])  # the last is too heavy to cut
    assert aggregate(x, labels, "trimmed", weights=weights, trim=0.3)[0, 0] == 100.0


def test_one_step_with_two_equal_of_three_is_their_value():
    x = np.array([[5.0], [5.0], [900.0]])
    for how in ("median", "one_step", "m_estimate"):
        assert aggregate(x, np.zeros(3, dtype=int), how)[0, 0] == 5.0


def test_means_of_large_numbers_keep_their_digits():
    x = 1e12 + np.arange(9.0)[:, None]
    labels = np.repeat([0, 1, 2], 3)
    for how in HOW:
        assert aggregate(x, labels, how)[:, 0].tolist() == [1e12 + 1, 1e12 + 4, 1e12 + 7]


def test_middle_and_most_frequent_categories():
    codes = np.array([0, 2, 3, 1, 1, 4, 0, 5])
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    assert group_medians(codes, labels).tolist() == [2, 1, 0]
    assert group_modes(codes, labels).tolist() == [0, 1, 0]
    heavy = np.array([1, 1, 5, 1, 1, 9, 1, 2.0])
    assert group_medians(codes, labels, heavy).tolist() == [3, 4, 5]
    assert group_modes(codes, labels, heavy).tolist() == [3, 4, 5]


def test_ties_of_categories_are_drawn_at_random():
    codes, labels = np.tile([0, 1], 500), np.repeat(np.arange(500), 2)
    drawn = group_modes(codes, labels, rng=np.random.default_rng(1))
    assert 200 < drawn.sum() < 300
