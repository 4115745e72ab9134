"""Datafly against Figures 27 to 29 of Sweeney's report."""

import pytest

import tacit
from tacit.records.generalisation.datafly import k_for_level

KEYS = ["Ethnicity", "Birth", "Sex", "ZIP"]


def test_figure_29(fig28, published, rows):
    expected = published("fig29_datafly")["expected"]
    released = tacit.Datafly(k=2, max_drop=1).apply(fig28, seed=1)
    assert rows(released, KEYS) == expected["released_qi"]
    details = released.history[-1].details
    assert details["levels"] == expected["levels"]
    assert details["dropped"] == 1
    for ours, printed in zip(details["trace"], expected["trace"], strict=True):
        assert ours["levels"] == printed["levels"]
        assert ours["distinct"] == printed["distinct"]
        assert ours["left_over"] == len(printed["undersized_tuples"])
    assert tacit.KAnonymity().measure(released).k == 2


def test_max_drop_two_stops_one_step_earlier(fig28, published):
    expected = published("fig29_datafly")["sensitivity"]["maxDrop=2"]
    released = tacit.Datafly(k=2, max_drop=2).apply(fig28, seed=1)
    assert released.history[-1].details["levels"] == expected["levels"]
    assert len(released) == 10


@pytest.mark.parametrize("row", range(9))
def test_figure_27(published, row):
    figure = published("fig27_anonymity_levels")
    entry = figure["expected"][row]
    assert k_for_level(entry["A"], figure["N"]) == entry["k"]
