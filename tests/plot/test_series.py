"""Charts of series: what they draw and say."""

import json
from pathlib import Path

import numpy as np
import pytest

from tacit.errors import InputError
from tacit.plot import series
from tacit.series import Panel, dtw, normalise

FOLDER = Path(__file__).parents[1] / "fixtures" / "psd18-time-series-reidentification"
FOOD = json.loads((FOLDER / "food_prices.json").read_text())
GOALS = json.loads((FOLDER / "dtw_goals.json").read_text())


def food():
    panel = Panel.of(np.array(list(FOOD["raw"].values()), dtype=float))
    return {
        "raw": panel.values[:, 0],
        "ranged by component": normalise(panel, "component_range").values[:, 0],
        "standardised by series": normalise(panel, "series_standard").values[:, 0],
    }


def figure_2():
    names = [n.replace("_", " ") for n in FOOD["raw"]]
    return series.side_by_side(food(), names=names, times=FOOD["years"], title="Food prices")


def figure_1():
    x, v = GOALS["barcelona_goals"], GOALS["real_madrid_goals"]
    found = dtw(x, v)
    return series.warping_path(
        x, v, found.path, names=("Barcelona", "Real Madrid"), cost=found.cost
    )


def lines():
    rows = [
        {"distance": d, "series": s, "k": k, "share": 1 / (k + s + len(d))}
        for s in (1, 2)
        for k in (2, 3, 6)
        for d in ("standard", "Minkowski 2", "STS")
    ]
    return series.share_lines(rows, records=176)


def many():
    x = np.random.default_rng(0).normal(size=(300, 10)).cumsum(axis=1)
    return series.side_by_side({"raw": x, "halved": x / 2})


CHARTS = {"figure 2": figure_2, "figure 1": figure_1, "lines": lines, "many": many}


@pytest.mark.parametrize("name", CHARTS)
def test_drawn_and_described(name):
    chart = CHARTS[name]()
    assert chart.svg().startswith("<svg")
    assert len(chart.alt) > 40


def test_what_is_said():
    assert "4 series of 9 points" in figure_2().alt
    assert "35 steps, cost 2,013" in figure_1().alt
    assert "Minkowski 2, 1 series, k = 2" in lines().alt


def test_many_series_are_thinned():
    values = many().spec["hconcat"][0]["data"]["values"]
    assert len({r["series"] for r in values}) == series.DRAWN


def test_refusals():
    with pytest.raises(InputError, match="versions of the same series"):
        series.side_by_side({"a": np.ones((2, 3)), "b": np.ones((2, 4))})
    with pytest.raises(InputError, match="one name for each series"):
        series.side_by_side({"a": np.ones((2, 3))}, names=["x"])
