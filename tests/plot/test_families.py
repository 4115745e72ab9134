"""Charts: what they say in words, and that they can be drawn."""

import itertools

import pytest

from tacit.plot import families, parts
from tacit.plot.chart import Chart

SIZES = {1: 40, 2: 5, 7: 3, 60: 2, 1500: 1}


@pytest.mark.parametrize("k", [None, 1, 2, 3, 5, 7, 10, 1000, 5000])
def test_bins_cover_every_size_once(k):
    bins = families.bins_for(k)
    assert bins[0][1] == 1
    assert bins[-1][2] is None
    assert all(high + 1 == low for (_, _, high), (_, low, _) in itertools.pairwise(bins))
    assert k is None or k in [low for _, low, _ in bins]
    rows = families.size_bins(SIZES, k)
    assert sum(classes for _, classes, _ in rows) == sum(SIZES.values())
    assert sum(records for _, _, records in rows) == sum(s * n for s, n in SIZES.items())


CHARTS = {
    "bars": families.bars([("a", 1.0), ("b <b>", 0.25)], title="Bars", y="value"),
    "nothing": families.bars([], title="Bars", y="value"),
    "negative": families.bars([("a", -1.0), ("b", float("nan"))], title="Bars", y="value"),
    "before and after": families.before_after([("risk", 0.9, 0.0)], title="Risk", y="share"),
    "class sizes": families.class_sizes({s: s * n for s, n in SIZES.items()}, k=5),
    "no classes": families.class_sizes({}, k=5),
    "classes before and after": families.class_sizes_before_after(SIZES, {5: 20}, k=5),
    "classes without k": families.class_sizes_before_after(SIZES, {}),
    "levels": families.levels([("birth", 4, 5, "10 years"), ("sex", 0, 1, "as collected")]),
    "changes": families.column_changes([("birth", 90, 90), ("sex", 0, 90), ("job", 45, 90)]),
}


@pytest.mark.parametrize("name", CHARTS)
def test_drawn_and_described(name):
    chart = CHARTS[name]
    assert chart.svg().startswith("<svg")
    assert chart.alt.endswith(".")
    assert len(chart.alt) > 10


def test_alternative_texts_hold_the_numbers():
    assert "size 1: 40 records" in CHARTS["class sizes"].alt
    assert "size 5–9, after: 100 records" in CHARTS["classes before and after"].alt
    assert "birth level 4 of 5: 10 years" in CHARTS["levels"].alt
    assert "birth 90 (100%)" in CHARTS["changes"].alt
    assert "job 45 (50.0%)" in CHARTS["changes"].alt


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [
        (0, 10, "none"),
        (10, 10, "10 (100%)"),
        (1, 10_000, "1 (<0.1%)"),
        (9_999, 10_000, "9,999 (99.9%)"),
        (1, 4, "1 (25.0%)"),
    ],
)
def test_share_never_rounds_to_none_or_all(part, whole, words):
    assert parts.share_text(part, whole) == words


@pytest.mark.parametrize(
    "count",
    [
        (999, "999"),
        (9_999, "9,999"),
        (10_000, "10k"),
        (24_854, "24.9k"),
        (1_250_000, "1.2M"),
        (12_000_000, "12M"),
    ],
)
def test_tick_numbers(count):
    assert parts.tick_number(count[0]) == count[1]


@pytest.mark.parametrize("form", ["svg", "png", "pdf", "html", "json"])
def test_saved_offline(tmp_path, form):
    file = CHARTS["bars"].save(tmp_path / f"chart.{form}")
    assert file.stat().st_size > 100


def test_chart_takes_the_theme():
    assert Chart({"mark": "bar"}, "x").full()["config"]["background"] == "white"
