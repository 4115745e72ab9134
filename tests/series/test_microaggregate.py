"""Microaggregated panels and the comparison of distances on them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studies.series_distances import compare_distances
from tacit.errors import Infeasible, InputError
from tacit.series import Distance, Panel, microaggregated, series_groups


def walks(n=60, n_series=2, length=9, seed=1):
    rng = np.random.default_rng(seed)
    return Panel.of(rng.normal(size=(n, n_series, length)).cumsum(axis=2))


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_groups_of_k_and_means_kept(seed, k, pieces):
    original = walks(n=25, seed=seed)
    masked = microaggregated(original, k, pieces=pieces)
    cut = original.pieces(pieces)
    assert masked.lengths.tolist() == cut.lengths.tolist()
    for s in range(cut.n_series):
        x = masked.series(s)
        _, counts = np.unique(x.round(10), axis=0, return_counts=True)
        assert counts.min() >= k
        assert x.mean(axis=0) == pytest.approx(cut.series(s).mean(axis=0), abs=1e-12)


def test_the_mean_is_that_of_the_raw_series_of_the_same_shape():
    shape = np.array([0.0, 1, 3, 2])
    other = np.array([5.0, 1, 0, 4])
    x = np.array([shape, 10 + 2 * shape, other, 50 + other, 3 * shape, 7 + 9 * other])
    labels = series_groups(Panel.of(x), 3)[0]
    assert len({labels[i] for i in (0, 1, 4)}) == 1
    masked = microaggregated(Panel.of(x), 3).series(0)
    assert masked[0] == pytest.approx(x[[0, 1, 4]].mean(axis=0))
    assert masked[2] == pytest.approx(x[[2, 3, 5]].mean(axis=0))


def test_too_few_records():
    with pytest.raises(Infeasible, match="at least 3 records"):
        microaggregated(walks(n=2), 3)


def test_the_comparison_has_the_layout_of_the_paper():
    distances = {"Minkowski 2": Distance(), "STS": Distance("sts")}
    found = compare_distances(walks(), (2, 5), distances, pieces=(1, 3))
    table = found.table()
    assert table.columns == [
        "distance",
        "2 series, k = 2",
        "2 series, k = 5",
        "6 series, k = 2",
        "6 series, k = 5",
    ]
    assert table["distance"].to_list() == ["standard", "Minkowski 2", "STS"]
    rates = found.table("share")
    assert table["2 series, k = 2"].to_numpy() == pytest.approx(
        60 * rates["2 series, k = 2"].to_numpy()
    )
    assert found.plot().svg().startswith("<svg")
    # More pieces, more to link by; larger groups, less.
    by = {(r["distance"], r["series"], r["k"]): r["correct"] for r in found.frame.rows(named=True)}
    assert by["Minkowski 2", 6, 5] >= by["Minkowski 2", 2, 5]
    assert by["STS", 2, 2] >= by["STS", 2, 5]


def test_an_empty_grid_is_refused():
    with pytest.raises(InputError, match="at least one group size"):
        compare_distances(walks(), ())
