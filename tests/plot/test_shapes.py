"""The shapes that measures draw with: heat maps, lines, panels, intervals, histograms."""

from pathlib import Path

import numpy as np
import pytest

from tacit.plot import families, heat, lines, paired
from tacit.plot.heat import Square

SOURCE = Path(families.__file__).parents[1]
PAIRS = [Square("a", "b", 0.2, "0.20"), Square("b", "b", 0.9, "0.90")]
ORANGES = {"scheme": "oranges", "domain": [0, 1]}
POINTS = [("x", 1, 0.2), ("x", 2, 0.4), ("all", 1, 0.1), ("all", 2, 0.3)]

CHARTS = {
    "heat": heat.heat_map(PAIRS, title="Heat", scale=ORANGES),
    "empty heat": heat.heat_map(
        [], title="Heat", scale=ORANGES, rows=["a"], columns=["b"], ground=True
    ),
    "framed heat": heat.heat_map(PAIRS, title="Heat", scale=ORANGES, framed=[("a", "b")]),
    "shares": heat.share_map(
        [("known", "who", 0.2), ("known", "interval", 0.0004)],
        ["who", "interval"],
        title="Shares",
        subtitle="",
        x="attacker",
        y="known",
        apart="interval",
    ),
    "changes": heat.change_map(
        ["a", "b"], [("b", "a", -0.25)], title="Change", subtitle="new - old"
    ),
    "lines": lines.lines(
        POINTS, title="Lines", x="width", y="share", bold="all", y_axis=lines.SHARES
    ),
    "many lines": lines.lines(
        ((f"s{i}", x, i * x) for i in range(12) for x in (0, 1)), title="Lines", x="x", y="y"
    ),
    "steps": lines.lines(POINTS, title="Steps", x="x", y="y", steps=True, dashed=True, marked=True),
    "panels": lines.panels(POINTS, title="Panels", subtitle="", x="x", y="y", alt="Two panels."),
    "bars in panels": lines.panels(
        POINTS, title="Panels", subtitle="", x="x", y="y", alt="Two panels.", ordinal=True
    ),
    "extrapolation": lines.extrapolation(
        [("b", 0.0, 1.0, "simulated"), ("b", -1.0, 1.2, "extrapolated")],
        title="Corrected",
        subtitle="",
        x="noise",
        alt="One estimate.",
    ),
    "intervals": lines.intervals(
        [("age", "original", -2.0, 0.0, 2.0), ("age", "masked", 1.0, 1.5, 2.0)], title="Fit", x="se"
    ),
    "histogram": lines.histogram(
        {"cells": [1, 5]},
        [0, 1, 2],
        title="Hist",
        x="x",
        y="cells",
        alt="Bars.",
        mark=(1.5, "here"),
    ),
    "two histograms": lines.histogram(
        {"a": [0.5, 0.5], "b": [1, 0]},
        [0, 0.5, 1],
        title="Hist",
        x="x",
        y="share",
        alt="Bars.",
        mark=(0.5, ""),
        shares=True,
    ),
    "grouped": families.grouped_bars(
        [("a", "agrees", 2.0), ("a", "disagrees", -9.0)], title="Weights", y="bits"
    ),
    "columns": families.columns([("1", 12, True), ("2", 0, False)], title="Records", x="size"),
    "fitted": paired.draw_fitted_points(
        np.arange(5.0),
        np.arange(5.0) + 1,
        np.array([False, True, False, False, True]),
        line=(1.0, 1.0),
        names=("old", "new"),
        kinds=("safe", "unsafe"),
        title="Fit",
        subtitle="",
        alt="Five points.",
    ),
}


@pytest.mark.parametrize("name", CHARTS)
def test_drawn_and_described(name):
    chart = CHARTS[name]
    assert chart.svg().startswith("<svg")
    assert chart.alt.endswith(".")


def test_alternative_texts_hold_the_numbers():
    assert CHARTS["heat"].alt == "Heat. a, b: 0.20; b, b: 0.90."
    assert "known, interval: <0.1%" in CHARTS["shares"].alt
    assert "The largest is -0.250, between b and a" in CHARTS["changes"].alt
    assert "age, masked 1.50" in CHARTS["intervals"].alt
    assert "a agrees 2; a disagrees -9" in CHARTS["grouped"].alt
    assert CHARTS["columns"].alt == "Records. 1: 12 records."


def test_many_lines_are_grey_and_without_legend():
    colour = CHARTS["many lines"].spec["layer"][0]["encoding"]["color"]
    assert colour["legend"] is None
    assert len(set(colour["scale"]["range"])) == 1


def test_counting_takes_every_finite_value():
    counts, edges = lines.count_bins(np.array([1.0, 2.0, np.inf, 3.0]), 2)
    assert counts.sum() == 3
    assert edges.tolist() == [1.0, 2.0, 3.0]


def test_charts_are_built_in_plot_alone():
    elsewhere = [
        str(f.relative_to(SOURCE))
        for f in SOURCE.rglob("*.py")
        if "plot" not in f.relative_to(SOURCE).parts
        and ("Chart(\n" in f.read_text() or '"encoding": {' in f.read_text())
    ]
    assert elsewhere == []
