"""Figure 34 of Sweeney's report with the systems themselves."""

import pytest

import tacit
from tacit import compare


def test_figure_34(fig28, published):
    figure = published("fig34_precision")
    systems = {
        "Datafly": tacit.Datafly(k=2, max_drop=1),
        "mu-Argus": tacit.MuArgus(
            k=2, ratings={"Birth": 2, "Sex": 2, "ZIP": 2, "Ethnicity": 1}, recode={"Birth": 2}
        ),
        "k-Similar": tacit.KSimilar(k=2, method="greedy"),
    }
    found = compare(fig28, systems, k=2, seed=1)
    for row in found.rows:
        legacy = row.loss.accountings["legacy"]
        assert legacy == pytest.approx(figure["legacy"][row.name], abs=1e-6)
        assert round(legacy, 2) == figure["published"][row.name]
    # The last column of the figure: yes, no, yes.
    assert [row["k >= 2"] for row in found.table()] == [True, False, True]
