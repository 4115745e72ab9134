"""k-Similar against Figures 33 and 34 of Sweeney's report."""

import pytest

import tacit

KEYS = ["Ethnicity", "Birth", "Sex", "ZIP"]


def clusters(released, rows):
    """Return the classes of equal released tuples by tuple numbers."""
    groups = {}
    for i, row in enumerate(rows(released, KEYS), 1):
        groups.setdefault(tuple(row), []).append(i)
    return sorted(groups.values())


def test_figure_33(fig28, published, rows):
    expected = published("fig33_ksimilar")["expected"]
    released = tacit.KSimilar(k=2, method="greedy").apply(fig28)
    assert rows(released, KEYS) == expected["released_qi"]
    assert clusters(released, rows) == expected["clusters_1based"]
    details = released.history[-1].details
    assert details["total_distance"] == pytest.approx(expected["total_distance"], abs=1e-9)
    assert details["precision"] == pytest.approx(expected["precision"], abs=1e-9)
    for ours, printed in zip(details["trace"], expected["greedy_merge_trace_1based"], strict=True):
        assert (ours["a"], ours["b"]) == (printed["a"], printed["b"])
        assert ours["increase"] == pytest.approx(printed["increase"], abs=1e-9)


@pytest.mark.parametrize("method", ["exact", "local"])
def test_figure_33_is_not_optimal(fig28, published, rows, method):
    expected = published("fig33_ksimilar")["expected"]["exact_optimum"]
    released = tacit.KSimilar(k=2, method=method).apply(fig28)
    details = released.history[-1].details
    assert details["total_distance"] == pytest.approx(expected["total_distance"], abs=1e-9)
    assert details["precision"] == pytest.approx(expected["precision"], abs=1e-9)
    assert clusters(released, rows) in expected["clusterings_1based"]


def test_figure_34_precision(published, fig28):
    assert published("fig34_precision")
    details = tacit.KSimilar(k=2, method="greedy").apply(fig28).history[-1].details
    assert round(details["precision"], 2) == 0.80
    assert details["levels"]["Ethnicity"] == {0: 9, 1: 3}
    assert details["levels"]["ZIP"] == {0: 6, 1: 6}
