"""Weighted estimates, their differences, and the combination of imputations."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import InputError
from tacit.stats.estimates import (
    Estimate,
    combine_imputations,
    duncan_utility,
    interval_overlap,
    mean_estimate,
    percent_difference,
    quantile_estimate,
    ratio_estimate,
    sd_estimate,
    standardised_difference,
    total_estimate,
    weighted_quantiles,
)
from tacit.stats.projection import principal

EXPECTED = json.loads(
    (
        Path(__file__).parents[1] / "fixtures/psd25-survey-of-consumer-finances/expected.json"
    ).read_text()
)


@pytest.mark.parametrize("row", EXPECTED["table3"], ids=lambda r: r["item"])
def test_table_3_percentages_follow_from_duncan(row):
    change = row["abs_difference_implied"]
    sign = np.sign(row["original"] - row["distorted"])
    masked = row["original"] - sign * change
    percent = percent_difference(row["original"], masked)
    assert percent == pytest.approx(row["percent_published"], abs=0.011)
    assert duncan_utility(row["original"], masked) == pytest.approx(row["duncan_published"], 1e-6)


#: Its Duncan value is printed ten times too large.
MISPRINTED = "nw_median_20_40"


@pytest.mark.parametrize("row", EXPECTED["table2"], ids=lambda r: r["item"])
def test_table_2_duncan_follows_from_percentages(row):
    masked = row["original"] * (1 - row["percent"] / 100)
    found = duncan_utility(row["original"], masked)
    assert found == pytest.approx(row["duncan_from_percent"], rel=1e-9)
    published = row["duncan_published"]
    if row["item"] == MISPRINTED:
        assert published / found > 10
    elif published > 0.001:
        assert found == pytest.approx(published, rel=0.2)
    else:
        assert found == pytest.approx(published, abs=6e-5)


def test_differences_without_a_scale():
    assert math.isnan(percent_difference(0.0, 1.0))
    assert math.isnan(duncan_utility(2.0, 2.0))
    assert duncan_utility([1.0, 2.0], [1.0, 4.0]) == 0.25
    assert standardised_difference(Estimate(1.0, 0.5), Estimate(2.0, 9.0)) == 2.0
    assert interval_overlap(Estimate(0.0, 1.0), Estimate(0.0, 1.0)) == pytest.approx(1.0)
    assert interval_overlap(Estimate(0.0, 1.0), Estimate(9.0, 1.0)) == 0.0
    # One interval within another of twice the width: (1 + 1/2) / 2.
    assert interval_overlap(Estimate(0.0, 1.0), Estimate(0.0, 2.0)) == pytest.approx(0.75)
    assert math.isnan(interval_overlap(Estimate(0.0, 0.0), Estimate(1.0, 1.0)))


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=30),
    st.lists(st.integers(0, 4), min_size=30, max_size=30),
    st.sampled_from([0.1, 0.25, 0.5, 0.8, 0.9]),
)
@settings(max_examples=60, deadline=None)
def test_quantiles_with_whole_weights_are_those_of_repeated_records(values, weights, share):
    x, w = np.array(values, dtype=float), np.array(weights[: len(values)], dtype=float)
    if w.sum() == 0:
        w[0] = 1.0
    repeated = np.sort(np.repeat(x, w.astype(int)))
    expected = np.quantile(repeated, share, method="averaged_inverted_cdf")
    assert weighted_quantiles(x, w, [share])[0] == pytest.approx(expected)
    assert weighted_quantiles(x, 7.3 * w, [share])[0] == pytest.approx(expected)


def test_standard_errors_are_those_of_repeated_samples():
    rng = np.random.default_rng(0)
    kinds = {
        "mean": mean_estimate,
        "total": total_estimate,
        "sd": sd_estimate,
        "median": lambda x, w: quantile_estimate(x, w, 0.5),
        "ratio": lambda x, w: ratio_estimate(x, np.ones(len(x)) + x**2, w),
    }
    values = {k: [] for k in kinds}
    errors = {k: [] for k in kinds}
    for _ in range(400):
        x, w = rng.gamma(3.0, size=200), rng.uniform(0.5, 2.0, 200)
        for k, of in kinds.items():
            found = of(x, w)
            values[k].append(found.value)
            errors[k].append(found.error)
    for k in kinds:
        assert np.mean(errors[k]) == pytest.approx(np.std(values[k]), rel=0.12), k


def test_nothing_to_estimate():
    none = np.empty(0)
    for of in (mean_estimate, total_estimate, sd_estimate):
        assert math.isnan(of(none, none).value)
    assert math.isnan(ratio_estimate(np.ones(2), np.zeros(2), np.ones(2)).value)


def test_rubins_rules():
    values = [np.array([1.0, 5.0]), np.array([3.0, 5.0])]
    covariances = [np.diag([1.0, 4.0]), np.diag([3.0, 4.0])]
    both = combine_imputations(values, covariances)
    assert both.values.tolist() == [2.0, 5.0]
    assert np.diag(both.between).tolist() == [2.0, 0.0]
    assert np.diag(both.covariance) == pytest.approx([2 + 1.5 * 2, 4.0])
    assert both.freedom[0] == pytest.approx((1 + 2 / 3) ** 2)
    assert math.isinf(both.freedom[1])
    assert both.half_widths()[1] == pytest.approx(1.959964 * 2, rel=1e-5)
    with pytest.raises(InputError, match="at least two files"):
        combine_imputations(values[:1], covariances[:1])


def test_components_are_upright_and_can_be_aligned():
    rng = np.random.default_rng(1)
    sigma = np.cov(rng.normal(size=(50, 4)) @ rng.normal(size=(4, 4)), rowvar=False)
    found = principal(sigma)
    assert (np.diff(found.values) <= 0).all()
    assert found.shares.sum() == pytest.approx(1)
    assert found.loadings @ found.loadings.T == pytest.approx(sigma)
    largest = np.abs(found.vectors).argmax(axis=0)
    assert (found.vectors[largest, range(4)] > 0).all()
    turned = principal(sigma).aligned(found.vectors * [-1, 1, -1, 1])
    assert turned.vectors == pytest.approx(found.vectors * [-1, 1, -1, 1])
