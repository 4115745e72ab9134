"""Figure 1 of Lebanon et al. (2006) on simulated items: what it shows are theorems for nested rules and dictionaries."""

import numpy as np
import pytest

from studies import dictionary_size


@pytest.mark.parametrize("seed", range(2))
def test_figure_1(seed):
    found = dictionary_size.run(seed=seed)
    rows = found["risk"].rows(named=True)
    risk = {
        form: np.array([r["risk"] for r in rows if r["form"] == form]).reshape(5, 4)
        for form in dictionary_size.FORMS
    }
    for one in risk.values():
        assert (np.diff(one, axis=1) > 0).all()
        assert (np.diff(one, axis=0) <= 0).all()
    assert (risk["multiplicative"] > risk["additive"]).all()
    pairs = found["estimated and true risk"].rows(named=True)
    assert all(p["estimated risk"] >= p["true risk"] for p in pairs)
    # The bound is the looser, the larger the true dictionary is.
    slopes = []
    for true in (0.25, 0.5, 0.75, 1.0):
        of = [p for p in pairs if p["own"] == 0.1 and p["true"] == true and p["form"] == "additive"]
        x = np.array([p["true risk"] for p in of])
        y = np.array([p["estimated risk"] for p in of])
        slopes.append(x @ y / (x @ x))
    assert (np.diff(slopes) > 0).all()


def test_the_two_panels_are_drawn():
    charts = dictionary_size.charts(dictionary_size.run(seed=1))
    assert set(charts) == {"risk", "bound"}
    for chart in charts.values():
        assert chart.svg().startswith("<svg")
