"""Sorting by columns and projections: the published groups, block sizes, robustness."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.records.microaggregation.grouping import sorting
from tacit.records.microaggregation.grouping.aggregates import aggregate
from tacit.stats.moments import scale_of
from tacit.stats.projection import first_component, pursue_directions

FIXTURES = Path(__file__).parents[1] / "fixtures"
SIX = json.loads((FIXTURES / "psd29-sdc-in-r" / "microaggregation_methods.json").read_text())
TWO = json.loads(
    (FIXTURES / "psd10-method-combinations" / "projection_microaggregation.json").read_text()
)
BY_ROW = [
    "group_in_file_order",
    "by_first_column",
    "zscores",
    "pca",
    "robust_pca",
    "projection_pursuit",
]


def rng():
    return np.random.default_rng(1)


def by_first_column(x, k, **_):
    return sorting.simple_sorted(x[:, :1], k)


def method(name):
    return by_first_column if name == "by_first_column" else getattr(sorting, name)


def groups(labels):
    return sorted(np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1))


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("simple", sorting.group_in_file_order),
        ("single", by_first_column),
        ("pca", sorting.pca),
        ("pppca", sorting.projection_pursuit),
    ],
)
def test_twelve_records_six_ways(name, function):
    x = np.array(SIX["input"]["X"])
    labels = function(scale_of(x, ddof=1).there(x), 3, rng=rng())
    masked = aggregate(x, labels, "mean")[labels]
    assert masked == pytest.approx(np.array(SIX["expected"][name]["masked"]), abs=1e-6)


def test_individual_ranking_of_twelve_records():
    x = np.array(SIX["input"]["X"])
    masked = np.empty_like(x)
    for j in range(3):
        labels = sorting.simple_sorted(x[:, [j]], 3)
        masked[:, j] = aggregate(x[:, [j]], labels, "mean")[labels, 0]
    assert masked == pytest.approx(np.array(SIX["expected"]["onedims"]["masked"]), abs=1e-6)


def test_directions_of_twelve_records():
    x = np.array(SIX["input"]["X"])
    z = scale_of(x, ddof=1).there(x)
    assert first_component(np.cov(z.T)) == pytest.approx(SIX["conventions"]["pca_first_loading"])
    assert pursue_directions(z, rng())[0][0] == pytest.approx(
        SIX["conventions"]["pppca_first_direction"]
    )


def test_projections_of_the_combinations_paper():
    x, expected = np.array(TWO["X"]), TWO["expected"]
    z = scale_of(x).there(x)
    by_zscores, by_component = sorting.zscores(x, 3), sorting.pca(z, 3)
    assert groups(by_zscores) == sorted(expected["zscore_groups"])
    assert groups(by_component) == sorted(expected["pc_groups"])
    masked = aggregate(x, by_zscores, "mean")[by_zscores]
    assert masked == pytest.approx(np.array(expected["X1_zscore"]), abs=1e-9)
    # What microaggregation takes from the covariance is the covariance within groups.
    assert np.cov(masked.T, ddof=0) == pytest.approx(np.array(expected["cov_masked_divN"]))
    within = np.cov((x - masked).T, ddof=0)
    assert within == pytest.approx(np.array(expected["within_cov_divN"]))
    assert np.trace(within) == pytest.approx(expected["variance_decrease_total"])


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 60), st.integers(2, 7), st.integers(0, 10**6))
def test_blocks_are_consecutive_and_the_last_takes_the_remainder(n, k, seed):
    order = np.random.default_rng(seed).permutation(n)
    labels = sorting.blocks(order, k)
    sizes = np.bincount(labels)
    assert (np.diff(labels[order]) >= 0).all()
    assert sizes[:-1].tolist() == [k] * (len(sizes) - 1)
    assert sizes[-1] == (n if n < 2 * k else k + n % k)


@pytest.mark.parametrize("name", BY_ROW)
def test_ties_stay_in_record_order(name):
    x = np.repeat(np.arange(12.0), 3)[:, None] * [1.0, 2.0]
    labels = method(name)(x + 0.0, 3, rng=rng())
    assert groups(labels) == [[3 * g, 3 * g + 1, 3 * g + 2] for g in range(12)]


def test_single_sorts_by_the_column_named():
    x = rng().normal(size=(30, 3))
    assert sorting.simple_sorted(x[:, [2]], 3).tolist() == sorting.by_score(x[:, 2], 3).tolist()


@pytest.mark.parametrize("covariance", ["mcd", "mve", "ogk"])
def test_robust_components_are_not_turned_by_outliers(covariance):
    x = rng().normal(size=(300, 3)) * [5.0, 1.0, 1.0]
    x[:45] = rng().normal((0.0, 300.0, 0.0), 1.0, size=(45, 3))
    clean = x[45:]

    def agreement(labels):
        score = labels[45:].astype(float)
        return abs(np.corrcoef(np.argsort(np.argsort(clean[:, 0])), score)[0, 1])

    assert agreement(sorting.robust_pca(x, 3, covariance=covariance, rng=rng())) > 0.9
    assert agreement(sorting.pca(x, 3)) < 0.3


def test_few_records_are_sorted_by_pursuit():
    x = rng().normal(size=(6, 4))
    expected = sorting.projection_pursuit(x, 2, rng=rng())
    assert sorting.robust_pca(x, 2, rng=rng()).tolist() == expected.tolist()
    flat = np.column_stack([x[:, 0], np.zeros(6)])
    assert sorting.robust_pca(flat, 2, rng=rng()).tolist() == sorting.pca(flat, 2).tolist()


def test_large_files_are_sampled(monkeypatch):
    x = rng().normal(size=(3000, 3)) * [9.0, 1.0, 1.0]
    monkeypatch.setattr(sorting, "ROBUST_RECORDS", 500)
    labels = sorting.robust_pca(x, 3, rng=rng())
    assert np.corrcoef(labels, x[:, 0])[0, 1] > 0.95


def test_records_all_alike_stay_in_file_order():
    for name in BY_ROW:
        labels = method(name)(np.ones((7, 2)), 3, rng=rng())
        assert labels.tolist() == [0, 0, 0, 1, 1, 1, 1]
